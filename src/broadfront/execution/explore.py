"""Exploring by hand: one operator at a time from Python, with a look at the frontier in between.

    search = explore(graph, {"depth": Field(np.int32, fill=99, combine="min")})
    search["depth"][0] = 0
    frontier = search.advance([0], one_hop_further, into="depth")

Each call compiles to the same kernels as a program of that one operator; what a program fuses into
one loop is done step by step here, which is slower and easier to watch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.execution.program import Phase, Program
from broadfront.execution.run import run
from broadfront.given import table
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.operators.describe import Advance, Compute, Field, Filter, Functor, Operator
from broadfront.report.record import Record

Array = NDArray[Any]


class Exploration:
    """A graph, fields on it, and operators to apply by hand.

    Attributes
    ----------
    record
        What the last operator did.
    """

    def __init__(self, graph: Graph, fields: Mapping[str, Field], threads: int | None) -> None:
        self.graph = graph
        self.record: Record | None = None
        self._declared = dict(fields)
        self._threads = threads
        self._programs: dict[Operator, Program] = {}
        vertex = graph.targets.dtype
        self._arrays = {name: _filled(field.on(vertex), graph) for name, field in fields.items()}

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def advance(
        self, frontier: ArrayLike, functor: Functor, into: str, **options: Any
    ) -> NDArray[np.int64]:
        """Go along the edges of `frontier` once; return who improved. Options as `Advance`."""
        return self._apply(Advance(functor, into, **options), frontier)

    def filter(self, frontier: ArrayLike, functor: Functor) -> NDArray[np.int64]:
        """Return the vertices of `frontier` for which the functor is true."""
        return self._apply(Filter(functor), frontier)

    def compute(self, functor: Functor, frontier: ArrayLike | None = None) -> None:
        """Call the functor for every vertex of the graph, or of `frontier`."""
        over = "vertices" if frontier is None else "frontier"
        self._apply(Compute(functor, over=over), () if frontier is None else frontier)

    def _apply(self, operator: Operator, frontier: ArrayLike) -> NDArray[np.int64]:
        program = self._programs.get(operator)
        if program is None:
            phase = Phase([operator], limit=1)
            program = self._programs[operator] = Program(self._declared, phases=[phase])
        answer = run(
            program, self.graph, frontier=frontier, init=self._arrays, threads=self._threads
        )
        self.record = answer.record
        for name, array in self._arrays.items():
            array[:] = answer[name]
        return answer.frontier


def _filled(field: Field, graph: Graph) -> Array:
    length = field.places(graph.num_vertices, graph.num_arcs)
    return field.answered(np.full(length, field.filling, field.storage))


def explore(
    graph: Graph, fields: Mapping[str, Field], *, threads: int | None = None
) -> Exploration:
    """Return an exploration of `graph` with these fields, all filled.

    Examples
    --------
    >>> import numpy as np
    >>> import broadfront as bf
    >>> def one_hop_further(source, neighbor, edge, state):
    ...     return state.depth[source] + 1
    >>> graph = bf.generate("path:5")
    >>> search = bf.explore(graph, {"depth": bf.Field(np.int32, fill=99, combine="min")})
    >>> search["depth"][2] = 0
    >>> search.advance([2], one_hop_further, into="depth")
    array([1, 3])
    >>> search["depth"]
    array([99,  1,  0,  1, 99], dtype=int32)
    """
    expect_graph(graph)
    table(fields, "fields")
    return Exploration(graph, fields, threads)
