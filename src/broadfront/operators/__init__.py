"""Operators on frontiers: what they are (`describe`), and how each kind of device runs them."""
