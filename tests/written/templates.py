"""Programs whose functors interpret `state.code`: each compiles once and then is any program.

Fields `a`, `b`, `c` have an element per vertex. `code` holds two expressions, a condition and a
number of rounds; `total` and `done` are for all vertices together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import broadfront as bf
from broadfront import atomics
from written.opcodes import CONDITION, EXPRESSION, MOST, holds, number

LARGE = np.array([0, 1, 2, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63), -1])
"""Numbers at the ends of what fits."""
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


def mark(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    """Set a field of the edge from what was there, and propose it."""
    state.arc[edge] = number(
        state.code, FIRST, state.arc[edge], state.b[neighbor], state.c[source],
        state.toll[edge], state.rank[source], state.ids[neighbor],
    )  # fmt: skip
    return state.arc[edge]


def fold_row(vertex: Any, state: Any) -> Any:
    """Set `b` to what the edges of a vertex have, one after the other; return it."""
    state.b[vertex] = 0
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.b[vertex] = min(max(state.arc[edge] - state.b[vertex], -MOST), MOST)
    return state.b[vertex]


def pair(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    """Propose two values that are made of two."""
    one, other = state.two[source]
    return number(
        state.code, FIRST, one, other, state.rank[neighbor], state.toll[edge], state.ids[source],
        state.b[source],
    ), number(
        state.code, SECOND, other, one, state.rank[source], state.weight[edge],
        state.ids[neighbor], state.b[source],
    )  # fmt: skip


def unpair(vertex: Any, state: Any) -> Any:
    """Set `b` from the two values; return it."""
    one, other = state.two[vertex]
    state.b[vertex] = min(max(one - other, -MOST), MOST)
    return state.b[vertex]


def moved_much(vertex: Any, before: Any, after: Any, state: Any) -> Any:
    return holds(state.code, QUESTION, before, after, state.b[vertex], state.rank[vertex])


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


def beyond(vertex: Any, state: Any) -> None:
    """Set what may not fit: one operation on large numbers, and its outcome is kept."""
    operation, narrow = state.code[SECOND + 2], state.code[SECOND + 5]
    left, right = LARGE[state.code[SECOND + 1]], LARGE[state.code[SECOND + 4]]
    if operation == 0:
        state.b[vertex] = left + right
    elif operation == 1:
        state.b[vertex] = left - right
    elif operation == 2:
        state.b[vertex] = left * right
    elif operation == 3:
        state.b[vertex] = left // right
    elif operation == 4:
        state.b[vertex] = left % right
    else:
        state.b[vertex] = abs(left) - 1
    if narrow == 5:
        state.small[vertex] = left


def far(vertex: Any, state: Any) -> Any:
    """Set `c` from a vertex that is near by its number, if there is one."""
    state.c[vertex] = state.b[vertex + state.code[FIRST + 1] // 4] + state.code[vertex % 3]
    return state.c[vertex]


def count_round(state: Any) -> None:
    state.done[0] += 1


def held_in(vertex: Any, state: Any) -> Any:
    """Hold `a`, which adds up, within bounds; return it."""
    state.a[vertex] = min(max(state.a[vertex], -MOST), MOST)
    return state.a[vertex]


def enough(state: Any) -> Any:
    return state.done[0] >= state.code[ROUNDS]


def made(name: str, phases: list[Any], a: Any, b: Any = np.int64, c: Any = np.int64,
         unordered: bool = True, **more: Any) -> bf.Program:  # fmt: skip
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
    return bf.Program(fields, phases=phases, unordered=unordered, name=name)


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
        ], (np.float64, "sum", 0), b=np.float64, total=bf.Field(np.float64, length=1)),
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
        made("see only what was before", [
            rounds(bf.Advance(hand_on, into="a", activate=moved_much),
                   bf.Compute(settle, over="frontier", sums=SUMS)),
        ], (np.int64, "max", -20)),
        made("add up what neighbours have, against the arcs", [
            rounds(bf.Advance(hand_on, into="a", along="in", synchronous=True),
                   bf.Compute(held_in, sums=SUMS), bf.Filter(kept)),
        ], (np.int64, "sum", 1)),
        made("round after round", [
            bf.Repeat([
                bf.Phase([bf.Filter(kept, over="vertices")]),
                bf.Phase([bf.Advance(propose, into="a", along="in")], limit=2),
                bf.Phase([bf.Reduce(offer_along, beside, identity=0, along="out", sums=SUMS)]),
                bf.Phase([bf.Once(count_round)]),
            ], until=enough, limit=MOST_ROUNDS),
        ], (np.int64, "min", 30)),
        made("a number per edge", [
            rounds(bf.Advance(mark, into="a"), bf.Compute(fold_row, sums=SUMS)),
        ], (np.int64, "max", -30), unordered=False, arc=bf.Field(np.int64, per="edge")),
        made("what may not fit", [
            rounds(bf.Compute(beyond), bf.Compute(settle, sums=SUMS)),
        ], (np.int64, "min", 5), small=bf.Field(np.int32)),
        made("far", [
            rounds(bf.Compute(settle), bf.Compute(far, sums=SUMS)),
        ], (np.int64, None, 2)),
        made("pairs", [
            rounds(bf.Advance(pair, into="two"), bf.Compute(unpair, sums=SUMS)),
        ], (np.int64, "max", 0), two=bf.Field(np.int64, fill=-9, combine="max", width=2)),
    )
}  # fmt: skip
"""By name. `further` and `narrower` come to an end, all others within their rounds."""
