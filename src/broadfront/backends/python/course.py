"""Where a run in Python is: its arrays, what functors see of them, and its frontier.

An error in a functor leaves with a note that says at which vertex or edge it happened.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.python.numbers import as_python
from broadfront.backends.python.plain import plain
from broadfront.backends.python.state import Column, State
from broadfront.clock import check_time
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Functor
from broadfront.operators.monoid import Monoid

Array = NDArray[Any]


@dataclass
class Course:
    """Where a run is."""

    program: Program
    graph: Graph
    arrays: Mapping[str, Array]
    state: State
    backwards: State
    """The same with weights and columns along incoming arcs."""
    frontier: list[int]
    as_they_come: bool = False
    """Whether proposals count as they come where a program promises that this is the same."""
    checked: bool = False
    """Whether monoids are tried out on the elements that meet."""
    edges: int = 0
    """Edges traversed in this iteration."""
    levels: dict[int, list[int]] = field(default_factory=dict)
    _plain: dict[Any, Any] = field(default_factory=dict)

    def count(self, iteration: int) -> None:
        """Have functors see the number of the iteration, and how large the frontier is."""
        for state in (self.state, self.backwards):
            state.__dict__.update(iteration=iteration, frontier_size=len(self.frontier))

    def out_edges(self, vertex: int) -> range:
        """Return the places of the arcs that leave a vertex."""
        return _row(self.graph, vertex)

    def in_edges(self, vertex: int) -> range:
        """Return the places of the arcs that come to a vertex, among incoming arcs."""
        return _row(self.graph.transpose, vertex)

    def at_vertex(self, functor: Functor, vertex: int, *more: Any) -> Any:
        """Call a functor of a vertex."""
        return self._called(functor, (vertex, *more, self.state), [vertex])

    def along(self, functor: Functor, one: int, other: int, edge: int) -> Any:
        """Call a functor of an outgoing arc and its ends."""
        self.edges += 1
        return self._called(functor, (one, other, edge, self.state), [one, other])

    def back_along(self, functor: Functor, one: int, other: int, edge: int) -> Any:
        """Call a functor of an incoming arc and its ends."""
        self.edges += 1
        return self._called(functor, (one, other, edge, self.backwards), [one, other])

    def back_at_vertex(self, functor: Functor, vertex: int) -> Any:
        """Call a functor of a vertex, in which weights belong to incoming arcs."""
        return self._called(functor, (vertex, self.backwards), [vertex])

    def once(self, functor: Functor) -> Any:
        """Call a functor of the state alone."""
        return self._called(functor, (self.state,), [])

    def meeting(self, monoid: Monoid, one: Any, other: Any) -> Any:
        """Return two elements combined; try the laws of the monoid out if all is checked."""
        if self.checked:
            monoid.check((one, other))
        return self._called(monoid.function, (one, other), [])

    def _called(self, functor: Functor, arguments: Sequence[Any], places: list[int]) -> Any:
        check_time()
        function = plain(functor, self._plain)
        try:
            return function(*arguments)
        except Exception as error:
            labels = " -> ".join(map(str, self.graph.labels_of(places).tolist()))
            where = {0: "", 1: f" at vertex {labels}", 2: f" at the edge {labels}"}[len(places)]
            error.add_note(f"in {function.__name__}{where}")
            raise


def _row(graph: Graph, vertex: int) -> range:
    return range(int(graph.offsets[vertex]), int(graph.offsets[vertex + 1]))


def new_course(
    program: Program,
    graph: Graph,
    arrays: Mapping[str, Array],
    numbers: Sequence[float],
    frontier: Sequence[int],
) -> Course:
    """Return a run that is about to begin."""
    turned = graph.transpose
    columns = {name: Column(name, array, True) for name, array in arrays.items()}
    columns |= {
        name: Column(name, array, False)
        for name, array in {
            "offsets": graph.offsets, "targets": graph.targets, "in_offsets": turned.offsets,
            "in_targets": turned.targets, "ids": np.arange(graph.num_vertices),
        }.items()
    }  # fmt: skip
    if turned.weights is not None:
        columns["in_weight"] = Column("in_weight", turned.weights, False)
    plain_numbers = [as_python(np.asarray(number)[()]) for number in numbers]
    given = dict(zip(program.parameters, plain_numbers, strict=True))
    forth, back = (_along(one, columns.keys() | given.keys()) for one in (graph, turned))
    both = {**columns, **given, "num_vertices": graph.num_vertices}
    states = State(**both, **forth), State(**both, **back)
    return Course(program, graph, arrays, *states, list(frontier))


def _along(graph: Graph, hidden: Collection[str]) -> dict[str, Column]:
    """Return the weights and columns of a graph, but for those whose names are taken."""
    every = {} if graph.weights is None else {"weight": graph.weights}
    every |= {**graph.edge_data, **graph.vertex_data}
    return {name: Column(name, array, False) for name, array in every.items() if name not in hidden}
