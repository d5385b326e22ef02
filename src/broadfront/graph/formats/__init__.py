"""One file per format, each with `read` and `write`; `broadfront.graph.read` picks by suffix."""
