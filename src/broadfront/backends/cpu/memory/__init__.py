"""Memory of CPU devices: what a program works in, how large, and what a limit leaves."""
