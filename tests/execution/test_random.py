"""`bf.random` in functors: the same on every device, and in Python."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, FunctorError, Program
from broadfront.backends.cpu.loop.fused import fused
from broadfront.digest import digest_of


def draw(vertex, state):  # type: ignore[no-untyped-def]
    state.luck[vertex] = bf.random(state.seed, state.ids[vertex], 3)


def by_luck(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return bf.random(state.seed, state.ids[source], state.ids[neighbor])


FIELDS = {"luck": Field(np.float64), "best": Field(np.float64, combine="max")}
LUCKY = Program(FIELDS, step=[Compute(draw), Advance(by_luck, into="best")], parameters=["seed"])


def test_the_same_everywhere() -> None:
    graph = bf.generate("kron:6")
    everyone = np.arange(graph.num_vertices)
    told = {"frontier": everyone, "parameters": {"seed": 5}}
    wanted = bf.run(LUCKY, graph, **told, devices="python")
    assert wanted["luck"].tolist() == [bf.random(5, vertex, 3) for vertex in everyone.tolist()]
    for where in [{"threads": 1}, {"threads": 2}] + [
        {"devices": count, "partitioner": partitioner}
        for count in (2, 3, 4)
        for partitioner in ("random", "range", "biased")
    ]:
        answer = bf.run(LUCKY, graph, **told, **where)
        for name in FIELDS:
            assert (answer[name] == wanted[name]).all()


def test_its_loop_is_kept_on_disk() -> None:
    names = LUCKY.state_names
    assert digest_of(fused(LUCKY, names))[0] == digest_of(fused(LUCKY, names))[0]


def of_vertex(vertex, state):  # type: ignore[no-untyped-def]
    state.luck[vertex] = bf.random(1, vertex, 0)


def of_edge(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return bf.random(1, source, edge)


def test_a_run_keeps_ids_where_it_is_given_numbers_of_vertices() -> None:
    program = Program(FIELDS, step=[Compute(of_vertex)])
    answer = bf.run(program, bf.generate("path:6"), devices=2)
    assert answer["luck"].tolist() == [bf.random(1, vertex, 0) for vertex in range(6)]


def test_numbers_of_edges_are_not_its_arguments() -> None:
    program = Program(FIELDS, step=[Advance(of_edge, into="best")])
    with pytest.raises(FunctorError, match="gives random the number of an edge"):
        bf.run(program, bf.generate("path:6"), frontier=[0], devices=2)
