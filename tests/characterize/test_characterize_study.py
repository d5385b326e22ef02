"""A characterisation measures what it says: counts of known graphs, and verified answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.characterize import Findings, Settings, Study, measure, searches, study, ways
from broadfront.characterize.cases import Case, skew_specs, tree
from broadfront.characterize.findings import COUNTED, DERIVED
from broadfront.characterize.ways import MODELS, OPERATORS, Outcome
from broadfront.cli.main import main
from broadfront.errors import OptionError, VerificationError
from broadfront.graph500.index import index_edges

SMALL: dict[str, Any] = {"primitives": ["bfs"], "sweeps": False, "repeats": 2, "threads": 1}


@pytest.fixture(scope="module")
def measured() -> Findings:
    told: list[str] = []
    found = study(tell=told.append, graphs=["kron:7"], traffic=False, **SMALL)
    assert told[0] == "kron:7: loading"
    assert told[1].startswith("kron:7, bfs: operators ")
    return found


def test_models_agree_on_what_is_alike(measured: Findings) -> None:
    rows = measured.of("models")
    assert [row.way for row in rows] == list(MODELS)
    depth = bf.bfs(Case("kron:7", bf.generate("kron:7")).graph, rows_source()).depth
    for row in rows:
        assert row.iterations == depth.max() + 1
        assert row.atomics == 0, "one thread alone needs none"
        assert len(row.trials) == 2
        assert row.seconds >= min(row.trials) > 0
        assert sum(step.edges for step in row.steps) == row.edges_visited
    calls = {row.way: row.kernel_calls for row in rows}
    assert calls["semiring"] == depth.max() + 1
    assert calls["GAS, expand"] == calls["GAS, activate"] == 1
    barriers = {row.way: row.barriers for row in rows}
    assert barriers[OPERATORS] <= barriers["GAS, expand"] <= barriers["GAS, activate"]


def rows_source() -> int:
    return Case("kron:7", bf.generate("kron:7")).source


def test_searches_of_graph500_are_there_and_derived(measured: Findings) -> None:
    rows = measured.of("searches")
    assert [row.way for row in rows] == list(searches.SEARCHES)
    for row in rows:
        assert row.traffic_by == DERIVED
        assert row.bytes_read > row.bytes_written > 0
        assert row.lines > 10
    assert measured.graphs[0].graph == "kron:7"


def test_derived_bytes_of_a_path() -> None:
    """Four vertices in a row, searched from the second: every number by hand."""
    case = Case("path", bf.generate("path:4"))
    edges = case.edges
    index = index_edges(case.edges)
    assert case.source == 1
    found = {name: searches.run(one, case.graph, edges, index, 1, 1)
             for name, one in searches.SEARCHES.items()}  # fmt: skip
    assert {one.iterations for name, one in found.items() if name != "out-of-core"} == {3}
    # csr: 4 x (visit 4, offsets 16), 6 arcs x (target 4, parent 4), 3 new x depth 4
    assert found["csr"].counts.bytes_read == 4 * 20 + 6 * 8 + 3 * 4
    assert found["csr"].counts.bytes_written == 3 * (4 + 4 + 4)
    # list: 4 x (visit 4, head 4), 6 places x (neighbour 4, parent 4, following 4), 3 x depth 4
    assert found["list"].counts.bytes_read == 4 * 8 + 6 * 12 + 3 * 4
    # wavefront: 6 sweeps x 4 marks, 4 x offsets 16, 6 arcs x (target 4, mark 1)
    assert found["wavefront"].counts.bytes_read == 6 * 4 + 4 * 16 + 6 * 5
    passes = found["out-of-core"].iterations
    assert passes >= 2
    assert found["out-of-core"].counts.bytes_read == passes * 3 * 2 * 8
    assert all(one.edges_reached == 3 for one in found.values())


def test_bytes_are_counted_by_loops() -> None:
    case = Case("path", bf.generate("path:50"))
    made = Study(Settings(graphs=["x"], **SMALL), lambda line: None)
    made._models(measure.Row("models", "path", "bfs", ""), case, traffic=True)
    for row in made.findings.rows:
        assert row.traffic_by == COUNTED
        read, written = row.traffic["graph"]
        assert read >= 98 * 4, "every arc is read"
        assert written == 0
        assert row.traffic["fields"][1] >= 49, "every vertex is given its depth, or a flag"


@pytest.mark.parametrize("name", MODELS)
def test_a_wrong_answer_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("path", bf.generate("path:5"))
    right = bf.bfs(case.graph, case.source, devices="python")
    wrong = right.depth.copy()
    wrong[3] += 1
    outcomes = {model: Outcome(right.depth, right.report) for model in MODELS}
    if name == OPERATORS:
        broken = bf.bfs(case.graph, case.source, devices="python")
        broken.depth[3] += 1
        outcomes[name] = Outcome(broken.depth, right.report, broken)
    else:
        outcomes[name] = Outcome(wrong, right.report)
    with pytest.raises(VerificationError):
        measure.check("path", "bfs", outcomes)


@pytest.mark.parametrize("primitive", ways.PRIMITIVES)
def test_all_ways_agree_in_plain_python(primitive: str) -> None:
    """What the programs mean, without compiling any of them."""
    for spec in ("kron:5", "path:6", "uniform:5:1"):
        case = Case(spec, bf.generate(spec))
        outcomes = {name: way(case.graph, case.source, devices="python")
                    for name, way in ways.WAYS[primitive].items()}  # fmt: skip
        measure.check(spec, primitive, outcomes)


def test_cases_are_undirected_simple_and_weighted() -> None:
    given = bf.from_edges([0, 1, 1, 2, 2], [1, 0, 1, 0, 3], [5.0, 6.0, 7.0, 8.0, 9.0])
    case = Case("directed", given)
    assert not case.graph.directed
    assert case.graph.num_edges == 3
    assert case.graph.num_self_loops == 0
    assert len(case.edges) == 3
    assert case.source == 0
    kept = Case("weights", bf.from_edges([0], [1], [2.5], directed=False))
    assert kept.graph.weights is not None
    assert kept.graph.weights.tolist() == [2.5, 2.5]


@pytest.mark.parametrize("given", [bf.generate("path:1"), bf.from_edges([0], [0])])
def test_graphs_without_edges_are_refused(given: bf.Graph) -> None:
    with pytest.raises(OptionError, match="nothing to measure"):
        Case("empty", given)


def test_trees_and_skews() -> None:
    assert tree(3).num_vertices == 21
    assert tree(3).degrees.tolist()[:2] == [4, 5]
    for spec, ratio in skew_specs(8):
        assert f"a={ratio / (ratio + 3):.6f}" in spec
    most, _, least = (bf.generate(spec).max_degree for spec, _ in skew_specs(9))
    assert most > 3 * least


@pytest.mark.parametrize(
    ("asked", "told"),
    [({"repeats": 0}, "repeats=0"), ({"primitives": ["dfs"]}, "'dfs'"), ({"graphs": []}, "graphs"),
     ({"scale": 3}, "scale=3")],
)  # fmt: skip
def test_settings_that_make_no_sense(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        Settings(**asked)


def test_ctrl_c_keeps_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def press(self: Study, case: Case) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Study, "_searches", press)
    found = study(graphs=["kron:7"], traffic=False, **SMALL)
    assert found.stopped
    assert len(found.rows) == len(MODELS)
    assert "stopped by Ctrl-C" in found.table()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "page.html"
    asked = ["--primitives", "bfs", "--no-sweeps", "--no-bytes", "--repeats", "1", "--threads", "1"]
    assert main(["characterize", "kron:7", *asked, "--json", "--html", str(path)]) == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert {row["study"] for row in found["rows"]} == {"models", "searches"}
    assert found["settings"]["graphs"] == ["kron:7"]
    assert "broadfront: kron:7, bfs: operators" in told.err
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert np.isfinite([row["teps"] for row in found["rows"]]).all()


def test_a_page_has_the_name_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["characterize", "--html", "page.txt"]) == 1
    assert "ends in .html" in capsys.readouterr().err
