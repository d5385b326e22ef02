"""The named columns of the graph that a program reads, as its state holds them.

Only those that some functor names are handed to a loop, so a program that names none is compiled
and runs as on a graph without. A field or parameter hides a column of the same name.

Columns of edges run along with the weights: in a functor that is handed incoming edges they are
those of incoming edges. What would read another's value is refused before it runs.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from numpy.typing import NDArray

from broadfront.errors import FunctorError, OptionError
from broadfront.execution.access import Access, access
from broadfront.execution.faults import place_of
from broadfront.execution.names import names_in
from broadfront.execution.program import Program
from broadfront.execution.refusals import PUSH
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Functor
from broadfront.operators.roles import (
    EDGE,
    EDGES,
    EITHER_EDGE,
    ELSEWHERE,
    IN_EDGE,
    STATE,
)
from broadfront.partition.partition import Partition

Array = NDArray[Any]


class InPart(NamedTuple):
    """The columns of one part, in the order of their names."""

    out: tuple[Array, ...]
    incoming: tuple[Array, ...]
    """Those of edges along incoming arcs."""

    @property
    def nbytes(self) -> int:
        """Bytes of all of them, each counted once."""
        return sum({id(array): array.nbytes for array in (*self.out, *self.incoming)}.values())


class Columns(NamedTuple):
    """Names of columns."""

    edge: tuple[str, ...] = ()
    vertex: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in the order in which the state has them."""
        return (*self.edge, *self.vertex)

    def of(self, graph: Graph) -> tuple[Array, ...]:
        """Return the columns of a graph."""
        edges, vertices = graph.edge_data, graph.vertex_data
        return (*(edges[name] for name in self.edge), *(vertices[name] for name in self.vertex))

    def in_parts(self, partition: Partition, relabel: bool, looks_back: bool) -> list[InPart]:
        """Return the columns of each part of a graph."""
        edges = [partition.edge_column(name, relabel, looks_back) for name in self.edge]
        vertices = [partition.vertex_column(name, relabel, looks_back) for name in self.vertex]
        found = []
        for part in range(partition.count):
            own = tuple(each[part][0] for each in vertices)
            along = [each[part] for each in edges]
            found.append(
                InPart((*(a.out for a in along), *own), (*(a.incoming for a in along), *own))
            )
        return found


NO_COLUMNS = Columns()


def columns_read(program: Program, graph: Graph) -> Columns:
    """Return the columns of a graph that functors of a program name."""
    if not graph.edge_data and not graph.vertex_data:
        return NO_COLUMNS
    read = program.names_read - {*program.fields, *program.parameters}
    return Columns(
        tuple(name for name in graph.edge_data if name in read),
        tuple(name for name in graph.vertex_data if name in read),
    )


def refuse_columns(program: Program, graph: Graph, many: bool) -> None:
    """Refuse functors that set a column, or read it at what it has no value for.

    On several devices (`many`) a device has the values of its own edges and of its neighbours.
    """
    columns = columns_read(program, graph)
    _refuse_hidden(program, graph)
    if graph.weights is None:
        _refuse_weights(program)
    if not columns.names:
        return
    for until in program.untils:
        _refuse(until, (STATE,), EDGE, columns, many)
    for operator in program.operators:
        for call in operator.calls:
            if not names_in(call.functor).isdisjoint(columns.names):
                _refuse(call.functor, call.roles, call.weights, columns, many)


def _refuse_weights(program: Program) -> None:
    """Refuse functors that read weights of a graph that has none."""
    for operator in program.operators if program.reads_weights or program.reads_in_weights else ():
        for functor, roles in operator.roles:
            if names_in(functor).isdisjoint(("weight", "in_weight")):
                continue
            with suppress(OptionError):  # it gives its state away, which one device may allow
                touch = access(functor, roles)
                for name, place in sorted(touch.reads):
                    if name in ("weight", "in_weight"):
                        raise FunctorError(
                            f"{_where(functor, touch, name, place)}, and the graph has no weights: "
                            "give it some, graph.with_weights(...)"
                        )


def _refuse_hidden(program: Program, graph: Graph) -> None:
    """Refuse an edge as an index of a field that hides a column of edges: that was meant."""
    hidden = {name for name in graph.edge_data
              if name in program.fields and program.fields[name].per_vertex}  # fmt: skip
    for operator in program.operators if hidden else ():
        for functor, roles in operator.roles:
            if names_in(functor).isdisjoint(hidden):
                continue
            for name, place in access(functor, roles).reads:
                if name in hidden and place in EDGES:
                    raise FunctorError(
                        f"{place_of(functor)} reads state.{name} at an edge, but there it is a "
                        "field of the program, which hides the graph's column: rename one"
                    )


def _refuse(
    functor: Functor, roles: tuple[str | None, ...], side: str, columns: Columns, many: bool
) -> None:
    try:
        touch = access(functor, roles)
    except OptionError:  # it gives its state away, which one device may allow
        if many:
            raise
        return
    for name, _ in sorted(touch.writes):
        if name in columns.names:
            raise FunctorError(
                f"{place_of(functor)} sets state.{name}, which belongs to the graph: functors only "
                "read it; store in a field of your own"
            )
    for name, place in sorted(touch.reads):
        if name in columns.edge:
            _refuse_edge(functor, touch, name, place, side, many)
        elif name in columns.vertex and (place in EDGES or (many and place == ELSEWHERE)):
            what = "an edge, and it has a value per vertex"
            if place == ELSEWHERE:
                what = "what is neither its vertex nor a neighbour, which another device may own"
            raise FunctorError(f"{_where(functor, touch, name, place)} at {what}")


def _refuse_edge(
    functor: Functor, touch: Access, name: str, place: str, side: str, many: bool
) -> None:
    """Refuse to read a column of edges where it has the value of another, or none."""
    if place == side or (place == ELSEWHERE and not many):
        return
    if place == ELSEWHERE:
        what = (
            "a place that is no edge of its vertex, which another device may own: go through its "
            "edges by for edge in range(state.offsets[vertex], state.offsets[vertex + 1])"
        )
    elif place not in EDGES:
        what = "a vertex, and it has a value per edge"
    elif EITHER_EDGE in (place, side):
        what = f"an edge of the other side; {PUSH}"
    elif place == IN_EDGE:
        what = "an incoming edge, where it has the value of another: use Reduce, which hands over "
        what += "incoming edges with their values"
    else:
        what = "an outgoing edge, and here it has the values of incoming ones: store what you need "
        what += "of outgoing ones in a field, by a Compute before"
    raise FunctorError(f"{_where(functor, touch, name, place)} at {what}")


def _where(functor: Functor, touch: Access, name: str, place: str) -> str:
    line = touch.places.get((name, place), place_of(functor))
    return f"{line}: functor {functor.__name__} reads state.{name}"
