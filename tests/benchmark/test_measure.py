"""The benchmark with systems that lie, sleep, die and fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from broadfront.benchmark.measure import Bench, Estimates, Settings
from broadfront.benchmark.results import Report, Result
from broadfront.benchmark.systems import ENTRIES, Entry


def strange(name: str, monkeypatch: pytest.MonkeyPatch, **facts: Any) -> None:
    adapter = f"benchmark.strange_systems:{name.title()}"
    entry = Entry(name, name.title(), adapter, "numpy", "numpy", **facts)
    monkeypatch.setitem(ENTRIES, name, entry)


def measured(*systems: str, **settings: Any) -> list[Result]:
    asked: dict[str, Any] = {
        "primitives": ("bfs",), "graphs": ("path:20",), "repeats": 2, "threads": 1,
        "limit_seconds": 60.0, **settings,
    }  # fmt: skip
    bench = Bench(Settings(systems=systems, **asked), lambda line: None)
    bench.run()
    return bench.report.results


def test_misbehaviour_is_told_and_harms_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("liar", "quitter", "raiser"):
        strange(name, monkeypatch)
    strange("sluggard", monkeypatch, most_arcs=5)
    results = measured("liar", "quitter", "raiser", "sluggard", "broadfront")
    liar, quitter, raiser, sluggard, ours = results
    assert (liar.status, liar.median, liar.verified) == ("wrong", None, False)
    assert "sources have depth 0" in liar.note
    assert (quitter.status, "exit code 3" in quitter.note) == ("failed", True)
    assert (raiser.status, raiser.note) == ("failed", "ValueError: no graphs please")
    assert (sluggard.status, sluggard.note) == ("skipped", "only up to 5 arcs")
    assert (ours.status, len(ours.trials), ours.verified) == ("done", 2, True)
    assert ours.memory_peak >= 0


def test_unverified_lies_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    strange("liar", monkeypatch)
    (liar,) = measured("liar", verify=False)
    assert (liar.status, len(liar.trials), liar.verified) == ("done", 2, False)


def test_slow_peers_are_stopped_then_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    strange("sleeper", monkeypatch)
    strange("sluggard", monkeypatch)
    graphs = ("path:20", "path:400", "star:30")
    results = measured("sleeper", "sluggard", graphs=graphs, limit_seconds=2.0)
    found = {(row.system, row.graph): row for row in results}
    assert found["sleeper", "path:20"].status == "stopped"
    skipped = found["sleeper", "path:400"]
    assert (skipped.status, skipped.note) == ("skipped", "bfs would take over 2 s, by path:20")
    assert found["sleeper", "star:30"].status == "stopped"  # another family
    slow = found["sluggard", "path:20"]
    assert slow.status == "done"
    assert len(slow.trials) >= 1
    assert found["sluggard", "path:400"].status == "skipped"  # 0.6 s times 20


def test_estimates_grow_with_the_arcs() -> None:
    def case(name: str, arcs: int) -> Any:
        return SimpleNamespace(name=name, family="kron", graph=SimpleNamespace(num_arcs=arcs))

    estimates = Estimates()
    assert estimates.guess("igraph", "bfs", case("b", 10)) == (0.0, "")
    estimates.learn("igraph", "bfs", case("a", 10), 1.0)
    estimates.learn("igraph", "bfs", case("c", 100), 30.0)
    assert estimates.guess("igraph", "bfs", case("b", 50)) == (5.0, "a")
    assert estimates.guess("igraph", "bfs", case("d", 200)) == (60.0, "c")
    assert estimates.guess("scipy", "bfs", case("d", 200)) == (0.0, "")


def test_ratios_are_to_the_best_right_peer() -> None:
    report = Report({}, {}, {}, [])
    for graph, system, seconds, status in (
        ("a", "broadfront", 1.0, "done"), ("a", "scipy", 3.0, "done"), ("a", "igraph", 8.0, "done"),
        ("a", "networkx", 0.1, "wrong"), ("b", "broadfront", 2.0, "done"),
        ("b", "igraph", 24.0, "done"), ("c", "igraph", 1.0, "done"),
    ):  # fmt: skip
        report.results.append(Result(graph, "bfs", system, status, trials=[seconds]))
    assert [(row.graph, row.peer, row.ratio) for row in report.ratios()] == [
        ("a", "scipy", 3.0), ("b", "igraph", 12.0),
    ]  # fmt: skip
    assert report.geometric_mean() == pytest.approx(6.0)
    assert Report({}, {}, {}, []).geometric_mean() is None
