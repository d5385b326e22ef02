"""Templates of records, monoids, levels, priorities, sets, intersections, counters and totals."""

from __future__ import annotations

from typing import Any

import numpy as np

import broadfront as bf
from written.opcodes import MOST, holds, number
from written.templates import (
    FIRST,
    QUESTION,
    SECOND,
    fold_row,
    further,
    kept,
    made,
    offer_along,
    propose,
    reset,
    rounds,
    settle,
)

PAIR = np.dtype([("one", np.int64), ("two", np.int64)])
LARGE, LARGER = 2**45 + 1, np.uint64(2**57 + 1)
SUMS = ("total",)


def lesser(one: Any, other: Any) -> Any:
    return one if one < other else other


def exclusive(one: Any, other: Any) -> Any:
    return one ^ other


def chain(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    """Propose a record that is made of one."""
    one, two = state.best[source]
    return number(
        state.code, FIRST, one, two, state.rank[neighbor], state.weight[edge], state.ids[source],
        state.b[source],
    ), state.ids[source]  # fmt: skip


def unchain(vertex: Any, state: Any) -> Any:
    """Set `b` from the record; return it."""
    one, two = state.best[vertex]
    state.b[vertex] = min(max(one - two, -MOST), MOST)
    return state.b[vertex]


def nearest_first(vertex: Any, state: Any) -> Any:
    return state.a[vertex]


def offered_reals(neighbor: Any, vertex: Any, edge: Any, state: Any) -> Any:
    return 0.5 * number(
        state.code, FIRST, state.c[neighbor], state.b[neighbor], state.b[vertex],
        state.weight[edge], state.ids[neighbor], state.ids[vertex],
    )  # fmt: skip


def take_reals(vertex: Any, total: Any, state: Any) -> None:
    state.c[vertex] = int(min(max(total, -MOST), MOST))


def counted(vertex: Any, state: Any) -> Any:
    """Set `b` from what is counted, and by chance; return it."""
    luck = bf.random(state.code[FIRST], state.ids[vertex], state.iteration)
    state.b[vertex] = number(
        state.code, SECOND, state.iteration, state.frontier_size, int(9 * luck), state.b[vertex],
        state.c[vertex], state.done[0],
    )  # fmt: skip
    return state.b[vertex]


def together(source: Any, neighbor: Any, edge: Any, state: Any) -> Any:
    return holds(state.code, QUESTION, state.weight[edge], state.toll[edge], state.b[source],
                 state.b[neighbor])  # fmt: skip


def from_set(vertex: Any, state: Any) -> Any:
    """Set `b` from the set of a vertex; return it."""
    state.b[vertex] = number(
        state.code, SECOND, state.united[vertex], state.b[vertex], state.c[vertex],
        state.ids[vertex], 1, 2,
    )  # fmt: skip
    return state.b[vertex]


def in_common(first: Any, second: Any, edge: Any, common: Any, state: Any) -> None:
    state.arc[edge] = common + state.toll[edge]


def add_large(vertex: Any, state: Any) -> Any:
    return LARGE * state.b[vertex], LARGER * np.uint64(state.c[vertex] & 7)


def take(vertex: Any, total: Any, state: Any) -> Any:
    """Set `b` from what was offered; return it."""
    state.b[vertex] = number(
        state.code, SECOND, total, state.a[vertex], state.b[vertex], state.c[vertex],
        state.ids[vertex], state.total[0],
    )  # fmt: skip
    return state.b[vertex]


INTEGERS = (np.int64, "min", 40)
LEAST_PAIR = bf.Field(PAIR, combine=bf.Monoid(lesser, (2**60, 2**60), idempotent=True))
SEARCH = "a search"
FURTHER_TEMPLATES = {
    program.name: program
    for program in (
        made(SEARCH, [
            bf.Phase([bf.Advance(further, into="a", synchronous=False)]),
        ], (np.int64, "min", 99)),
        made("records", [
            rounds(bf.Advance(chain, into="best"), bf.Compute(unchain, sums=SUMS)),
        ], INTEGERS, best=LEAST_PAIR),
        made("a monoid that is not idempotent", [
            rounds(bf.Advance(propose, into="a"), bf.Filter(kept), bf.Compute(settle, sums=SUMS)),
        ], (np.int64, bf.Monoid(exclusive, 0), 0)),
        made("by priority", [
            bf.Phase([
                bf.Advance(further, into="a", priority=nearest_first, synchronous=False),
            ]),
            bf.Phase([bf.Compute(settle, sums=SUMS), bf.Filter(kept, over="vertices")]),
        ], (np.int64, "min", 99)),
        made("level by level", [
            rounds(bf.Levels(offered_reals, take_reals, by="a"), bf.Compute(reset, sums=SUMS)),
            bf.Phase([bf.Levels(offered_reals, take_reals, descending=True)]),
        ], (np.int64, None, 1)),
        made("reduce over the frontier", [
            rounds(bf.Reduce(offer_along, take, identity=0, along="out", over="frontier"),
                   bf.Compute(reset, over="frontier", sums=SUMS), bf.Filter(kept)),
        ], (np.int64, "min", 3)),
        made("counters and chance", [
            rounds(bf.Compute(counted, sums=SUMS), bf.Advance(propose, into="a")),
        ], INTEGERS),
        made("sets", [
            rounds(bf.Unite("united", together), bf.Compute(from_set, sums=SUMS)),
        ], INTEGERS, united=bf.Field("vertex")),
        made("in common", [
            rounds(bf.Intersect(in_common), bf.Compute(fold_row, sums=SUMS)),
        ], INTEGERS, unordered=False, arc=bf.Field(np.int64, per="edge")),
        made("large totals", [
            rounds(bf.Compute(settle), bf.Compute(add_large, sums=("large", "larger"))),
        ], INTEGERS, large=bf.Field(np.int64, length=1), larger=bf.Field(np.uint64, length=1)),
    )
}  # fmt: skip
"""By name. `further` comes to an end, all others within their rounds."""
