"""What joins the next frontier, and what happens where it would not fit."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Field, Phase, Program
from broadfront.backends.cpu.operators.frontier import SLACK

THREADS = [1, 2, 4]


def one(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return 1


def always(vertex, before, after, state):  # type: ignore[no-untyped-def]
    return True


def counting(times: int, **options: object) -> Program:
    step = Advance(one, into="count", **options)  # type: ignore[arg-type]
    field = Field(np.int64, combine="sum")
    return Program({"count": field}, phases=[Phase([step], limit=times)])


@pytest.mark.parametrize("balance", ["by_vertex", "by_degree", "by_edges"])
@pytest.mark.parametrize("threads", THREADS)
def test_a_vertex_joins_once_however_many_arcs_lead_to_it(threads: int, balance: str) -> None:
    """Once for every arc would be far more often than there are places in the queue."""
    graph = bf.generate("kron:10")
    everyone = np.arange(graph.num_vertices)
    program = counting(3, activate=always, balance=balance)
    answer = bf.run(program, graph, frontier=everyone, threads=threads)
    assert graph.num_arcs > 2 * (graph.num_vertices + SLACK)
    assert answer["count"].tolist() == (3 * graph.degrees).tolist()
    assert answer.frontier.tolist() == np.flatnonzero(graph.degrees).tolist()
    assert answer.record.frontier.max() <= graph.num_vertices + SLACK


def test_a_hub_that_twenty_arcs_lead_to_is_walked_once() -> None:
    leaves = 6000
    graph = bf.from_edges(
        [*[0] * leaves, *range(1, 21)], [*range(1, leaves + 1), *[0] * 20], directed=True
    )
    answer = bf.run(counting(2, activate=always), graph, frontier=np.arange(1, 21), threads=2)
    assert answer["count"][0] == 20
    assert answer["count"][1:].tolist() == [1] * leaves


@pytest.mark.parametrize("threads", THREADS)
def test_a_vertex_whose_sum_grows_again_joins_again(threads: int) -> None:
    answer = bf.run(counting(6), bf.generate("cycle:8"), frontier=[0], threads=threads)
    assert answer.record.frontier.tolist() == [1, 2, 3, 4, 4, 4]
    assert answer["count"].sum() == 2 * (1 + 2 + 3 + 4 + 4 + 4)
