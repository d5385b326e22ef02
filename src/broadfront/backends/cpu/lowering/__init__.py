"""What each operator is on CPU devices: its section, its memory, and the messages it causes."""
