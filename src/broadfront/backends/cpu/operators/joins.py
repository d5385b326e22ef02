"""Who joins the next frontier: a vertex whose value has improved, once, or as a program says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Advance, Field


def joining(
    operator: Advance,
    field: Field,
    place: int,
    is_ghost: Callable[..., Any] | None,
    exact: bool = False,
) -> Callable[..., Any]:
    """Return the test whether an improved vertex joins the next frontier.

    A vertex improved for the first time ever joins at once; one that was improved before must be
    the first to set its mark, since it may have joined in this iteration already. That lets it join
    twice, which a sum would feel, and several devices too: there, and where frontiers are to be
    `exact`, only the mark counts. A copy of another device's vertex joins to be sent to its owner,
    who is then asked. `place` is that of the field.
    """
    if operator.activate is not None:
        activate = compile_functor(operator.activate)
        if is_ghost is None:

            @inner
            def as_told(vertex, before, after, state, marks, graph):
                return activate(vertex, before, after, state)

            return as_told

        @inner
        def as_told_by_owner(vertex, before, after, state, marks, graph):
            if is_ghost(vertex, graph):
                return _marks_first(vertex, marks)
            return activate(vertex, before, after, state)

        return as_told_by_owner
    only_marks = exact or field.adds_up or is_ghost is not None

    @inner
    def once(vertex, before, after, state, marks, graph):
        if not only_marks and before == graph.numbers.fills[place]:
            return True
        return _marks_first(vertex, marks)

    return once


@inner
def _marks_first(vertex, marks):
    mark = np.uint64(1) << np.uint64(vertex & 63)
    return atomics.bitwise_or(marks, vertex >> 6, mark) & mark == 0
