"""Programs whose functors interpret `state.code`: each compiles once and then is any program.

Fields `a`, `b`, `c` have an element per vertex. `code` holds two expressions, a condition and a
number of rounds; `total` and `done` are for all vertices together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import broadfront as bf
from broadfront import atomics
from written.opcodes import CONDITION, EXPRESSION, holds, number

FIRST, SECOND, QUESTION = 0, EXPRESSION, 2 * EXPRESSION
ROUNDS = QUESTION + CONDITION
LENGTH = ROUNDS + 1
MOST_ROUNDS = 4


def propose(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    """Propose for `a` what is made of `b` and `c`."""
    return number(
        state.code, FIRST, state.b[source], state.b[neighbor], state.c[source],
        state.weight[edge], state.ids[source], state.ids[neighbor],
    )  # fmt: skip


def hand_on(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    """Propose for `a` what is made of `a`."""
    return number(
        state.code, FIRST, state.a[source], state.a[neighbor], state.c[source],
        state.weight[edge], state.ids[source], state.ids[neighbor],
    )  # fmt: skip


def further(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    """Propose a distance: it never falls along an edge."""
    return state.a[source] + abs(number(
        state.code, FIRST, state.b[source], state.b[neighbor], state.c[source],
        state.weight[edge], state.ids[source], state.ids[neighbor],
    ))  # fmt: skip


def narrower(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    """Propose a width: it never rises along an edge."""
    return min(state.c[source], number(
        state.code, SECOND, state.b[source], state.b[neighbor], state.a[source],
        state.weight[edge], state.ids[source], state.ids[neighbor],
    ))  # fmt: skip


def bits(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    """Propose bits, and tell all of the largest number seen."""
    found = abs(number(
        state.code, FIRST, state.b[source], state.b[neighbor], state.c[source],
        state.weight[edge], state.ids[source], state.ids[neighbor],
    ))  # fmt: skip
    atomics.maximum(state.most, 0, found)
    return found


def strew(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    """Set a field of the source, add to one of the neighbour, and propose for a third."""
    state.c[source] = 2
    atomics.add(state.b, neighbor, state.weight[edge])
    return number(
        state.code, FIRST, state.weight[edge], state.ids[source], state.ids[neighbor],
        state.total[0], state.num_vertices, 1,
    )  # fmt: skip


def wanted(vertex: Any, state: Any) -> Any:
    return holds(state.code, QUESTION, state.b[vertex], state.c[vertex], state.ids[vertex], 1)


def kept(vertex: Any, state: Any) -> Any:
    return holds(state.code, QUESTION, state.a[vertex], state.b[vertex], state.c[vertex],
                 state.ids[vertex])  # fmt: skip


def settle(vertex: Any, state: Any) -> Any:
    """Set `b`; return it."""
    state.b[vertex] = number(
        state.code, SECOND, state.a[vertex], state.b[vertex], state.c[vertex],
        state.ids[vertex], state.offsets[vertex + 1] - state.offsets[vertex], state.total[0],
    )  # fmt: skip
    return state.b[vertex]


def reset(vertex: Any, state: Any) -> Any:
    """Set `a`, to which proposals go, to anything; return it."""
    state.a[vertex] = number(
        state.code, SECOND, state.a[vertex], state.b[vertex], state.c[vertex],
        state.ids[vertex], state.offsets[vertex + 1] - state.offsets[vertex], state.total[0],
    )  # fmt: skip
    return state.a[vertex]


def offer(neighbor: Any, state: Any) -> Any:
    return number(state.code, FIRST, state.a[neighbor], state.b[neighbor], state.c[neighbor],
                  state.ids[neighbor], state.total[0], 1)  # fmt: skip


def offer_along(neighbor: Any, vertex: Any, edge: Any, state: Any) -> Any:
    return number(state.code, FIRST, state.a[neighbor], state.a[vertex], state.c[neighbor],
                  state.weight[edge], state.ids[neighbor], state.ids[vertex])  # fmt: skip


def replace(vertex: Any, total: Any, state: Any) -> Any:
    """Set `a` from what was offered; return it."""
    state.a[vertex] = number(
        state.code, SECOND, total, state.a[vertex], state.b[vertex], state.c[vertex],
        state.ids[vertex], state.total[0],
    )  # fmt: skip
    return state.a[vertex]


def beside(vertex: Any, total: Any, state: Any) -> Any:
    """Set `b` from what was offered; return it."""
    state.b[vertex] = number(
        state.code, SECOND, total, state.a[vertex], state.b[vertex], state.c[vertex],
        state.ids[vertex], state.total[0],
    )  # fmt: skip
    return state.b[vertex]


def around(vertex: Any, state: Any) -> None:
    """Set `c` to the largest `a` of incoming neighbours and the smallest of outgoing ones."""
    most = state.a[vertex]
    for arc in range(state.in_offsets[vertex], state.in_offsets[vertex + 1]):
        most = max(most, state.a[state.in_targets[arc]])
    least = most
    for arc in range(state.offsets[vertex], state.offsets[vertex + 1]):
        least = min(least, state.a[state.targets[arc]])
    state.c[vertex] = most - least


def count_round(state: Any) -> None:
    state.done[0] += 1


def enough(state: Any) -> Any:
    return state.done[0] >= state.code[ROUNDS]


def made(name: str, phases: list[Any], a: Any, b: Any = np.int64, c: Any = np.int64,
         **more: Any) -> bf.Program:  # fmt: skip
    """Return a program of phases over three fields; the combine of `a` is its second part."""
    dtype, combine, fill = a
    fields = {
        "a": bf.Field(dtype, fill=fill, combine=combine),
        "b": bf.Field(b) if not isinstance(b, bf.Field) else b,
        "c": bf.Field(c) if not isinstance(c, bf.Field) else c,
        "code": bf.Field(np.int64, length=LENGTH),
        "total": bf.Field(np.int64, length=1),
        "done": bf.Field(np.int64, length=1),
        **more,
    }
    return bf.Program(fields, phases=phases, name=name)


def rounds(*operators: Any) -> bf.Phase:
    """Return a phase of as many rounds as the code says."""
    return bf.Phase([*operators, bf.Once(count_round)], until=enough, limit=MOST_ROUNDS)


SUMS = ("total",)
TEMPLATES = {
    program.name: program
    for program in (
        made("push, then compute", [
            rounds(bf.Advance(propose, into="a"), bf.Compute(settle, sums=SUMS)),
        ], (np.int64, "min", 50)),
        made("pull sums into reals", [
            rounds(bf.Advance(propose, into="a", cond=wanted),
                   bf.Compute(settle, over="frontier", sums=SUMS), bf.Filter(kept)),
        ], (np.float64, "sum", 0)),
        made("reset what is proposed to", [
            rounds(bf.Compute(reset, sums=SUMS), bf.Advance(propose, into="a"), bf.Filter(kept)),
        ], (np.int32, "max", -50)),
        made("reduce what neighbours have", [
            rounds(bf.Reduce(offer, replace, identity=0, sums=SUMS), bf.Compute(around)),
        ], (np.int64, None, 1)),
        made("reduce along edges", [
            rounds(bf.Reduce(offer_along, beside, identity=90, combine="min", sums=SUMS),
                   bf.Compute(reset)),
        ], (np.int64, "min", 3)),
        made("to a fixed point, twice", [
            bf.Phase([bf.Advance(further, into="a")]),
            bf.Phase([bf.Compute(settle, sums=SUMS)]),
            bf.Phase([bf.Advance(narrower, into="c")], limit=None),
            bf.Phase([bf.Filter(kept), bf.Compute(around)]),
        ], (np.int64, "min", 99), c=bf.Field(np.int64, fill=-9, combine="max")),
        made("strew", [
            rounds(bf.Advance(strew, into="a"), bf.Compute(reset, over="frontier", sums=SUMS)),
        ], (np.int64, "min", 7), b=bf.Field(np.int64, combine="sum")),
        made("bits", [
            rounds(bf.Advance(bits, into="a"), bf.Filter(kept), bf.Compute(settle, sums=SUMS)),
        ], (np.int64, "or", 0), most=bf.Field(np.int64, combine="max", length=1)),
    )
}  # fmt: skip
"""By name. `further` and `narrower` come to an end, all others within their rounds."""
AWAITED = frozenset({"pull sums into reals", "strew"})
"""Those that wait for an `Advance` that is the same on all back ends; they are not drawn."""
SOUND = tuple(name for name in TEMPLATES if name not in AWAITED)
