"""Other front doors: models that lower to the operators, and run as any program does."""
