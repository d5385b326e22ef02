"""Broadfront: graph analytics on many devices, written in Python, run at native speed."""

from broadfront.errors import (
    BroadfrontError,
    FormatError,
    GraphError,
    MissingDependencyError,
    OptionError,
    VertexError,
)
from broadfront.graph.convert import from_networkx, from_scipy
from broadfront.graph.csr import Graph, Origin
from broadfront.graph.edges import from_edges
from broadfront.graph.generate import generate
from broadfront.graph.read import read
from broadfront.graph.tables import from_arrow, from_pandas, from_polars

__version__ = "0.1.0"

__all__ = [
    "BroadfrontError",
    "FormatError",
    "Graph",
    "GraphError",
    "MissingDependencyError",
    "OptionError",
    "Origin",
    "VertexError",
    "from_arrow",
    "from_edges",
    "from_networkx",
    "from_pandas",
    "from_polars",
    "from_scipy",
    "generate",
    "read",
]
