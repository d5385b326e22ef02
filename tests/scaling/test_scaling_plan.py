"""From what is asked for to what is run."""

from __future__ import annotations

from typing import Any

import pytest

import broadfront as bf
from broadfront.scaling.families import Choice
from broadfront.scaling.plan import IDS, Settings, Setup, plan

SMALL: dict[str, Any] = {"graphs": ["rgg=rgg:5"], "primitives": ["bfs"]}
RGG = Choice("rgg", "rgg:5")


def setups(study: str, **settings: Any) -> list[Setup]:
    (cell,) = plan(Settings(studies=[study], **{**SMALL, **settings})).cells
    assert cell.study == study
    return [setup for _, setup in cell.runs]


def test_strong_scaling_always_has_one_device() -> None:
    assert setups("strong", devices=[4, 2, 4]) == [Setup(1, 1), Setup(2, 1), Setup(4, 1)]
    assert [setup.devices for setup in setups("strong", threads=2)] == [1, 2, 4, 8]
    assert {setup.threads for setup in setups("strong", threads=2)} == {2}


def test_comparisons_begin_with_their_base() -> None:
    on = Setup(4, 1)
    assert setups("partitioners", partitioners=["metis", "random"]) == [
        on, on._replace(partitioner="metis"),
    ]  # fmt: skip
    assert setups("ids") == [on._replace(ids=name) for name in IDS]
    assert {setup.devices for setup in setups("ids", devices=[2])} == {2}
    assert {setup.devices for setup in setups("ids", devices=[2], compared_on=3)} == {3}


def test_one_device_has_nothing_to_compare() -> None:
    made = plan(Settings(studies=["strong", "ids"], devices=[1], **SMALL))
    assert [cell.study for cell in made.cells] == ["strong"]
    assert made.notes == ["ids: nothing to compare on one device"]


def test_weak_scaling_has_a_graph_for_each_number_of_devices() -> None:
    made = plan(Settings(studies=["weak-edges", "weak-vertices"], devices=[2, 3, 4], **SMALL))
    by_edges, by_vertices = made.cells
    assert [setup.devices for _, setup in by_edges.runs] == [1, 2, 3, 4]
    assert [setup.devices for _, setup in by_vertices.runs] == [1, 2, 4]
    assert len(by_edges.graphs) == 4
    assert [note for note in made.notes if "weak" in note] == [
        "weak-vertices: 3 devices left out, R-MAT has a power of two vertices"
    ]


def test_cells_of_a_graph_stand_together() -> None:
    made = plan(Settings(studies=["strong", "ids"], graphs=["a=path:3", "b=path:4"], quick=True))
    order = [cell.graphs[0].family for cell in made.cells]
    assert order == sorted(order)
    assert len(made.cells) == 2 * 2 * 5


def test_families_without_graphs_are_named() -> None:
    assert "without graphs: soc web road; give them by --data or --graphs" in plan(Settings()).notes
    assert plan(Settings(studies=["strong"], **SMALL)).notes == []


def test_memory_schemes() -> None:
    assert [setup.scheme for setup in setups("memory")] == ["minimal", "profile", "fixed"]
    assert [setup.scheme for setup in setups("memory", schemes={"mine": object()})] == ["mine"]


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"studies": ["string"]}, "--studies string: unknown; known: strong"),
        ({"primitives": ["triangles"]}, "--primitives triangles: unknown; known: bfs"),
        ({"primitives": "bfs"}, "--primitives 'bfs': expected one or more names"),
        ({"partitioners": ["mettis"]}, "--partitioners mettis: unknown; known: random"),
        ({"devices": [0]}, "--devices 0 is not a positive number"),
        ({"compared_on": 0}, "--compared-on 0 is not a positive number"),
        ({"threads": -1}, "--threads -1 is not a positive number"),
        ({"limit_seconds": 0.0}, "--limit-seconds 0 is not a positive number"),
        ({"repeats": 0}, "--repeats 0 is not a positive number"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], error: str) -> None:
    with pytest.raises(bf.OptionError, match=error):
        plan(Settings(**{**SMALL, **settings}))
