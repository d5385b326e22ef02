"""Broadfront: graph analytics on many devices, written in Python, run at native speed."""

from broadfront.algorithms.bfs import bfs
from broadfront.errors import (
    BroadfrontError,
    FormatError,
    FunctorError,
    GraphError,
    MissingDependencyError,
    OptionError,
    TimeLimitError,
    VertexError,
)
from broadfront.execution.program import Phase, Program
from broadfront.execution.run import run
from broadfront.graph.convert import from_networkx, from_scipy
from broadfront.graph.csr import Graph, Origin
from broadfront.graph.edges import from_edges
from broadfront.graph.generate import generate
from broadfront.graph.read import read
from broadfront.graph.tables import from_arrow, from_pandas, from_polars
from broadfront.operators.describe import Advance, Compute, Field, Filter, Once, Reduce

__version__ = "0.1.0"

__all__ = [
    "Advance",
    "BroadfrontError",
    "Compute",
    "Field",
    "Filter",
    "FormatError",
    "FunctorError",
    "Graph",
    "GraphError",
    "MissingDependencyError",
    "Once",
    "OptionError",
    "Origin",
    "Phase",
    "Program",
    "Reduce",
    "TimeLimitError",
    "VertexError",
    "bfs",
    "from_arrow",
    "from_edges",
    "from_networkx",
    "from_pandas",
    "from_polars",
    "from_scipy",
    "generate",
    "read",
    "run",
]
