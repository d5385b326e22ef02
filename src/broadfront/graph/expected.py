"""What a caller gives for a graph is one; what is none is told how to become one."""

from __future__ import annotations

from broadfront.errors import GraphError
from broadfront.graph.csr import Graph

MAKERS = {
    "networkx": "bf.from_networkx", "scipy": "bf.from_scipy", "pandas": "bf.from_pandas",
    "polars": "bf.from_polars", "pyarrow": "bf.from_arrow", "builtins": "bf.read",
    "pathlib": "bf.read",
}  # fmt: skip
"""What makes a graph of things, by the package that they come from."""


def expect_graph(given: object) -> None:
    """Refuse what is no graph."""
    if not isinstance(given, Graph):
        kind = type(given)
        maker = MAKERS.get(kind.__module__.partition(".")[0], "bf.from_edges")
        raise GraphError(
            f"expected a Graph, found {kind.__module__}.{kind.__qualname__}: {maker} makes one"
        )
