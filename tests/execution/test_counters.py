"""`state.iteration` and `state.frontier_size`: the same numbers everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Filter, FunctorError, Levels, Once, Phase, Program
from broadfront import Reduce as ReduceOver

LATER = 2**30
NOTES = 40


def unreached(vertex, state):  # type: ignore[no-untyped-def]
    return state.when[vertex] == LATER or state.when[vertex] >= 1000 * state.iteration


def reach(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    """Propose something smaller now and then, so that a vertex improves twice in an iteration."""
    return 1000 * (state.iteration + 1) + state.ids[source] * 7 % 50 + state.frontier_size


def goes_on(vertex, before, after, state):  # type: ignore[no-untyped-def]
    return state.iteration < 6 and state.frontier_size > 0


def note(state):  # type: ignore[no-untyped-def]
    state.sizes[state.iteration] = state.frontier_size


def enough(state):  # type: ignore[no-untyped-def]
    state.sizes[20 + state.iteration] = state.frontier_size
    return state.iteration == 4


def stamp(vertex, state):  # type: ignore[no-untyped-def]
    state.stamps[vertex] += 1 + state.iteration * 10


def thin_out(vertex, state):  # type: ignore[no-untyped-def]
    return (state.ids[vertex] + state.iteration) % 3 > 0


def offer(neighbor, vertex, edge, state):  # type: ignore[no-untyped-def]
    return state.when[neighbor] % 97 + state.iteration


def take(vertex, total, state):  # type: ignore[no-untyped-def]
    state.total[vertex] += total + 1000 * state.iteration + state.frontier_size


def third(state):  # type: ignore[no-untyped-def]
    return state.iteration == 2


def gather(neighbor, vertex, edge, state):  # type: ignore[no-untyped-def]
    return 1.0 + state.iteration


def put(vertex, total, state):  # type: ignore[no-untyped-def]
    state.below[vertex] = total + state.frontier_size


def odd_iteration(state):  # type: ignore[no-untyped-def]
    return state.iteration % 2 == 1


def alone(vertex, state):  # type: ignore[no-untyped-def]
    return -1.0 * state.iteration


def by_level(vertex, state):  # type: ignore[no-untyped-def]
    state.level[vertex] = state.when[vertex] // 1000


FIELDS = {
    "when": Field(np.int64, fill=LATER, combine="min"),
    "sizes": Field(np.int64, length=NOTES),
    "stamps": Field(np.int64),
    "total": Field(np.int64),
    "level": Field(np.int64),
    "below": Field(np.float64),
}
WIDENING = Program(
    FIELDS,
    phases=[
        Phase(
            [Once(note), Filter(thin_out), Compute(stamp, over="frontier"),
             Advance(reach, into="when", cond=unreached, activate=goes_on, direction="push")],
            until=enough,
        ),
        Phase([ReduceOver(offer, take, identity=0)], until=third),
        Phase([Compute(by_level),
               Levels(gather, put, by="level", when=odd_iteration, instead=alone)], limit=2),
    ],
)  # fmt: skip
WHERE = [
    {"devices": count, "partitioner": partitioner}
    for count in (2, 3, 4)
    for partitioner in ("random", "range", "biased")
]


@pytest.mark.parametrize("spec", ["grid:9x8", "kron:7", "star:30"])
def test_the_same_everywhere(spec: str) -> None:
    graph = bf.generate(spec)
    told = {"frontier": [1, 2, 5], "init": {"when": {1: 0, 2: 0, 5: 0}}}
    wanted = bf.run(WIDENING, graph, **told, devices="python")
    assert wanted["sizes"][0] == 3
    for where in [{"threads": 1}, {"threads": 2}, *WHERE]:
        answer = bf.run(WIDENING, graph, **told, **where)
        for name in FIELDS:
            assert answer[name].tolist() == wanted[name].tolist(), (name, where)


def test_from_many_vertices() -> None:
    graph = bf.generate("grid:9x8")
    told = {"frontier": [1, 5, 11], "init": {"when": {1: 0, 5: 0, 11: 0}}}
    answer = bf.run_each(WIDENING, graph, **told, threads=2)
    for row, source in enumerate([1, 5, 11]):
        wanted = bf.run(
            WIDENING, graph, frontier=[source], init={"when": {source: 0}}, devices="python"
        )
        for name in FIELDS:
            assert answer[name][row].tolist() == wanted[name].tolist(), name


def test_a_deep_graph_on_one_thread_and_then_on_two() -> None:
    graph = bf.generate("path:3000")
    program = Program(
        {"when": FIELDS["when"], "most": Field(np.int64, length=2)},
        step=[Advance(hop, into="when", cond=nobody_came, direction="push"), Once(remember)],
    )
    told = {"frontier": [0, 100], "init": {"when": {0: 0, 100: 0}}}
    answer = bf.run(program, graph, **told, threads=2)
    assert answer["most"].tolist() == [2900, 3]
    assert answer["when"][2999] == 2899
    assert bf.run(program, graph, **told, devices=2)["most"].tolist() == [2900, 3]


def hop(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.iteration + 1


def nobody_came(vertex, state):  # type: ignore[no-untyped-def]
    return state.when[vertex] == LATER


def remember(state):  # type: ignore[no-untyped-def]
    state.most[0] = state.iteration + 1
    state.most[1] = max(state.most[1], state.frontier_size)


def first(vertex, state):  # type: ignore[no-untyped-def]
    return state.when[vertex]


def wants_early(vertex, state):  # type: ignore[no-untyped-def]
    return state.iteration < 3


@pytest.mark.parametrize(
    ("step", "instead"),
    [
        (Advance(hop, into="when", priority=first), r"hop reads state\.iteration.*leave priority"),
        (Advance(hop, into="when", cond=wants_early), r"wants_early reads .* direction='push'"),
    ],
)
def test_refused(step: Advance, instead: str) -> None:
    with pytest.raises(FunctorError, match=instead):
        Program(FIELDS, step=[step])


def test_names_that_are_taken() -> None:
    for name in ("iteration", "frontier_size"):
        with pytest.raises(bf.OptionError, match=name):
            Program({name: Field(np.int64)}, step=[Compute(stamp)])
