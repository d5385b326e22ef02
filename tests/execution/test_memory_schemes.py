"""Memory that is just enough: minimal with growth, from a profile, fixed without checks.

`minimal` is what all other tests run with, and a profile runs the same loops; `fixed` has loops of
its own, so it is compared where that tells something. That no message is longer than the boxes of a
fixed run is compared for all programs.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.backends.cpu import alone, many
from broadfront.backends.cpu.memory.boxes import at_most
from broadfront.backends.cpu.operators import frontier
from broadfront.devices.profile import FIXED, MINIMAL
from broadfront.execution.plan import planned
from problems import PROBLEMS, Problem, same
from zoo import ZOO


def uneven(weighted: bool) -> bf.Graph:
    """Return a graph with hubs, islands, and a long tail."""
    hub = bf.generate("kron:9", seed=3)
    source = np.repeat(np.arange(hub.num_vertices), hub.degrees)
    tail = np.arange(512, 700)
    source = np.concatenate([[0], source, tail[:-1]])
    target = np.concatenate([[np.argmax(hub.degrees)], hub.targets, tail[1:]])
    weight = 1.0 + np.arange(len(source)) % 5 if weighted else None
    return bf.from_edges(source, target, weight, 720, directed=False)


def _united(graph: bf.Graph, **where: Any) -> dict[str, np.ndarray]:
    return bf.connected_components(graph, **where).columns()


def _triangles(graph: bf.Graph, **where: Any) -> dict[str, np.ndarray]:
    return {"total": np.array([bf.triangles(graph, **where).total])}


SIX: dict[str, Problem] = {
    **{name: PROBLEMS[name] for name in ("bfs", "sssp", "pagerank", "betweenness")},
    "components": Problem(_united),
    "triangles": Problem(_triangles),
}


@pytest.mark.parametrize("name", SIX)
def test_the_schemes_give_the_same_answers(name: str) -> None:
    problem = SIX[name]
    odd = [ZOO[kind] for kind in ("star", "islands", "path", "loops and duplicates")]
    graphs = [problem.graph(animal) for animal in odd] + [uneven(problem.weighted)]
    for graph in graphs:
        expected = problem.solve(graph)
        for devices in (2, 3):
            for memory in ("minimal", "fixed"):
                found = problem.solve(graph, devices=devices, memory=memory, threads=1)
                same(problem, found, expected)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_one_device_with_all_that_it_can_need(name: str, threads: int) -> None:
    problem = PROBLEMS[name]
    graph = uneven(problem.weighted)
    found = problem.solve(graph, memory="fixed", threads=threads)
    same(problem, found, problem.solve(graph, threads=threads))


CALLS: dict[str, Callable[..., Any]] = {
    "bfs": lambda **how: bf.bfs(uneven(False), 0, **how),
    "min_label": lambda **how: bf.connected_components(uneven(False), method="min_label", **how),
    "components": lambda **how: bf.connected_components(uneven(False), **how),
    "sssp": lambda **how: bf.sssp(uneven(True), 0, **how),
    "triangles": lambda **how: bf.triangles(uneven(False), **how),
}


@pytest.mark.parametrize("devices", [2, 3])
@pytest.mark.parametrize("name", CALLS)
def test_a_run_with_its_own_profile_grows_nothing(name: str, devices: int) -> None:
    for by in ("random", "range"):
        how: dict[str, Any] = {"devices": devices, "threads": 1, "partitioner": by}
        first = CALLS[name](**how)
        profile = first.report.memory_profile()
        assert first.report.growths > 0
        assert profile.program == name
        again = CALLS[name](**how, memory=profile)
        assert again.report.growths == 0
        assert again.report.totals()["growths"] == 0
        assert again.report.memory_profile().queue == profile.queue
        assert again.summary() == first.summary()


@pytest.mark.parametrize("threads", [1, 2])
def test_growth_on_one_device(threads: int) -> None:
    first = CALLS["bfs"](threads=threads)
    assert first.report.growths > 0
    profile = first.report.memory_profile()
    again = CALLS["bfs"](threads=threads, memory=profile)
    assert again.report.growths == 0
    too_small = bf.MemoryProfile(queue=profile.queue / 3)
    assert CALLS["bfs"](threads=threads, memory=too_small).report.growths > 0
    fixed = CALLS["bfs"](threads=threads, memory="fixed").report
    assert fixed.growths == 0
    assert fixed.peak_bytes > max(first.report.peak_bytes, again.report.peak_bytes)


def test_what_a_run_needs_does_not_depend_on_the_one_before() -> None:
    graph = bf.generate("path:3000")
    first = bf.bfs(graph, 0, threads=1).report
    bf.bfs(bf.generate("star:40000"), 1, threads=1, memory="fixed")
    again = bf.bfs(graph, 0, threads=1).report
    assert (first.growths, first.peak_bytes) == (again.growths, again.peak_bytes)
    assert first.memory_profile() == again.memory_profile()
    rows = 8 * frontier.COLUMNS * first.iterations
    assert first.workspace_bytes - rows < 8 * graph.num_vertices  # two whole queues alone


def test_a_queue_grows_by_half_and_so_seldom() -> None:
    levels = [np.arange(1 << level, 2 << level) for level in range(13)]
    source = np.concatenate([np.repeat(level, 2) for level in levels[:-1]])
    target = np.concatenate([level for _, level in pairwise(levels)])
    report = bf.bfs(bf.from_edges(source, target, directed=True), 1, threads=1).report
    assert 5 < report.growths <= 2 * 13


@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize("name", [*PROBLEMS, "united", "triangles"])
def test_no_run_needs_more_than_a_fixed_one_has(
    name: str, relabel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Boxes and queues are at least as large as any run has needed them."""
    problem = {**PROBLEMS, **SIX, "united": SIX["components"]}[name]
    seen = []

    def compare(program: bf.Program, graph: bf.Graph, work: Any, part: Any = None) -> Any:
        if part is not None:
            seen.append((program.on(graph.targets.dtype), graph, work.mail.asked.copy(), part))
        needed = work.fronts[frontier.NEED : frontier.NEED + 2]
        assert (needed <= work.rooms[frontier.MOST]).all()
        return MINIMAL

    monkeypatch.setattr(many, "needs", compare)
    monkeypatch.setattr(alone, "needs", compare)
    for graph in (uneven(problem.weighted), problem.graph(ZOO["star"])):
        problem.solve(graph, devices=3, relabel=relabel, threads=1)
    assert seen
    by_run = [seen[first : first + 3] for first in range(0, len(seen), 3)]
    for run in by_run:
        program = run[0][0]
        plan = planned(program, program.state_names)
        for _, _, asked, part in run:
            most = at_most(program, plan, [one[3] for one in run], part.device)
            assert (asked <= most).all(), (asked, most)


def test_what_memory_may_be() -> None:
    graph = bf.generate("path:5")
    for wrong in ("plenty", 7, "no/such/file.json"):
        with pytest.raises(bf.OptionError, match="expected 'minimal', 'fixed', a MemoryProfile"):
            bf.bfs(graph, 0, memory=wrong)  # type: ignore[arg-type]
    assert FIXED.fixed
    assert not MINIMAL.fixed


def test_from_each_source_by_itself() -> None:
    graph = uneven(False)
    expected = bf.bfs(graph, [0, 5, 600], each=True)
    for memory in ("minimal", expected.report.memory_profile()):
        found = bf.bfs(graph, [0, 5, 600], each=True, memory=memory)
        np.testing.assert_array_equal(found.depth, expected.depth)
    assert found.report.growths == 0 < expected.report.growths
