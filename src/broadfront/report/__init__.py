"""What happened: the record of a run, and results with a summary."""
