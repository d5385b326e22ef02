"""The flow of the benchmark, its statistics, and the comparison of implementations."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from broadfront import progress
from broadfront.clock import Allowance
from broadfront.errors import OptionError, TimeLimitError, VerificationError
from broadfront.graph500 import (
    IMPLEMENTATIONS,
    Benchmark,
    Comparison,
    Outcome,
    Settings,
    compare,
    draw_edges,
    draw_roots,
    implementation,
)
from broadfront.graph500.results import Search

SMALL = Settings(7, 8, roots=5, seed=1)


def quietly(line: str) -> None:
    pass


def parsed(block: list[str]) -> dict[str, float]:
    return {
        name.strip(): float(value.replace("!", ""))
        for name, _, value in (line.partition(":") for line in block)
    }


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_each_runs_through_and_is_validated(name: str) -> None:
    lines: list[str] = []
    outcome = Benchmark(SMALL, implementation(name), lines.append).run()
    assert [search.root for search in outcome.searches["bfs"]] == draw_roots(
        draw_edges(7, 8, 1), 5, 1
    ).tolist()
    assert all(search.edges > 0 for search in outcome.searches["bfs"])
    assert all(search.validation_seconds > 0 for search in outcome.searches["bfs"])
    assert lines[0].startswith("1,024 edges generated")
    assert "5 of 5 roots, all valid" in lines[-1]


def test_both_kernels_with_and_without_validation_count_the_same() -> None:
    own, asked = IMPLEMENTATIONS["broadfront"], replace(SMALL, kernels=("bfs", "sssp"))
    checked = Benchmark(asked, own, quietly).run()
    unchecked = Benchmark(replace(asked, validate=False), own, quietly).run()
    for kernel in ("bfs", "sssp"):
        edges = [search.edges for search in checked.searches[kernel]]
        assert edges == [search.edges for search in unchecked.searches[kernel]]
        assert {search.validation_seconds for search in unchecked.searches[kernel]} == {-1.0}


def test_the_block_has_the_official_layout_and_right_statistics() -> None:
    times, counts = [0.5, 1.0, 2.0, 4.0, 3.0], [100, 200, 150, 400, 100]
    found = [Search(0, time, count, 0.25) for time, count in zip(times, counts, strict=True)]
    outcome = Outcome("list", 20, 16, 0, 1, 1.5, 2.5, {"bfs": found, "sssp": found[:1]})
    block = outcome.block()
    assert block[:6] == [
        "SCALE:                          20", "edgefactor:                     16",
        "NBFS:                           5", "graph_generation:               1.5",
        "num_mpi_processes:              1", "construction_time:              2.5",
    ]  # fmt: skip
    assert all(len(line) > 32 and line[31] == " " for line in block)
    values = parsed(block)
    kinds = [name.rpartition("_")[2] for name in values][6:]
    assert list(dict.fromkeys(kinds)) == ["time", "nedge", "TEPS", "validate"]
    rates = np.array(counts) / times
    assert values["bfs  min_time"] == 0.5
    assert values["bfs  median_time"] == 2
    assert values["bfs  stddev_time"] == pytest.approx(np.std(times, ddof=1), rel=1e-5)
    assert values["max_nedge"] == 400
    assert values["bfs  min_TEPS"] == pytest.approx(rates.min(), rel=1e-5)
    assert values["bfs  max_TEPS"] == pytest.approx(rates.max(), rel=1e-5)
    mean = stats.hmean(rates)
    assert values["bfs  harmonic_mean_TEPS"] == pytest.approx(mean, rel=1e-5)
    norris = np.sqrt(((1 / rates - 1 / mean) ** 2).sum()) / (len(rates) - 1) * mean**2
    assert values["bfs  harmonic_stddev_TEPS"] == pytest.approx(norris, rel=1e-5)
    assert values["sssp harmonic_stddev_TEPS"] == 0
    assert json.loads(json.dumps(outcome.to_plain()))["block"]["SCALE"] == 20


def test_a_wrong_search_stops_the_run() -> None:
    csr = IMPLEMENTATIONS["csr"]

    def wrong(structure: Any, root: int) -> Any:
        tree = csr.search(structure, root)
        tree.depth[tree.depth == 2] = 3
        return tree

    benchmark = Benchmark(SMALL, replace(csr, search=wrong), quietly)
    with pytest.raises(VerificationError, match="rule"):
        benchmark.run()
    assert benchmark.outcome.searches["bfs"] == []


def test_no_listener_hears_of_what_is_timed() -> None:
    heard: list[str] = []

    def listener(stage: str, done: int, total: int) -> None:
        heard.append(stage)

    with progress.listening(listener):
        Benchmark(SMALL, IMPLEMENTATIONS["csr"], quietly).run()
    assert "generating edges" in heard
    assert "kernel 1" not in heard


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"scale": 0}, "scale=0: expected 1 or more"),
        ({"scale": 5, "edge_factor": 0}, "edge_factor=0: expected 1 or more"),
        ({"scale": 5, "roots": 0}, "roots=0: expected 1 or more"),
        ({"scale": 5, "kernels": ("pagerank",)}, "kernel 'pagerank': unknown; known: bfs sssp"),
    ],
)
def test_settings_that_mean_nothing(options: dict[str, Any], error: str) -> None:
    with pytest.raises(OptionError, match=error):
        Settings(**options)


def test_shortest_paths_are_refused_where_there_are_none() -> None:
    with pytest.raises(OptionError, match="implementation 'csr' has no kernel for sssp"):
        Benchmark(replace(SMALL, kernels=("sssp",)), IMPLEMENTATIONS["csr"], quietly)


@pytest.mark.parametrize("name", [name for name in IMPLEMENTATIONS if name != "broadfront"])
def test_a_time_limit_reaches_into_a_search(name: str) -> None:
    one = IMPLEMENTATIONS[name]
    structure = one.build(draw_edges(7))
    with pytest.raises(TimeLimitError, match="time_limit=0"), Allowance(0):
        one.search(structure, 0)


def test_comparison_over_scales(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found, lines = Comparison(), list[str]()
    few = [IMPLEMENTATIONS[name] for name in ("list", "csr")]
    compare(replace(SMALL, roots=2), [5, 6], few, lines.append, found)
    assert [(row.scale, row.implementation) for row in found.rows] == [
        (5, "list"), (5, "csr"), (6, "list"), (6, "csr"),
    ]  # fmt: skip
    assert all(row.teps > 0 and row.construction_seconds > 0 for row in found.rows)
    assert lines[1] == "scale 5: csr, compressed sparse rows, one thread"
    table = found.table()
    assert table[0].split() == ["scale", "implementation", "kernel", "1", "(s)", "MTEPS", "lines"]
    assert [line.split()[1] for line in table[1:]] == ["list", "csr"] * 2
    assert len(set(map(len, table))) == 1
    picture = found.plot(tmp_path / "all.png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OptionError, match="scales: expected one or more"):
        compare(SMALL, [], few, quietly, Comparison())
