"""Graphs in and out: files, objects, generators; all become one `Graph`."""
