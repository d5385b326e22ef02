"""Numbers against a base, by hand."""

from __future__ import annotations

import math

import pytest

from broadfront.scaling.relative import against_base, grouped, relation, spread
from scaling.made_up import findings, row


def test_seconds_are_the_median_and_teps_count_reached_edges() -> None:
    one = row("strong", "rgg:3", 2, 0.5)
    assert one.seconds == 0.5
    assert one.teps == 200
    assert one.where == "2x1"
    failed = row("strong", "rgg:3", 2, 0.5, status="wrong")
    assert failed.seconds is None
    assert failed.teps is None


def test_strong_scaling_is_against_one_device_on_the_same_graph_and_primitive() -> None:
    one, two = row("strong", "rgg:3", 1, 6.0), row("strong", "rgg:3", 2, 4.0, memory_bytes=1700)
    others = [row("strong", "rgg:4", 1, 1.0), row("strong", "rgg:3", 1, 1.0, primitive="sssp"),
              row("ids", "rgg:3", 2, 99.0)]  # fmt: skip
    found = against_base([*others, two, one])
    assert found[two].speed_up == 1.5
    assert found[two].relative_time == pytest.approx(4 / 6)
    assert found[two].relative_memory == 1.7
    assert found[two].relative_workload == 1
    assert found[one].speed_up == 1


def test_weak_scaling_compares_edges_per_second_over_graphs() -> None:
    one = row("weak-edges", "rmat:1", 1, 2.0, family="weak-edges", edges_reached=100)
    four = row("weak-edges", "rmat:4", 4, 4.0, family="weak-edges", edges_reached=400)
    assert against_base([one, four])[four].speed_up == 2


def test_comparisons_are_against_their_base() -> None:
    found = {(row.study, row.variant): related
             for row, related in against_base(findings().rows).items()}  # fmt: skip
    metis = found["partitioners", "metis"]
    assert (metis.relative_time, metis.relative_partition_time) == (0.5, 50)
    assert found["ids", "kept"].relative_memory == 1.5
    assert found["memory", "fixed"].relative_memory == 3
    assert found["memory", "fixed"].speed_up == 2


def test_rows_without_a_time_or_a_base_have_no_relation() -> None:
    wrong_base = row("strong", "rgg:3", 1, 1.0, status="failed")
    two = row("strong", "rgg:3", 2, 1.0)
    assert against_base([wrong_base, two]) == {}


def test_nothing_against_nothing() -> None:
    empty = row("strong", "rgg:3", 1, 1.0, edges_visited=0, memory_bytes=0)
    full = row("strong", "rgg:3", 2, 1.0)
    assert relation(empty, empty).relative_workload == 1
    assert relation(full, empty).relative_memory == math.inf


def test_means_over_graphs_are_geometric() -> None:
    assert spread([1.0, 4.0]) == (2.0, 1.0, 4.0)
    rows = [row("strong", f"rgg:{size}", devices, size / devices**power)
            for size, power in ((3, 0), (4, 2)) for devices in (1, 2)]  # fmt: skip
    found = grouped(against_base(rows), lambda row, related: related.speed_up,
                    lambda row: (row.family, row.devices))  # fmt: skip
    assert found["rgg", 1].mean == 1
    assert found["rgg", 2].mean == pytest.approx(math.sqrt(1 * 4))
    assert (found["rgg", 2].least, found["rgg", 2].most) == (1, 4)
