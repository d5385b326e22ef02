"""Sums by deltas: PageRank by residuals, and what else a user may write so.

Ranks are those of the bulk-synchronous program to 1e-9 in L1: each is within half of that of the
true ones, since what is left is at most ``damping / (1 - damping) * tol``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import broadfront as bf
from broadfront.algorithms.residual_push import PUSH
from zoo import ZOO, Animal, edges

DEVICES = [1, 2, 3, 4, 8]
TOL = 8e-11
WAYS = ["async", bf.Async(packet=2, slots=1), bf.Async(band=0), bf.Async(fused=False)]
BY: list[Any] = ["random", "range", "metis", "static"]


def same_ranks(graph: bf.Graph, where: dict[str, Any], **options: Any) -> None:
    expected = bf.pagerank(graph, tol=TOL, threads=1, **options)
    found = bf.pagerank(graph, tol=TOL, **where, **options)
    assert np.abs(found.rank - expected.rank).sum() <= 1e-9
    assert found.change < TOL
    assert (found.converged, found.iterations) == (True, 0)
    found.verify()
    work = found.report.work
    assert (work.produced == work.consumed).all()
    assert work.received.sum() == sum(one.sent_vertices.sum() for one in found.report.devices)


def test_the_zoo() -> None:
    for number, animal in enumerate(ZOO.values()):
        graph = animal._replace(weight=None).graph()
        for turn, devices in enumerate(DEVICES):
            where = {
                "devices": devices, "execution": WAYS[(number + turn) % 4],
                "partitioner": BY[(number + turn) % 4],
            }  # fmt: skip
            jump = None if turn % 2 or not graph.num_vertices else {graph.labels[-1]: 1.0}
            dangling = ("redistribute", "drop")[(number + turn) % 2]
            same_ranks(graph, where, personalization=jump, dangling=dangling)


@settings(max_examples=20)
@given(animal=edges(), devices=st.sampled_from(DEVICES), by=st.sampled_from(BY),
       way=st.sampled_from(WAYS))  # fmt: skip
def test_any_graph(animal: Animal, devices: int, by: Any, way: Any) -> None:
    graph = animal._replace(weight=None).graph()
    same_ranks(graph, {"devices": devices, "execution": way, "partitioner": by})


def test_weights() -> None:
    rng = np.random.default_rng(5)
    tails, heads = rng.integers(0, 40, (2, 120))
    weight = rng.integers(0, 4, 120).astype(np.float64)
    graph = bf.from_edges(tails, heads, weight=weight, num_vertices=42)
    for devices in DEVICES:
        same_ranks(graph, {"devices": devices, "execution": "async"}, weighted=True)


def test_ids_that_are_kept() -> None:
    graph = bf.generate("kron:8:4:seed=2")
    same_ranks(graph, {"devices": 3, "execution": "async", "relabel": False})


def test_real_graphs(real_graphs: Any) -> None:
    for name, by in (("karate", "metis"), ("lesmis", "range")):
        graph = bf.read(real_graphs / f"{name}.graph")
        for devices in DEVICES:
            same_ranks(graph, {"devices": devices, "execution": "async", "partitioner": by})


def test_nothing_is_lost() -> None:
    """What is handed on and what was ranked add up to what there was, whatever the damping."""
    graph = bf.generate("cycle:64")
    begin = np.zeros(64)
    begin[:8] = 0.125
    answer = bf.run(
        PUSH, graph, frontier=np.arange(8), init={"residual": begin}, devices=4,
        parameters={"damping": 0.5, "epsilon": 1e-6}, execution=bf.Async(packet=1, slots=1),
    )  # fmt: skip
    there = answer["rank"].sum() * 0.5 + answer["residual"].sum()
    assert there == pytest.approx(1.0, abs=1e-14)
    assert answer["residual"].max() <= 1e-6


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"damping": 1.0}, "nobody jumps"),
        ({"tol": 0.0}, "give a tol above 0"),
        ({"max_iterations": 7}, "has no iterations"),
    ],
    ids=["without jumps", "no tolerance", "so many iterations"],
)
def test_what_is_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(bf.OptionError, match=why) as caught:
        bf.pagerank(bf.generate("path:6"), devices=2, execution="async", **options)
    assert "bsp" in str(caught.value)
