"""Devices that never meet: each with a worklist, messages as they come, and when it is over."""
