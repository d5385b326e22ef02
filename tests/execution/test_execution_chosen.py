"""What a run on several devices does when nobody names an execution, and what it says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.execution.asynchronous.choice import cut_share, is_deep


@pytest.mark.parametrize(
    ("spec", "deep"),
    [("path:40000", True), ("grid:30x2000", True), ("grid:150x150", True), ("kron:12", False),
     ("uniform:14:3", False)],
)  # fmt: skip
def test_depth_is_told_from_a_few_searches(spec: str, deep: bool) -> None:
    assert is_deep(bf.generate(spec)) == deep


def test_small_components_tell_nothing() -> None:
    tails = np.arange(0, 80_000, 2)
    assert not is_deep(bf.from_edges(tails, tails + 1))


def test_deep_graphs_in_good_parts_run_asynchronously() -> None:
    graph = bf.generate("grid:30x2000")
    where: dict[str, Any] = {"devices": 2, "threads": 1, "partitioner": "range"}
    found = bf.bfs(graph, 0, **where)
    assert found.report.execution == "async"
    assert "deep" in found.report.why
    assert found.report.totals()["why"] == found.report.why
    assert found.report.why in repr(found.report)
    asked = bf.bfs(graph, 0, **where, execution="bsp")
    assert (asked.report.execution, asked.report.why) == ("bsp", "")
    np.testing.assert_array_equal(found.depth, asked.depth)
    np.testing.assert_array_equal(found.depth, bf.bfs(graph, 0).depth)


def test_the_rest_runs_bulk_synchronously_and_says_why() -> None:
    deep, shallow = bf.generate("grid:30x2000"), bf.generate("kron:13")
    two: dict[str, Any] = {"devices": 2, "threads": 1}
    assert cut_share(bf.split(deep, 2, "random")) > 0.4
    for why, report in (
        ("many edges", bf.bfs(deep, 0, **two, partitioner="random").report),
        ("shallow", bf.bfs(shallow, 0, **two).report),
        ("small", bf.bfs(bf.generate("grid:20x20"), 0, **two).report),
        ("iterations", bf.bfs(deep, 0, target=5, **two).report),
    ):
        assert report.execution == "bsp"
        assert why in report.why
