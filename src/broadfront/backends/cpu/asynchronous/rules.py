"""What the step of a program does along an edge and to a vertex, as compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from broadfront.backends.cpu.asynchronous.worklist import Order, order_by
from broadfront.backends.cpu.exchange.places import Places
from broadfront.backends.cpu.operators.combine import combining
from broadfront.execution.asynchronous.step import Step
from broadfront.functors import compile_functor
from broadfront.kernel import inlined
from broadfront.operators.describe import Field
from broadfront.pointers import as_element


class Rules(NamedTuple):
    """What one step does, as compiled functions."""

    propose: Callable[..., Any]
    wanted: Callable[..., Any]
    combine: Callable[..., Any]
    """``combine(vertex, value, state)`` lets a proposal count, and tells whether that is work."""
    add: Callable[..., Any]
    """``add(vertex, value, state)`` does so without asking."""
    note: Callable[..., Any]
    """``note(state, vertex, source)`` keeps the id of the source where that is asked for."""
    place: int
    source_place: int
    """Where the state has the field, and that of the sources; negative if nobody asks."""
    order: Order
    places: Places
    is_ghost: Callable[..., Any]
    take: Callable[..., Any]
    """``take(vertex, state)``: what a vertex does before it proposes."""
    adds_up: bool
    neutral: Any
    """What a copy is set to when what it has added up is sent."""


@inlined
def _nothing(vertex, state):
    pass


@inlined
def _always(vertex, before, after, state):
    return True


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
    step: Step,
    fields: dict[str, Field],
    names: tuple[str, ...],
    places: Places,
    relabelled: bool,
    priority: bool,
) -> Rules:
    """Return what a step does; `names` are those of the state, dtypes are settled."""
    operator = step.advance
    field, place = fields[operator.into], names.index(operator.into)
    source_place = -1 if operator.record_source is None else names.index(operator.record_source)

    @inlined
    def note(state, vertex, source):
        state[source_place][vertex] = source

    wakes = _always if operator.activate is None else compile_functor(operator.activate)
    add, add_and_ask, improve = _combined(field, place, wakes)
    return Rules(
        compile_functor(operator.functor),
        _anyone if operator.cond is None else compile_functor(operator.cond),
        add_and_ask if field.adds_up else improve, add, _forget if source_place < 0 else note,
        place, source_place, order_by(operator, field, place, priority), places,
        _comes_after_owned if relabelled else _belongs_elsewhere,
        _nothing if step.take is None else compile_functor(step.take.functor),
        field.adds_up, field.constant(field.neutral) if field.adds_up else None,
    )  # fmt: skip


def _combined(field: Field, place: int, wakes: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """Return `add`, and `combine` of a sum and of what improves."""
    better, _, merge = combining(field)

    @inlined
    def add(vertex, value, state):
        out = state[place]
        out[vertex] = as_element(out, merge(value, out[vertex]))

    @inlined
    def add_and_ask(vertex, value, state):
        before = state[place][vertex]
        add(vertex, value, state)
        return wakes(vertex, before, state[place][vertex], state)

    @inlined
    def improve(vertex, value, state):
        """Write it without a branch: whether it is better is what no processor can guess."""
        out = state[place]
        present = out[vertex]
        gain = better(value, present)
        out[vertex] = merge(value, present) if gain else present
        return gain

    return add, add_and_ask, improve
