"""Building graphs larger than memory, on the disk."""
