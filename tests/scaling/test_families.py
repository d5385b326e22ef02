"""The graphs of a study are what their families promise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import broadfront as bf
from broadfront.graph.generate import is_spec
from broadfront.scaling.cases import Case
from broadfront.scaling.families import (
    FAMILIES,
    GENERATED,
    QUICK,
    Choice,
    chosen,
    weak_by_edges,
    weak_by_vertices,
)


def test_every_generated_family_has_graphs_of_both_sizes() -> None:
    assert list(GENERATED) == list(QUICK)
    assert set(FAMILIES) == {"soc", "web", "road", *GENERATED}
    for specs in (*GENERATED.values(), *QUICK.values()):
        assert specs
        assert all(is_spec(spec) for spec in specs)


def test_rmat_48_draws_48_edges_per_vertex_and_hubs_over_ten_times_as_many() -> None:
    for table in (GENERATED, QUICK):
        assert {spec.split(":")[2] for spec in table["rmat_48"]} == {"48"}
        assert min(int(spec.split(":")[2]) for spec in table["rmat_hubs"]) >= 512


def test_hubs_are_few_vertices_of_huge_degree_and_rgg_is_a_mesh() -> None:
    hubs, rmat, mesh = (bf.generate(QUICK[name][0]) for name in ("rmat_hubs", "rmat_48", "rgg"))
    assert hubs.degrees.max() > hubs.num_vertices / 2
    assert hubs.num_vertices < rmat.num_vertices < mesh.num_vertices
    assert rmat.degrees.max() > 4 * rmat.degrees.mean()
    assert mesh.degrees.max() < 5 * mesh.degrees.mean()
    depths = [depth_of("rgg"), depth_of("rmat_48")]
    assert depths[0] > 10 > depths[1]


def depth_of(family: str) -> int:
    case = Case(Choice(family, QUICK[family][0]), 1, seed=0)
    return int(bf.bfs(case.graph, case.questions[0].source).depth.max())


@pytest.mark.parametrize("quick", [True, False])
def test_weak_graphs_grow_by_one_thing_alone(quick: bool) -> None:
    sizes = {}
    for name, graph_for in (("edges", weak_by_edges), ("vertices", weak_by_vertices)):
        numbers = [graph_for(count, quick).graph.split(":")[1:] for count in (1, 2, 8)]
        sizes[name] = [(int(scale), int(factor)) for scale, factor in numbers]
    (scale, factor), *_ = sizes["edges"]
    assert sizes["edges"] == [(scale, factor), (scale, 2 * factor), (scale, 8 * factor)]
    (scale, factor), *_ = sizes["vertices"]
    assert sizes["vertices"] == [(scale, factor), (scale + 1, factor), (scale + 3, factor)]


def test_a_folder_is_searched_by_names(tmp_path: Path) -> None:
    sizes = {"soc-a.el": 9, "USA-road-d.NY.gr.gz": 5, "USA-road-d.NY.co.gz": 5, "road.txt": 1,
             "npm-deps.names": 3, "web.mtx": 2, "README.md": 1}  # fmt: skip
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    (tmp_path / "soc-folder.el").mkdir()
    found = chosen(["soc", "web", "road"], [], str(tmp_path), quick=False)
    assert [(choice.family, choice.title) for choice in found] == [
        ("soc", "soc-a.el"), ("web", "web.mtx"), ("road", "road.txt"),
        ("road", "USA-road-d.NY.gr.gz"),
    ]  # fmt: skip
    assert [choice.title for choice in chosen(["road"], [], str(tmp_path), quick=True)] == [
        "road.txt"
    ]


def test_the_real_graphs_have_their_families(real_graphs: Path) -> None:
    found = chosen(["soc", "web", "road"], [], str(real_graphs), quick=False)
    assert {choice.family for choice in found} == {"soc", "web", "road"}


def test_a_case_asks_from_the_component_with_most_edges(tmp_path: Path) -> None:
    path = tmp_path / "two.el"
    path.write_text("0 1\n1 2\n2 0\n3 4\n4 5\n5 6\n6 3\n3 5\n7 7\n")
    case = Case(Choice("soc", str(path)), 9, seed=0)
    assert case.name == "two.el"
    assert case.graph.num_self_loops == 0
    assert {question.source for question in case.questions} <= {3, 4, 5, 6}
    assert case.questions[0].sources == (3, 4, 5, 6)
    assert len(case.questions) == 9
    assert [case.edges(name) for name in ("bfs", "sssp", "components", "pagerank")] == [
        5,
        5,
        8,
        160,
    ]
    assert case.edges("betweenness") == 20
    again = Case(Choice("soc", str(path)), 9, seed=0)
    assert again.questions == case.questions


def test_a_split_is_decided_once_for_both_forms_of_a_graph() -> None:
    case = Case(Choice("rgg", "rgg:6"), 2, seed=0)
    plain, weighted = case.split("random", 3, "bfs"), case.split("random", 3, "sssp")
    assert plain.graph is case.graph
    assert weighted.graph is case.weighted
    assert plain.seconds == weighted.seconds > 0
    np.testing.assert_array_equal(plain.owner, weighted.owner)
    np.testing.assert_array_equal(plain.owner, bf.split(case.graph, 3, "random").owner)


def test_wrong_graphs(tmp_path: Path) -> None:
    (tmp_path / "a.el").touch()
    twice = [f"soc={tmp_path}/a.el", f"soc={tmp_path}/./a.el"]
    for families, graphs, data, error in (
        (["rgh"], [], None, "--families rgh: unknown; known: soc"),
        (None, ["kron:5"], None, "--graphs kron:5: expected FAMILY=GRAPH"),
        (None, ["soc="], None, "--graphs soc=: expected FAMILY=GRAPH"),
        (None, ["soc=no.el"], None, "--graphs soc=no.el: no such file"),
        (None, twice, None, "--graphs: soc has two graphs called a.el"),
        (None, [], f"{tmp_path}/none", "--data .*none: No such file"),
    ):
        with pytest.raises(bf.OptionError, match=error):
            chosen(families, graphs, data, quick=True)
    with pytest.raises(bf.OptionError, match="--graphs path:1: a graph without edges"):
        Case(Choice("path", "path:1"), 1, seed=0)
