"""A Reduce over the frontier does for its vertices what one over all does, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf

GRAPH = bf.generate("rmat:8:8:directed=yes:weights=1-9:seed=3")


def offer(neighbor, vertex, edge, state):
    return state.value[neighbor] * state.weight[edge]


def keep(vertex, total, state):
    state.total[vertex] = total


FIELDS = {"value": bf.Field(np.float64), "total": bf.Field(np.float64, fill=-1)}
PROGRAMS = {
    side: bf.Program(FIELDS, step=[bf.Reduce(offer, keep, along=side, over="frontier")])
    for side in ("in", "out")
}


@pytest.mark.parametrize(
    ("where", "sides"),
    [
        ({"devices": "python"}, ("in", "out")),
        ({"threads": 2}, ("in", "out")),
        ({"devices": 3, "partitioner": "range"}, ("in",)),
    ],
)
def test_only_the_frontier_hears(where: dict[str, Any], sides: tuple[str, ...]) -> None:
    value = np.arange(GRAPH.num_vertices, dtype=float)
    frontier = np.flatnonzero(value % 3 == 1)
    matrix = GRAPH.to_scipy()
    for side in sides:
        answer = bf.run(PROGRAMS[side], GRAPH, frontier=frontier, init={"value": value}, **where)
        heard = value @ matrix if side == "in" else matrix @ value
        expected = np.where(value % 3 == 1, heard, -1)
        np.testing.assert_allclose(answer["total"], expected)
        if where == {"threads": 2}:
            degrees = (matrix.T if side == "in" else matrix).tocsr()[frontier].nnz
            assert answer.record.edges_visited == degrees


def of_neighbor(neighbor, state):
    return state.value[neighbor]


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(bf.OptionError, match="neighbor, vertex, edge, state"):
        bf.Reduce(of_neighbor, keep, over="frontier")
    with pytest.raises(bf.OptionError, match="takes no sums"):
        bf.Reduce(offer, keep, over="frontier", sums=("total",))
    with pytest.raises(bf.OptionError, match="over='edges'"):
        bf.Reduce(offer, keep, over="edges")
