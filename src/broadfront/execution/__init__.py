"""Programs, and running them."""
