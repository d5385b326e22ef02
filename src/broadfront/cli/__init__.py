"""The command line: one file per subcommand, each with `add` (its options) and `run`."""
