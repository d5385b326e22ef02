"""The real graphs beside the repository load with the counts that are known of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import broadfront as bf

UNDIRECTED = {"directed": False}


@pytest.mark.parametrize(
    ("name", "options", "directed", "weighted", "vertices", "edges_read"),
    [
        ("USA-road-d.NY.gr.gz", {}, True, True, 264_346, 733_846),
        ("osm-kanto-jp.gr.xz", {}, True, True, 1_676_456, 3_839_606),
        ("npm-deps-2017.runtime.el.zst", {"num_vertices": 304_031}, True, False, 304_031, 926_384),
        ("npm-deps-2017.dev.el.zst", {}, True, False, 304_031, 1_419_123),
        ("moby-thesaurus.el.zst", {}, True, False, 103_306, 2_520_220),
        ("musae-github.csv", UNDIRECTED, False, False, 37_700, 289_003),
        ("copter2.graph.xz", {}, False, False, 55_476, 352_238),
        ("git-commits-git.el.zst", {}, True, False, 203_352, 259_768),
        ("routes.dat", {"columns": (2, 4)}, True, False, 3_425, 67_663),
        ("karate.graph", {}, False, False, 34, 78),
        ("lesmis.graph", {}, False, True, 77, 254),
        ("chesapeake.mtx", {}, False, False, 39, 170),
    ],
)
def test_counts(
    real_graphs: Path, name: str, options: dict, directed: bool, weighted: bool, vertices: int,
    edges_read: int,
) -> None:  # fmt: skip
    graph = bf.read(real_graphs / name, **options)
    assert graph.directed == directed
    assert graph.weighted == weighted
    assert graph.num_vertices == vertices
    assert graph.origin.edges_read == edges_read
    assert graph.num_edges == edges_read - graph.origin.duplicates


def test_airports_by_code(real_graphs: Path) -> None:
    graph = bf.read(real_graphs / "routes.dat", columns=(2, 4))
    assert graph.num_edges == 37_595
    names = graph.labels
    assert "KZN" in names[graph.neighbors(graph.vertex("AER"))]


def test_what_is_no_graph(real_graphs: Path) -> None:
    with pytest.raises(bf.FormatError, match="coordinates"):
        bf.read(real_graphs / "USA-road-d.NY.co.gz")
    with pytest.raises(bf.FormatError, match="14 columns; name two"):
        bf.read(real_graphs / "airports.dat")
    with pytest.raises(bf.FormatError, match="names of vertices"):
        bf.read(real_graphs / "npm-deps-2017.names.zst")
