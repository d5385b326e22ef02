"""An iteration sees the iterations before it, on all devices; a vertex enters the frontier once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.errors import FunctorError, OptionError
from broadfront.execution.synchronous import choices, meaning_of
from zoo import ZOO

FAR = 2**30
WHERE: list[dict[str, Any]] = [
    {"threads": 1},
    {"threads": 2},
    {"devices": 2, "partitioner": "random", "threads": 1},
    {"devices": 3, "partitioner": "range", "threads": 1},
    {"devices": 4, "partitioner": "static", "threads": 2},
]
LEAST = bf.Field(np.int32, fill=FAR, combine="min")


def check_everywhere(program: bf.Program, graph: bf.Graph, **how: Any) -> bf.Answer:
    """Compare all devices with plain Python; return the answer of that."""
    expected = bf.run(program, graph, **how, devices="python")
    for where in WHERE:
        answer = bf.run(program, graph, **how, **where)
        assert list(answer.fields) == list(program.fields)
        for name in program.fields:
            np.testing.assert_allclose(
                answer[name], expected[name], rtol=1e-12, err_msg=f"{name} {where}"
            )
        assert answer.frontier.tolist() == expected.frontier.tolist(), where
    return expected


def one_more(source, neighbor, edge, state):
    return state.hops[source] + 1


def unreached(vertex, state):
    return state.hops[vertex] == FAR


WITHIN_TWO = bf.Program(
    {"hops": LEAST}, phases=[bf.Phase([bf.Advance(one_more, into="hops")], limit=2)]
)
SEARCH = bf.Program(
    {"hops": LEAST}, phases=[bf.Phase([bf.Advance(one_more, into="hops", cond=unreached)], limit=9)]
)


def test_a_limit_counts_edges() -> None:
    path = bf.generate("path:5")
    start = {"frontier": [0], "init": {"hops": {0: 0}}}
    assert check_everywhere(WITHIN_TWO, path, **start)["hops"].tolist() == [0, 1, 2, FAR, FAR]
    for animal in ZOO.values():
        graph = animal.graph()
        if graph.num_vertices:
            check_everywhere(WITHIN_TWO, graph, **start)
    check_everywhere(WITHIN_TWO, bf.generate("kron:9"), **start)


def test_a_limit_counts_edges_from_each_source_and_by_hand() -> None:
    graph = bf.generate("grid:9x9")
    sources = [0, 40, 80]
    rows = bf.run_each(
        WITHIN_TWO, graph, frontier=sources, init={"hops": dict.fromkeys(sources, 0)}
    )["hops"]
    for row, source in zip(rows, sources, strict=True):
        alone = bf.run(
            WITHIN_TWO, graph, frontier=[source], init={"hops": {source: 0}}, devices="python"
        )
        assert row.tolist() == alone["hops"].tolist()
    for threads in (1, 2):
        search = bf.explore(bf.generate("path:5"), {"hops": LEAST}, threads=threads)
        search["hops"][:3] = 0, 5, 9
        assert search.advance([0, 1, 2], one_more, into="hops").tolist() == [1, 2, 3]
        assert search["hops"].tolist() == [0, 1, 6, 10, FAR]


def not_back(source, neighbor, edge, state):
    return state.distance[source] + state.weight[edge] * (state.parent[source] != -1)


def test_a_search_by_levels_is_left_as_it_is_where_it_begins_alike() -> None:
    graph = bf.generate("kron:9")
    for values in ({1: 0, 2: 0}, {1: 0, 2: 1}, {1: 0}):
        how: dict[str, Any] = {"frontier": [1, 2], "init": {"hops": values}}
        check_everywhere(SEARCH, graph, **how)
        quick = meaning_of(SEARCH, graph, how["frontier"], how["init"]).program is SEARCH
        assert quick == (values == {1: 0, 2: 0})
    rows = bf.run_each(SEARCH, graph, frontier=[1, 2], init={"hops": {1: 0, 2: FAR}})["hops"]
    assert rows[1].tolist() == [FAR] * graph.num_vertices


def own(source, neighbor, edge, state):
    return state.value[source]


def count_visit(vertex, state):
    state.visits[vertex] += 1


def test_messages_of_an_iteration_arrive_in_the_next() -> None:
    program = bf.Program(
        {"value": bf.Field(np.int64, combine="sum"), "visits": bf.Field(np.int64)},
        phases=[bf.Phase(
            [bf.Advance(own, into="value"), bf.Compute(count_visit, over="frontier")], limit=3
        )],
    )  # fmt: skip
    for graph in (bf.generate("star:6"), bf.generate("kron:7")):
        value = np.arange(graph.num_vertices) + 1
        everyone = range(graph.num_vertices)
        check_everywhere(program, graph, frontier=everyone, init={"value": value})


def settle(vertex, state):
    degree = state.offsets[vertex + 1] - state.offsets[vertex]
    state.rank[vertex] += 0.15 * state.residual[vertex]
    state.share[vertex] = 0.85 * state.residual[vertex] / degree
    state.residual[vertex] = 0


def share(source, neighbor, edge, state):
    return state.share[source]


def is_much(vertex, before, after, state):
    state.asked[vertex] += 1
    return after > state.enough


PUSHED = bf.Program(
    {
        "rank": bf.Field(np.float64), "share": bf.Field(np.float64), "asked": bf.Field(np.int64),
        "residual": bf.Field(np.float64, combine="sum"),
    },
    step=[
        bf.Compute(settle, over="frontier"),
        bf.Advance(share, into="residual", activate=is_much),
    ],
    parameters=["enough"],
)  # fmt: skip


@pytest.mark.parametrize("spec", ["star:5", "kron:8", "grid:12x12:0"])
def test_a_residual_push_conserves_mass_and_asks_each_vertex_once(spec: str) -> None:
    graph = bf.generate(spec)
    source = int(np.argmax(graph.degrees))
    answer = check_everywhere(
        PUSHED, graph, frontier=[source], init={"residual": {source: 1.0}},
        parameters={"enough": 1e-3},
    )  # fmt: skip
    assert answer["rank"].sum() + answer["residual"].sum() == pytest.approx(1)
    assert answer["residual"].max() <= 1e-3


def one(source, neighbor, edge, state):
    return 1


def hand_on(source, neighbor, edge, state):
    return state.label[source]


def count_it(source, neighbor, edge, state):
    return 1


def test_nothing_counts_twice_what_two_threads_improve() -> None:
    program = bf.Program(
        {"label": bf.Field(np.int64, fill=FAR, combine="min"),
         "heard": bf.Field(np.int64, combine="sum")},
        phases=[bf.Phase([bf.Advance(hand_on, into="label"), bf.Advance(count_it, into="heard")],
                         limit=3)],
    )  # fmt: skip
    graph = bf.generate("kron:8")
    begin = np.arange(graph.num_vertices)
    some = begin[::3]
    label = np.where(begin % 3 == 0, begin, FAR)
    check_everywhere(program, graph, frontier=some, init={"label": label})


def is_open(vertex, state):
    return state.open[vertex] == 1


def turn_over(vertex, state):
    state.open[vertex] = 1 - state.open[vertex]


def test_who_wants_proposals_is_asked_anew() -> None:
    pull = bf.Advance(one, into="count", cond=is_open, direction="pull")
    program = bf.Program(
        {"count": bf.Field(np.int64, combine="sum"), "open": bf.Field(np.int64)},
        phases=[bf.Phase([pull, bf.Compute(turn_over)], limit=4)],
    )
    assert choices(program).quick.program is program
    graph = bf.generate("kron:6")
    vertices = np.arange(graph.num_vertices)
    check_everywhere(program, graph, frontier=vertices, init={"open": vertices % 2})


def test_at_most_three_edges_and_what_their_sources_were() -> None:
    program = bf.Program(
        {"distance": bf.Field(np.float64, fill=np.inf, combine="min"),
         "parent": bf.Field("vertex", fill=-1)},
        phases=[bf.Phase([bf.Advance(not_back, into="distance", record_source="parent")], limit=3)],
    )  # fmt: skip
    graph = bf.from_edges([0, 1, 2], [1, 2, 3], weight=[1, 2, 4])
    answer = check_everywhere(program, graph, frontier=[0, 1], init={"distance": {0: 0, 1: 5}})
    assert answer["distance"].tolist() == [0, 0, 2, 6]
    assert answer["parent"].tolist() == [-1, 0, 1, 2]
    assert choices(program).quick.program is not program


def backwards(source, neighbor, edge, state):
    return -state.hops[source]


def first(vertex, state):
    return state.hops[vertex]


def test_an_order_that_matters_is_refused_or_promised() -> None:
    def with_priority(functor: Any, **more: Any) -> bf.Program:
        return bf.Program(
            {"hops": LEAST}, step=[bf.Advance(functor, "hops", priority=first, **more)]
        )

    graph = bf.generate("path:5")
    how: dict[str, Any] = {"frontier": [0], "init": {"hops": {0: 0}}}
    for where in ({}, {"devices": 2}, {"devices": "python"}):
        with pytest.raises(
            OptionError, match=r"functor backwards has .* synchronous=False if it is"
        ):
            bf.run(with_priority(backwards), graph, **how, **where)
    assert choices(with_priority(one_more)).level is None
    assert choices(with_priority(backwards, synchronous=False)).level is None
    with pytest.raises(OptionError, match="synchronous=True: with a priority"):
        with_priority(one_more, synchronous=True)
    with pytest.raises(OptionError, match="synchronous='yes'"):
        bf.Program({"hops": LEAST}, step=[bf.Advance(one_more, "hops", synchronous="yes")])


def misspells(vertex, before, after, state):
    return state.hopps[vertex] > 0


def sets_it(source, neighbor, edge, state):
    state.hops[source] = 3
    return 7


def test_errors_name_what_the_user_wrote() -> None:
    graph = bf.generate("path:5")
    wrong = bf.Program({"hops": LEAST}, step=[bf.Advance(one_more, "hops", activate=misspells)])
    with pytest.raises(FunctorError, match=r"test_synchronous\.py, line \d+: functor misspells"):
        bf.run(wrong, graph, frontier=[0])
    wrong = bf.Program({"hops": LEAST}, step=[bf.Advance(sets_it, "hops")])
    with pytest.raises(FunctorError, match=r"functor sets_it proposes for state.hops and sets it"):
        bf.run(wrong, graph, frontier=[0])


def test_promised_and_proven_programs_are_run_as_they_are() -> None:
    for more in ({}, {"synchronous": False}):
        program = bf.Program({"hops": LEAST}, step=[bf.Advance(one_more, "hops", **more)])
        assert choices(program).quick.program is program
    told = bf.Program({"hops": LEAST}, step=[bf.Advance(one_more, "hops", synchronous=True)])
    assert choices(told).quick.program is not told
