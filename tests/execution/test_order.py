"""Which functors are proven not to depend on the order of proposals, and which are not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from broadfront import atomics
from broadfront.execution.order import LEVEL, MONOTONE, STATIC, order_of
from broadfront.operators.describe import Advance, Field

FAR = 2**31 - 1
FIELDS = {
    "least": Field(np.int32, fill=FAR, combine="min"),
    "most": Field(np.float64, combine="max"),
    "bits": Field(np.uint64, combine="or"),
    "total": Field(np.float64, combine="sum"),
    "first": Field(np.int32, fill=-1, combine="any"),
    "other": Field(np.int64),
    "shared": Field(np.int64, length=3, combine="max"),
    "parent": Field("vertex", fill=-1),
}


def one(source, neighbor, edge, state):
    return 1


def of_other(source, neighbor, edge, state):
    return state.other[source] * state.weight[edge] + state.other[neighbor]


def one_more(source, neighbor, edge, state):
    return state.least[source] + 1


def by_number(source, neighbor, edge, state):
    return state.least[source] * 2 + state.step - state.shared[0]


def through_edge(source, neighbor, edge, state):
    return np.int32(state.least[source] + abs(state.weight[edge]))


def narrowed(source, neighbor, edge, state):
    return min(state.most[source], math.sqrt(state.weight[edge])) / 2.0


def added(first, second):
    return first + second


def by_helper(source, neighbor, edge, state):
    total = state.least[source]
    for _ in range(3):
        total = added(total, state.other[source])
    return total


def if_heavy(source, neighbor, edge, state):
    if state.weight[edge] > 3:
        return state.least[source]
    return FAR


def if_small(source, neighbor, edge, state):
    if state.least[source] > 3:
        return state.least[source]
    return FAR


def negative(source, neighbor, edge, state):
    return 100 - state.least[source]


def times_weight(source, neighbor, edge, state):
    return state.most[source] * state.weight[edge]


def looked_up(source, neighbor, edge, state):
    return state.other[state.least[source]]


def with_neighbor(source, neighbor, edge, state):
    return max(state.most[source], state.most[neighbor])


def some_bits(source, neighbor, edge, state):
    return (state.bits[source] | np.uint64(4)) & state.bits[source]


def counted_bits(source, neighbor, edge, state):
    return state.bits[source] + np.uint64(1)


def own_total(source, neighbor, edge, state):
    return state.total[source]


def own_first(source, neighbor, edge, state):
    return state.first[source]


def by_iteration(source, neighbor, edge, state):
    return state.least[source] + state.iteration


def and_counts(source, neighbor, edge, state):
    atomics.add(state.other, source, 1)
    return state.least[source] + 1


def and_sets(source, neighbor, edge, state):
    state.shared[0] = 1
    return 7


def is_own_parent(source, neighbor, edge, state):
    return np.int32(state.parent[source] == source)


def picky(source, neighbor, edge, state):
    if state.weight[edge] < 0:
        raise ValueError("a negative weight")
    return state.least[source] + 1


def without_value(vertex, state):
    return state.least[vertex] == FAR


def nearly(vertex, state):
    return state.least[vertex] == FAR - 1


def allowed(vertex, state):
    return state.other[vertex] == 1


@pytest.mark.parametrize(
    ("functor", "into", "more", "kind"),
    [
        (one, "total", {}, STATIC),
        (of_other, "most", {}, STATIC),
        (and_sets, "least", {}, STATIC),
        (one, "least", {"cond": allowed}, STATIC),
        (one, "least", {"cond": without_value}, LEVEL),
        (one_more, "least", {"cond": without_value}, LEVEL),
        (by_number, "least", {"cond": without_value}, LEVEL),
        (if_small, "least", {"cond": without_value}, LEVEL),
        (by_iteration, "least", {"cond": without_value}, LEVEL),
        (one_more, "least", {}, MONOTONE),
        (one_more, "least", {"cond": allowed}, MONOTONE),
        (by_number, "least", {}, MONOTONE),
        (through_edge, "least", {}, MONOTONE),
        (narrowed, "most", {}, MONOTONE),
        (by_helper, "least", {}, MONOTONE),
        (if_heavy, "least", {}, MONOTONE),
        (some_bits, "bits", {}, MONOTONE),
        (picky, "least", {}, MONOTONE),
        (one_more, "least", {"cond": nearly}, None),
        (through_edge, "least", {"cond": without_value}, None),
        (if_small, "least", {}, None),
        (negative, "least", {}, None),
        (times_weight, "most", {}, None),
        (looked_up, "least", {}, None),
        (with_neighbor, "most", {}, None),
        (counted_bits, "bits", {}, None),
        (own_total, "total", {}, None),
        (own_first, "first", {}, None),
        (by_iteration, "least", {}, None),
        (and_counts, "least", {}, None),
        (is_own_parent, "least", {"record_source": "parent"}, None),
    ],
)
def test_what_is_proven(functor, into, more, kind) -> None:
    assert order_of(Advance(functor, into, **more), FIELDS, ("step", "num_vertices")) == kind
