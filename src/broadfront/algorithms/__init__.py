"""Primitives, one problem per file, each written with what a user can use too."""
