"""What the benchmark asks of a library, and in which form it gets its answers.

An adapter is a subclass of `System` with a method per primitive the library offers. A method does
the work and returns a function; calling that turns what the library returned into arrays, and is
not timed. A primitive without a method is not offered, and `lacks` says why.

Graphs are undirected and simple; vertices are positions. The arrays are

==============  ============================================================================
bfs             ``depth``, ``parent`` or both; -1 where unreached, the source is its own
sssp            ``distance``; negative, infinite or beyond 2^62 where unreached
components      ``component``: the same number for the vertices of one component
pagerank        ``rank``, which sum to 1; ``one_before`` if of the last iteration but one
betweenness     ``raw``: the dependency of the given sources on each vertex, added up; or
                ``weighed``: the same, each target counted by depth of vertex over depth of target
triangles       ``total``
==============  ============================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.csr import Graph

PRIMITIVES = ("bfs", "sssp", "components", "pagerank", "betweenness", "triangles")
DAMPING, ITERATIONS = 0.85, 20

Array = NDArray[Any]
Finish = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Question:
    """What is asked besides the graph.

    Attributes
    ----------
    source
        Where bfs and sssp start.
    sources
        Whose paths betweenness counts.
    change
        The L1 change of the last of 20 iterations of PageRank: the tolerance for libraries that
        cannot be told a number of iterations.
    """

    source: int
    sources: tuple[int, ...]
    change: float


class System:
    """A library, told how many threads it may use.

    Attributes
    ----------
    threads
        How many it uses; 1 where it has no use for more.
    notes
        By primitive: what the reader of a time must know.
    lacks
        By primitive: why the library is not asked.
    forms
        By primitive: the name of the graph object it works on, ``plain`` and for sssp ``weighted``
        unless said otherwise.
    """

    parallel: ClassVar[bool] = False
    notes: ClassVar[dict[str, str]] = {}
    lacks: ClassVar[dict[str, str]] = {}
    forms: ClassVar[dict[str, str]] = {}

    def __init__(self, threads: int) -> None:
        self.threads = threads if self.parallel else 1

    def form(self, primitive: str) -> str:
        """Return the name of the form of the graph that a primitive works on."""
        return self.forms.get(primitive, "weighted" if primitive == "sssp" else "plain")

    def offers(self) -> list[str]:
        """Return the primitives there are methods for."""
        return [name for name in PRIMITIVES if hasattr(self, name)]

    def convert(self, graph: Graph, form: str, question: Question) -> Any:
        """Return the library's own graph, its best form for what is asked."""
        raise TypeError(f"{type(self).__name__} does not say how it takes a graph")


def triangles_of(transitivity: float, degrees: Array) -> int:
    """Return the number of triangles by the share of closed pairs of neighbours."""
    wide = degrees.astype(np.int64)
    pairs = int((wide * (wide - 1) // 2).sum())
    return round(transitivity * pairs / 3) if pairs else 0
