"""What a caller gives for a graph, or for what becomes one, is that; else it is told what to do."""

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


def expect_of(given: object, attribute: str, what: str) -> None:
    """Refuse what is no object of another library, by an attribute that these have."""
    kind = type(given)
    if isinstance(given, type) or not hasattr(given, attribute):
        raise GraphError(f"expected {what}, found {kind.__module__}.{kind.__qualname__}")
