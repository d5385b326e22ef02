"""What happened: the record of a run, and results that tell their story."""
