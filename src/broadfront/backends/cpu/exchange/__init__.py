"""What crosses between devices: proposals to owners, values to ghosts, and numbers to all."""
