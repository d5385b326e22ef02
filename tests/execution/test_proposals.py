"""Functors that change neighbours, on many devices: copies go to their owners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import atomics
from broadfront.errors import OptionError
from broadfront.execution.program import Phase, Program
from broadfront.execution.run import run
from broadfront.operators.describe import Compute, Field, Levels, Reduce

FAR = 1 << 40
DEVICES = [(2, "random", 1), (3, "range", 2), (8, "static", 1)]


def same_as_alone(program: Program, graph: bf.Graph, **options: Any) -> None:
    alone, together = run(program, graph), run(program, graph, **options)
    for name in program.fields:
        np.testing.assert_array_equal(alone[name], together[name], err_msg=name)


def tell_neighbours(vertex, state):
    own = state.ids[vertex]
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        other = state.targets[edge]
        atomics.add(state.total, other, own + 1)
        atomics.add(state.real, other, 0.5)
        atomics.minimum(state.least, other, own)
        atomics.maximum(state.most, other, own)
        atomics.bitwise_or(state.bits, other, np.uint32(1) << np.uint32(own % 32))
        atomics.compare_and_swap(state.told, other, 0, 1)


TOLD = Program(
    {
        "total": Field(np.int64, combine="sum"),
        "real": Field(np.float64, fill=2.0, combine="sum"),
        "least": Field(np.int32, fill=1 << 30, combine="min"),
        "most": Field(np.int64, fill=-1, combine="max"),
        "bits": Field(np.uint32, combine="or"),
        "told": Field(np.uint8, combine="any"),
    },
    [Compute(tell_neighbours)],
    unordered=True,
)


def one_more(source, neighbor, edge, state):
    return 1


COUNTED = Program(
    {"count": Field(np.int64, combine="sum")},
    phases=[Phase([bf.Advance(one_more, into="count")], limit=1)],
)


@pytest.mark.parametrize("relabel", [True, False])
def test_what_copies_begin_with_is_not_added_again(relabel: bool) -> None:
    graph, how = bf.generate("path:6"), {"frontier": [1, 2], "init": {"count": {0: 5, 2: 7, 3: 9}}}
    where = {"devices": 2, "partitioner": "static", "relabel": relabel}
    assert run(COUNTED, graph, **how)["count"].tolist() == [6, 1, 8, 10, 0, 0]
    assert run(COUNTED, graph, **how, **where)["count"].tolist() == [6, 1, 8, 10, 0, 0]


def begin_again(vertex, state):
    state.least[vertex] = FAR + state.seen[vertex]


def add_and_offer(vertex, state):
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        other = state.targets[edge]
        atomics.add(state.total, other, 1)
        atomics.minimum(state.least, other, state.ids[vertex] + state.seen[vertex])


def look(vertex, state):
    seen = state.seen[vertex] % 1000
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        seen += state.total[state.targets[edge]] + state.least[state.targets[edge]] % 17
    state.seen[vertex] = seen


AGAIN = Program(
    {
        "total": Field(np.int64, fill=3, combine="sum"),
        "least": Field(np.int64, fill=FAR, combine="min"),
        "seen": Field(np.int64),
    },
    phases=[Phase([Compute(begin_again), Compute(add_and_offer), Compute(look)], limit=4)],
    unordered=True,
)


def one(neighbor, vertex, edge, state):
    return 1.0


def pass_on(vertex, total, state):
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        atomics.add(state.degrees, state.targets[edge], np.int64(total))


def give_level(vertex, state):
    state.level[vertex] = state.ids[vertex] % 3


GATHERED = Program(
    {"level": Field(np.int64), "degrees": Field(np.int64, combine="sum")},
    phases=[
        Phase([Reduce(one, pass_on)]),
        Phase([Compute(give_level)]),
        Phase([Levels(one, pass_on, by="level")]),
    ],
    unordered=True,
)


@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize("program", [TOLD, AGAIN, GATHERED], ids=["told", "again", "gathered"])
def test_neighbours_are_changed_as_on_one_device(program, relabel):
    graphs = [bf.generate(spec) for spec in ("kron:9", "grid:9x9", "star:40", "path:2")]
    directed = bf.from_edges([0, 1, 2, 2, 4, 5], [1, 2, 0, 3, 0, 5], num_vertices=7, directed=True)
    for graph in [*graphs, directed]:
        for devices, partitioner, threads in DEVICES:
            same_as_alone(
                program, graph, devices=devices, partitioner=partitioner, threads=threads,
                relabel=relabel,
            )  # fmt: skip


def add_if_few(vertex, state):
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        if state.total[state.targets[edge]] < 5:
            atomics.add(state.total, state.targets[edge], 1)


def test_a_sum_is_not_asked_for_while_it_adds_up():
    program = Program({"total": Field(np.int64, combine="sum")}, [Compute(add_if_few)])
    with pytest.raises(OptionError, match="adds up proposals and is asked of neighbours"):
        run(program, bf.generate("grid:3x3"), devices=2)
