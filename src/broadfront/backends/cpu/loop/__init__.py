"""The loop of a program: the sections of its phases, and what goes between, as one call."""
