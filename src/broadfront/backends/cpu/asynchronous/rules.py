"""What the `Advance` of a program does along an edge and to a vertex, as compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from broadfront.backends.cpu.asynchronous.worklist import Order, order_by
from broadfront.backends.cpu.exchange.places import Places
from broadfront.backends.cpu.operators.combine import combining
from broadfront.functors import compile_functor
from broadfront.kernel import inlined
from broadfront.operators.describe import Advance, Field


class Rules(NamedTuple):
    """What one `Advance` does, as compiled functions."""

    propose: Callable[..., Any]
    wanted: Callable[..., Any]
    better: Callable[..., Any]
    merge: Callable[..., Any]
    note: Callable[..., Any]
    """``note(state, vertex, source)`` keeps the id of the source where that is asked for."""
    place: int
    source_place: int
    """Where the state has the field, and that of the sources; negative if nobody asks."""
    order: Order
    places: Places
    is_ghost: Callable[..., Any]


@inlined
def _anyone(vertex, state):
    return True


@inlined
def _comes_after_owned(vertex, graph):
    return vertex >= graph.owned


@inlined
def _belongs_elsewhere(vertex, graph):
    return graph.owner[vertex] != graph.device


@inlined
def _forget(state, vertex, source):
    pass


def rules_of(
    operator: Advance,
    fields: dict[str, Field],
    names: tuple[str, ...],
    places: Places,
    relabelled: bool,
    priority: bool,
) -> Rules:
    """Return what an `Advance` does; `names` are those of the state, dtypes are settled."""
    field, place = fields[operator.into], names.index(operator.into)
    source_place = -1 if operator.record_source is None else names.index(operator.record_source)

    @inlined
    def note(state, vertex, source):
        state[source_place][vertex] = source

    combine = combining(field)
    return Rules(
        compile_functor(operator.functor),
        _anyone if operator.cond is None else compile_functor(operator.cond),
        combine.better, combine.plainly, _forget if source_place < 0 else note, place, source_place,
        order_by(operator, field, place, priority), places,
        _comes_after_owned if relabelled else _belongs_elsewhere,
    )  # fmt: skip
