"""Phases that loop: rounds inside rounds, and how they end."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from zoo import ZOO

WHERE = [{"devices": "python"}, {"threads": 1}, {"threads": 2}, {"devices": 3}]


def begin(state):
    state.inner[0] = 0


def count_inner(state):
    state.inner[0] += 1


def count_outer(state):
    state.outer[0] += 1


def often_enough(state):
    return state.iteration == state.outer[0] and state.inner[0] > state.outer[0]


def add(vertex, state):
    state.times[vertex] += 1


def everybody(vertex, state):
    return True


def is_later(vertex, state):
    return state.ids[vertex] >= state.outer[0]


def never(state):
    return state.outer[0] < 0


FIELDS = {
    "times": bf.Field(np.int64),
    "inner": bf.Field(np.int64, length=1),
    "outer": bf.Field(np.int64, length=1),
}
INSIDE = bf.Repeat(
    [bf.Phase([bf.Compute(add)]), bf.Phase([bf.Once(count_inner)])], until=often_enough
)
NESTED = bf.Program(
    FIELDS,
    phases=[
        bf.Repeat([bf.Phase([bf.Once(begin)]), INSIDE, bf.Phase([bf.Once(count_outer)])], limit=4),
        bf.Phase([bf.Filter(everybody, over="vertices")]),
        bf.Repeat([
            bf.Phase([bf.Filter(is_later), bf.Compute(add, over="frontier")]),
            bf.Phase([bf.Once(count_outer)]),
        ]),
    ],
)  # fmt: skip
"""Rounds of 1, 2, 3 and 4 rounds; then all from the 4th vertex on, all from the 5th, until none."""
ENDLESS = bf.Program(
    FIELDS, phases=[bf.Repeat([bf.Phase([bf.Compute(add)]), bf.Phase([bf.Once(begin)])], never)]
)


@pytest.mark.parametrize("name", ["path", "one vertex", "empty"])
def test_rounds_inside_rounds_and_until_the_frontier_is_empty(name: str) -> None:
    graph = ZOO[name].graph()
    size = graph.num_vertices
    expected = 10 + np.maximum(0, np.arange(size) - 3)
    for where in WHERE:
        answer = bf.run(NESTED, graph, **where)
        np.testing.assert_array_equal(answer["times"], expected, str(where))
        last = max(1, size - 3)
        assert answer["outer"][0] == 4 + last, where
        assert len(answer.frontier) == 0
        assert answer.record.iterations == 4 + 10 + 10 + 4 + 1 + 2 * last, where


def test_each_source_has_rounds_of_its_own() -> None:
    rows = bf.run_each(NESTED, ZOO["path"].graph(), frontier=[0, 3])["times"]
    np.testing.assert_array_equal(rows, 2 * [10 + np.maximum(0, np.arange(51) - 3)])


def test_a_time_limit_ends_rounds() -> None:
    graph = ZOO["path"].graph()
    for where in WHERE:
        with pytest.raises(bf.TimeLimitError):
            bf.run(ENDLESS, graph, time_limit=0.05, **where)


def test_what_would_never_end_is_refused() -> None:
    with pytest.raises(bf.OptionError, match="needs until or limit"):
        bf.Program(FIELDS, phases=[bf.Repeat([bf.Phase([bf.Compute(add)])])])
    with pytest.raises(bf.OptionError, match="limit=-1 is not a number of rounds"):
        bf.Repeat([bf.Phase([bf.Compute(add)])], limit=-1)
    with pytest.raises(bf.OptionError, match="a Repeat needs phases"):
        bf.Repeat([])
    with pytest.raises(bf.OptionError, match="is no Phase"):
        bf.Program(FIELDS, phases=[bf.Repeat([bf.Compute(add)], limit=2)])
    with pytest.raises(bf.FunctorError, match="until= is 3"):
        bf.Program(FIELDS, phases=[bf.Repeat([bf.Phase([bf.Compute(add)])], until=3)])
