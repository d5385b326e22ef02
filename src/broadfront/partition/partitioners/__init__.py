"""Who owns which vertex: one way to decide per file."""
