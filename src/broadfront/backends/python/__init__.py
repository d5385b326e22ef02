"""The meaning of programs: one operator after the other, one vertex after the other, in Python."""
