"""A graph split among devices with separate memories: who owns which vertex, and what each gets."""
