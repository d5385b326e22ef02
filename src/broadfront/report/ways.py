"""How operators share their work: a bit of the record for each way that ran in an iteration."""

WAYS = (
    "dense", "by_vertex", "by_degree", "by_edges", "pull", "buckets", "levels", "intersect",
    "unite",
)  # fmt: skip
DENSE, BY_VERTEX, BY_DEGREE, BY_EDGES, PULL, BUCKETS, LEVELS, INTERSECT, UNITE = (
    1 << place for place in range(len(WAYS))
)
PUSHING = BY_VERTEX | BY_DEGREE | BY_EDGES | BUCKETS
