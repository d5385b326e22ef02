"""Right ranks pass; each kind of wrong one is caught by its rule."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.errors import OptionError, VerificationError
from broadfront.verify import verify_pagerank
from zoo import Animal, edges

# 0 -> 1 -> 2 -> 0, 2 -> 3, and 3 is dangling
HOUSE = bf.from_edges([0, 1, 2, 2], [1, 2, 0, 3], weight=[1.0, 1.0, 3.0, 1.0])


def right(
    graph: bf.Graph,
    damping: float = 0.85,
    tol: float = 1e-6,
    most: int = 10_000,
    goal: np.ndarray | None = None,
    drop: bool = False,
    weighted: bool = False,
) -> np.ndarray:
    """Iterate with a dense matrix until the L1 change is below `tol`."""
    size = graph.num_vertices
    matrix = np.zeros((size, size))
    ones = np.ones(graph.num_arcs)
    matrix[graph.sources(), graph.targets] = graph.weights if weighted else ones
    out = matrix.sum(axis=1)
    matrix[out > 0] /= out[out > 0, None]
    goal = np.full(size, 1.0 / max(1, size)) if goal is None else goal / goal.sum()
    rank = np.full(size, 1.0 / max(1, size))
    for _ in range(most):
        lost = 0.0 if drop else rank[out == 0].sum()
        last, rank = rank, damping * (rank @ matrix + lost * goal) + (1 - damping) * goal
        if np.abs(rank - last).sum() < tol:
            break
    return rank


@pytest.mark.parametrize("tol", [1e-2, 1e-6, 1e-14])
def test_right_answers_on_the_zoo(animal: Animal, tol: float) -> None:
    graph = animal.graph()
    verify_pagerank(graph, right(graph, tol=tol), 0.85, tol)
    verify_pagerank(graph, right(graph, 0.5, tol, drop=True), 0.5, tol, dangling="drop")


@given(edges(weighted=True), st.booleans(), st.sampled_from([0.0, 0.5, 0.85, 0.99]), st.data())
def test_right_answers_on_any_graph(
    animal: Animal, drop: bool, damping: float, data: st.DataObject
) -> None:
    weight = [round(value) for value in animal.weight or []]
    graph = animal._replace(weight=weight).graph()
    size = graph.num_vertices
    numbers = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    goal = data.draw(st.none() | numbers.map(lambda it: np.array(it, float)))
    tol = data.draw(st.sampled_from([1e-3, 1e-6, 1e-13]))
    weighted = data.draw(st.booleans())
    rank = right(graph, damping, tol, goal=goal, drop=drop, weighted=weighted)
    dangling = "drop" if drop else "redistribute"
    verify_pagerank(graph, rank, damping, tol, goal, dangling, weighted)


@given(edges(weighted=False))
def test_networkx_is_right(animal: Animal) -> None:
    graph = animal.graph()
    size = graph.num_vertices
    found = nx.pagerank(graph.to_networkx(), tol=1e-9 / size, max_iter=1000)
    verify_pagerank(graph, [found[vertex] for vertex in range(size)], 0.85, 1e-9)


def test_the_bound_is_sharp() -> None:
    graph = bf.from_edges([0, 1], [1, 0])  # a perturbation shrinks by exactly the damping
    tol, damping = 1e-3, 0.8
    for share, fine in ((0.999, True), (1.001, False)):
        off = share * damping * tol / (1 + damping) / 2  # one step changes this by share * bound
        rank = np.array([0.5 + off, 0.5 - off])
        if fine:
            verify_pagerank(graph, rank, damping, tol)
        else:
            with pytest.raises(VerificationError, match="one more iteration changes little"):
                verify_pagerank(graph, rank, damping, tol)


def test_float32() -> None:
    graph = bf.generate("kron:8")
    verify_pagerank(graph, right(graph, tol=1e-9).astype(np.float32), 0.85, 1e-6)


def test_stopped_ranks_are_held_to_their_iterations() -> None:
    graph = bf.generate("path:30")
    rank = right(graph, most=20)
    verify_pagerank(graph, rank, 0.85, 1e-6, converged=False, iterations=20)
    verify_pagerank(graph, rank, 0.85, 1e-6, converged=False)
    with pytest.raises(VerificationError, match="one more iteration changes little"):
        verify_pagerank(graph, rank, 0.85, 1e-6)
    rank = np.eye(30)[3]
    with pytest.raises(VerificationError, match="vertex 3 changes most"):
        verify_pagerank(graph, rank, 0.85, 1e-6, converged=False, iterations=20)


@pytest.mark.parametrize(
    ("vertex", "change", "rule"),
    [
        (0, 1e-4, "ranks sum to 1: sum 1.0001"),
        (0, np.nan, "numbers, zero or more: vertex 0: rank nan"),
        (2, np.inf, "numbers, zero or more: vertex 2: rank inf"),
        (3, -1.0, "numbers, zero or more: vertex 3: rank -0"),
    ],
)
def test_wrong_ranks(vertex: int, change: float, rule: str) -> None:
    rank = right(HOUSE)
    rank[vertex] += change
    with pytest.raises(VerificationError, match=rule):
        verify_pagerank(HOUSE, rank, 0.85, 1e-6)


def test_a_perturbation_that_keeps_the_sum_is_caught() -> None:
    rank = right(HOUSE)
    rank[0] += 1e-5
    rank[3] -= 1e-5
    with pytest.raises(VerificationError, match="one more iteration .* vertex 0 changes most"):
        verify_pagerank(HOUSE, rank, 0.85, 1e-6)
    swapped = right(HOUSE)[[1, 0, 2, 3]]
    with pytest.raises(VerificationError, match="one more iteration"):
        verify_pagerank(HOUSE, swapped, 0.85, 1e-6)


def test_the_answer_to_another_question_is_caught() -> None:
    goal = np.array([1.0, 0, 0, 0])
    for rank in (
        right(HOUSE, damping=0.9),
        right(HOUSE, goal=goal),
        right(HOUSE, weighted=True),
        right(HOUSE, tol=1e-2),
    ):
        with pytest.raises(VerificationError, match="one more iteration"):
            verify_pagerank(HOUSE, rank, 0.85, 1e-6)
    with pytest.raises(VerificationError, match="ranks sum to 1:"):
        verify_pagerank(HOUSE, right(HOUSE, drop=True), 0.85, 1e-6)
    with pytest.raises(VerificationError, match="one more iteration"):
        verify_pagerank(HOUSE, right(HOUSE), 0.85, 1e-6, dangling="drop")
    with pytest.raises(VerificationError, match="sum to 1 at most"):
        verify_pagerank(HOUSE, right(HOUSE) * 1.01, 0.85, 1e-6, dangling="drop")


def test_form() -> None:
    with pytest.raises(VerificationError, match="one entry per vertex"):
        verify_pagerank(HOUSE, [0.5, 0.5], 0.85, 1e-6)
    with pytest.raises(VerificationError, match="dtype: rank has dtype int64"):
        verify_pagerank(HOUSE, [1, 0, 0, 0], 0.85, 1e-6)
    rank = right(HOUSE)
    with pytest.raises(OptionError, match="dangling 'keep'"):
        verify_pagerank(HOUSE, rank, 0.85, 1e-6, dangling="keep")
    for goal in ([1.0], [0.0, 0, 0, 0], [1.0, -1, 1, 1], [np.nan, 0, 0, 1]):
        with pytest.raises(OptionError, match="personalization"):
            verify_pagerank(HOUSE, rank, 0.85, 1e-6, goal)
