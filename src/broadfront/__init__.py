"""Broadfront: graph analytics on many devices, written in Python, run at native speed.

What is here is loaded when it is first used, the compiler with it; errors are there at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from broadfront.errors import (
    BoundsError,
    BroadfrontError,
    DeadlockError,
    DeviceError,
    DeviceMemoryError,
    FormatError,
    FunctorError,
    GraphError,
    MissingDependencyError,
    OptionError,
    OutOfMemoryError,
    RoutingError,
    TimeLimitError,
    VerificationError,
    VertexError,
)

if TYPE_CHECKING:
    from broadfront import atomics, characterize, graph500, routing, scaling, verify
    from broadfront.algorithms.betweenness import Betweenness, betweenness
    from broadfront.algorithms.bfs import BreadthFirst, bfs
    from broadfront.algorithms.components import Components, connected_components
    from broadfront.algorithms.pagerank import PageRank, pagerank
    from broadfront.algorithms.sssp import ShortestPaths, sssp
    from broadfront.algorithms.triangles import Triangles, triangles
    from broadfront.devices.choose import Device
    from broadfront.devices.profile import MemoryProfile
    from broadfront.draws import random
    from broadfront.execution.asynchronous.settings import Async
    from broadfront.execution.batch import run_each
    from broadfront.execution.explore import Exploration, explore
    from broadfront.execution.options import Options
    from broadfront.execution.program import Phase, Program
    from broadfront.execution.repeat import Repeat
    from broadfront.execution.run import run
    from broadfront.graph.convert import from_networkx, from_scipy
    from broadfront.graph.csr import Graph
    from broadfront.graph.edges import from_edges
    from broadfront.graph.external.convert import convert
    from broadfront.graph.generate import generate
    from broadfront.graph.origin import Origin
    from broadfront.graph.read import read
    from broadfront.graph.tables import from_arrow, from_pandas, from_polars
    from broadfront.models import gas, semiring
    from broadfront.operators.describe import (
        Advance,
        Compute,
        Field,
        Filter,
        Intersect,
        Levels,
        Once,
        Reduce,
        Unite,
    )
    from broadfront.operators.monoid import Monoid
    from broadfront.partition.part import Part
    from broadfront.partition.partition import Partition
    from broadfront.partition.split import split

__version__ = "0.1.0"

__all__ = [
    "Advance",
    "Async",
    "Betweenness",
    "BoundsError",
    "BreadthFirst",
    "BroadfrontError",
    "Components",
    "Compute",
    "DeadlockError",
    "Device",
    "DeviceError",
    "DeviceMemoryError",
    "Exploration",
    "Field",
    "Filter",
    "FormatError",
    "FunctorError",
    "Graph",
    "GraphError",
    "Intersect",
    "Levels",
    "MemoryProfile",
    "MissingDependencyError",
    "Monoid",
    "Once",
    "OptionError",
    "Options",
    "Origin",
    "OutOfMemoryError",
    "PageRank",
    "Part",
    "Partition",
    "Phase",
    "Program",
    "Reduce",
    "Repeat",
    "RoutingError",
    "ShortestPaths",
    "TimeLimitError",
    "Triangles",
    "Unite",
    "VerificationError",
    "VertexError",
    "atomics",
    "betweenness",
    "bfs",
    "characterize",
    "connected_components",
    "convert",
    "explore",
    "from_arrow",
    "from_edges",
    "from_networkx",
    "from_pandas",
    "from_polars",
    "from_scipy",
    "gas",
    "generate",
    "graph500",
    "pagerank",
    "random",
    "read",
    "routing",
    "run",
    "run_each",
    "scaling",
    "semiring",
    "split",
    "sssp",
    "triangles",
    "verify",
]

_HOMES = {
    "algorithms.betweenness": ("Betweenness", "betweenness"),
    "algorithms.bfs": ("BreadthFirst", "bfs"),
    "algorithms.components": ("Components", "connected_components"),
    "algorithms.pagerank": ("PageRank", "pagerank"),
    "algorithms.sssp": ("ShortestPaths", "sssp"),
    "algorithms.triangles": ("Triangles", "triangles"),
    "devices.choose": ("Device",),
    "devices.profile": ("MemoryProfile",),
    "draws": ("random",),
    "execution.asynchronous.settings": ("Async",),
    "execution.batch": ("run_each",),
    "execution.explore": ("Exploration", "explore"),
    "execution.options": ("Options",),
    "execution.program": ("Phase", "Program"),
    "execution.repeat": ("Repeat",),
    "execution.run": ("run",),
    "graph.convert": ("from_networkx", "from_scipy"),
    "graph.csr": ("Graph",),
    "graph.origin": ("Origin",),
    "graph.edges": ("from_edges",),
    "graph.external.convert": ("convert",),
    "graph.generate": ("generate",),
    "graph.read": ("read",),
    "graph.tables": ("from_arrow", "from_pandas", "from_polars"),
    "operators.monoid": ("Monoid",),
    "partition.part": ("Part",),
    "partition.partition": ("Partition",),
    "partition.split": ("split",),
    "operators.describe": (
        "Advance", "Compute", "Field", "Filter", "Intersect", "Levels", "Once", "Reduce",
        "Unite",
    ),
}  # fmt: skip
"""The module of everything above that is loaded on first use."""
_MODULES = {
    "atomics": "atomics", "characterize": "characterize", "gas": "models.gas",
    "graph500": "graph500", "kernel": "kernel", "routing": "routing", "scaling": "scaling",
    "semiring": "models.semiring", "threads": "threads", "verify": "verify",
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # a type checker knows the names, and should say when one is wrong

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"broadfront.{_MODULES[name]}")
        if name not in _HOME:
            raise AttributeError(f"module 'broadfront' has no attribute {name!r}")
        thing = getattr(import_module(f"broadfront.{_HOME[name]}"), name)
        globals()[name] = thing
        return thing


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
