"""Every system answers every primitive it offers rightly; broken answers are caught."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from broadfront.benchmark import cases
from broadfront.benchmark.checks import Checker, depths
from broadfront.benchmark.systems import ENTRIES, chosen
from broadfront.benchmark.systems.system import PRIMITIVES, System
from broadfront.errors import MissingDependencyError, OptionError, VerificationError

GRAPHS = ("kron:7", "grid:9x9", "path:12", "star:9")


def system(name: str) -> System:
    entry = ENTRIES[name]
    pytest.importorskip(entry.library)
    module, _, adapter = entry.adapter.partition(":")
    made: System = getattr(import_module(module), adapter)(2)
    return made


def answer(asked: System, primitive: str, case: cases.Case) -> dict[str, Any]:
    form = asked.form(primitive)
    graph = case.weighted if form == "weighted" else case.graph
    made = asked.convert(graph, form, case.questions[0])
    found: dict[str, Any] = getattr(asked, primitive)(made, case.questions[0])()
    return found


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", ENTRIES)
def test_every_system_is_right(name: str, graph: str) -> None:
    asked = system(name)
    case = cases.load(graph, 1, seed=3)
    assert asked.offers()
    assert not set(asked.offers()) & set(asked.lacks)
    for primitive in asked.offers():
        Checker(case).check(primitive, case.questions[0], answer(asked, primitive, case))


BREAKS = {
    "bfs": lambda found: {"depth": found["depth"] + 1},
    "sssp": lambda found: {"distance": found["distance"] // 2},
    "components": lambda found: {"component": np.arange(len(found["component"]))},
    "pagerank": lambda found: {"rank": np.full(len(found["rank"]), 1 / len(found["rank"]))},
    "betweenness": lambda found: {"raw": found["raw"] * 1.001},
    "triangles": lambda found: {"total": found["total"] + 1},
}


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_a_wrong_answer_is_caught(primitive: str) -> None:
    case = cases.load("kron:7", 1, seed=0)
    right = answer(system("broadfront"), primitive, case)
    checker, question = Checker(case), case.questions[0]
    for _ in range(2):  # the second time, there is a right answer to compare with
        with pytest.raises(VerificationError):
            checker.check(primitive, question, BREAKS[primitive](right))
        checker.check(primitive, question, right)
    with pytest.raises(VerificationError):
        checker.check("betweenness", question, {"weighed": np.ones(128)})


def test_depths_of_parents() -> None:
    assert depths(np.array([1, 1, 1, 2, -1, 6, 5, 99]), 1).tolist() == [1, 0, 1, 2, -1, -1, -1, -1]


def test_cases_are_undirected_simple_and_repeatable(tmp_path: Any) -> None:
    path = tmp_path / "some.el"
    path.write_text("7 7\n7 8\n8 9\n")
    case = cases.load(str(path), 5, seed=1)
    assert (case.graph.num_edges, case.graph.directed, case.graph.num_self_loops) == (2, False, 0)
    assert case.family == str(path)
    assert cases.load(str(path), 5, seed=1).questions == case.questions
    kron = cases.load("kron:8", 9, seed=1)
    assert kron.family == "kron"
    sources = {question.source for question in kron.questions}
    assert len(sources) == 9
    assert kron.graph.degrees[list(sources)].min() > 0
    assert kron.weighted.weight_bounds[0] >= 1
    assert kron.weighted.weight_bounds[1] <= 63
    path.write_text("7 7\n")
    with pytest.raises(OptionError, match="--graphs .*without edges"):
        cases.load(str(path), 1, seed=0)


def test_who_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    there, absent = chosen(["scipy", "broadfront", "scipy"])
    assert [entry.name for entry in there] == ["scipy", "broadfront"]
    assert absent == []
    with pytest.raises(OptionError, match="--systems nobody"):
        chosen(["nobody"])
    monkeypatch.setattr("broadfront.benchmark.systems.find_spec", lambda name: None)
    assert chosen(None)[0] == []
    with pytest.raises(MissingDependencyError, match="--systems igraph"):
        chosen(["igraph"])
