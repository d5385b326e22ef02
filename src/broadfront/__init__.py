"""Broadfront: graph analytics on many devices, written in Python, run at native speed."""

from broadfront import atomics, verify
from broadfront.algorithms.betweenness import Betweenness, betweenness
from broadfront.algorithms.bfs import BreadthFirst, bfs
from broadfront.algorithms.components import Components, connected_components
from broadfront.algorithms.pagerank import PageRank, pagerank
from broadfront.algorithms.sssp import ShortestPaths, sssp
from broadfront.algorithms.triangles import Triangles, triangles
from broadfront.errors import (
    BroadfrontError,
    FormatError,
    FunctorError,
    GraphError,
    MissingDependencyError,
    OptionError,
    TimeLimitError,
    VerificationError,
    VertexError,
)
from broadfront.execution.explore import Exploration, explore
from broadfront.execution.program import Phase, Program
from broadfront.execution.run import run
from broadfront.graph.convert import from_networkx, from_scipy
from broadfront.graph.csr import Graph, Origin
from broadfront.graph.edges import from_edges
from broadfront.graph.generate import generate
from broadfront.graph.read import read
from broadfront.graph.tables import from_arrow, from_pandas, from_polars
from broadfront.operators.describe import (
    Advance,
    Compute,
    Field,
    Filter,
    Intersect,
    Levels,
    Once,
    Reduce,
)
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition
from broadfront.partition.split import split

__version__ = "0.1.0"

__all__ = [
    "Advance",
    "Betweenness",
    "BreadthFirst",
    "BroadfrontError",
    "Components",
    "Compute",
    "Exploration",
    "Field",
    "Filter",
    "FormatError",
    "FunctorError",
    "Graph",
    "GraphError",
    "Intersect",
    "Levels",
    "MissingDependencyError",
    "Once",
    "OptionError",
    "Origin",
    "PageRank",
    "Part",
    "Partition",
    "Phase",
    "Program",
    "Reduce",
    "ShortestPaths",
    "TimeLimitError",
    "Triangles",
    "VerificationError",
    "VertexError",
    "atomics",
    "betweenness",
    "bfs",
    "connected_components",
    "explore",
    "from_arrow",
    "from_edges",
    "from_networkx",
    "from_pandas",
    "from_polars",
    "from_scipy",
    "generate",
    "pagerank",
    "read",
    "run",
    "split",
    "sssp",
    "triangles",
    "verify",
]
