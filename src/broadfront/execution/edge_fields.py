"""Fields with an element per edge: on several devices each has those of its own edges.

An element belongs to an arc that leaves a vertex, in the order of ``graph.targets``, as weights do.
The owner of that vertex alone reads and sets it; so nothing of these fields crosses between
devices, and what devices end with is put together when they have ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import FunctorError, OptionError
from broadfront.execution.access import Access, access
from broadfront.execution.faults import place_of
from broadfront.execution.fields import Places, Start
from broadfront.execution.names import names_in
from broadfront.execution.program import Program
from broadfront.operators.describe import Functor
from broadfront.operators.roles import EDGE, EDGES, ELSEWHERE, STATE
from broadfront.partition.partition import Partition

Array = NDArray[Any]


def names_of(program: Program) -> list[str]:
    """Return the names of the fields with an element per edge."""
    return [name for name, field in program.fields.items() if field.per == "edge"]


class EdgeFields:
    """The fields per edge of a program, its dtypes settled, in the parts of a graph."""

    def __init__(
        self, program: Program, partition: Partition, relabel: bool, looks_back: bool
    ) -> None:
        self._fields = {name: program.fields[name] for name in names_of(program)}
        self._arcs: list[Any] = [slice(None)] * partition.count
        if self._fields and partition.count > 1:
            self._arcs = [along.out for along in partition.arcs(relabel, looks_back)]
        self._length = partition.graph.num_arcs

    def begin(self, arrays: Sequence[Mapping[str, Array]], start: Start) -> None:
        """Set what devices begin with."""
        for name, field in self._fields.items():
            whole = start.get(name)
            if isinstance(whole, Places):
                places, values = whole
                whole = np.full(self._length, field.filling, field.storage)
                whole[places] = values
            for device, arcs in zip(arrays, self._arcs, strict=True):
                device[name][:] = field.filling if whole is None else whole[arcs]

    def gather(self, arrays: Sequence[Mapping[str, Array]], answer: Mapping[str, Array]) -> None:
        """Put an answer together from what devices end with."""
        for name in self._fields:
            for device, arcs in zip(arrays, self._arcs, strict=True):
                answer[name][arcs] = device[name]


def refuse_edge_fields(program: Program, many: bool) -> None:
    """Refuse functors that take a vertex for an edge, or an edge for a vertex, in fields.

    On several devices (`many`) a device has the elements of its own edges alone.
    """
    own = set(names_of(program))
    for functor, roles in [
        *((until, (STATE,)) for until in program.untils),
        *(pair for operator in program.operators for pair in operator.roles),
    ]:
        if names_in(functor).isdisjoint(program.fields):
            continue
        if own.isdisjoint(names_in(functor)) and not any(role in EDGES for role in roles):
            continue
        try:
            touch = access(functor, roles)
        except OptionError:  # it gives its state away, which one device may allow
            continue
        for name, place in sorted(touch.reads | touch.writes):
            if name in own:
                _refuse_place(functor, touch, name, place, many)
            elif name in program.fields and place in EDGES:
                raise FunctorError(
                    f"{_where(functor, touch, name, place)} at an edge, and it has no element per "
                    f"edge: declare it as Field(..., per='edge')"
                )


def _refuse_place(functor: Functor, touch: Access, name: str, place: str, many: bool) -> None:
    """Refuse a place of a field per edge that is no edge of the functor's vertex."""
    if place == EDGE or (place == ELSEWHERE and not many):
        return
    if place in EDGES:
        what = (
            "an incoming edge, and it has an element per outgoing one: use along='out', or an "
            "Advance with direction='push'"
        )
    elif place == ELSEWHERE:
        what = "a place that is no edge of its vertex, which another device may own"
    else:
        what = "a vertex, and it has an element per edge"
    raise FunctorError(f"{_where(functor, touch, name, place)} at {what}")


def _where(functor: Functor, touch: Access, name: str, place: str) -> str:
    line = touch.places.get((name, place), place_of(functor))
    return f"{line}: functor {functor.__name__} touches state.{name}"
