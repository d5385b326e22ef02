"""Where programs run: teams of threads and the memory they keep."""
