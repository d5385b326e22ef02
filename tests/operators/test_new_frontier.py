"""A Filter over all vertices makes a frontier anew, whatever there was."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from zoo import ZOO

WHERE = [
    {"devices": "python"}, {"threads": 1}, {"threads": 2},
    *({"devices": count, "partitioner": how} for count, how in
      [(2, "range"), (3, "random"), (4, "biased"), (3, "static")]),
]  # fmt: skip


def is_third(vertex, state):
    return state.ids[vertex] % 3 == 0


def one_more(vertex, state):
    state.seen[vertex] += 1


def from_source(source, neighbor, edge, state):
    return state.ids[source] + 1


def wants_more(vertex, state):
    return state.label[vertex] < 1 << 40


CHOOSE = bf.Program(
    {"seen": bf.Field(np.int64)},
    phases=[
        bf.Phase([bf.Filter(is_third, over="vertices"), bf.Compute(one_more, over="frontier")])
    ],
)
SPREAD = bf.Program(
    {"label": bf.Field(np.int64, combine="max"), "seen": bf.Field(np.int64)},
    phases=[
        bf.Phase([bf.Advance(from_source, into="label", cond=wants_more)], limit=2),
        bf.Phase([bf.Filter(is_third, over="vertices"), bf.Compute(one_more, over="frontier")]),
        bf.Phase([bf.Advance(from_source, into="label")], limit=1),
        bf.Phase([bf.Compute(one_more, over="frontier")]),
    ],
)


@pytest.mark.parametrize("name", ["empty", "one vertex", "star", "path", "tail isolated"])
def test_all_vertices_are_asked_and_nobody_else_is_left(name: str) -> None:
    graph = ZOO[name].graph()
    expected = np.flatnonzero(np.arange(graph.num_vertices) % 3 == 0)
    for where in WHERE:
        answer = bf.run(CHOOSE, graph, frontier=[0] if graph.num_vertices else [], **where)
        np.testing.assert_array_equal(answer.frontier, expected, str(where))
        assert answer["seen"].nonzero()[0].tolist() == expected.tolist(), where
        assert answer["seen"].max(initial=0) <= 1


def test_an_advance_goes_on_from_the_new_frontier() -> None:
    """Marks and bitmaps of what was in the frontier before are forgotten."""
    for graph in (bf.generate("kron:9"), ZOO["star"].graph(), ZOO["directed cycle"].graph()):
        how = {"frontier": range(graph.num_vertices)}
        expected = bf.run(SPREAD, graph, **how, devices="python")
        for where in WHERE[1:]:
            found = bf.run(SPREAD, graph, **how, **where)
            np.testing.assert_array_equal(found["label"], expected["label"], str(where))
            np.testing.assert_array_equal(found["seen"], expected["seen"], str(where))


def test_what_it_is_over_is_one_of_two() -> None:
    with pytest.raises(bf.OptionError, match="over='edges'"):
        bf.Filter(is_third, over="edges")
