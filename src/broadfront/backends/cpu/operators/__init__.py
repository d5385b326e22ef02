"""Operators on the threads of one CPU device: every file makes one kind of compiled section."""
