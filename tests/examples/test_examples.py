"""The examples give the answers of NetworkX, and run as scripts."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import broadfront as bf
from broadfront import threads

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def example(name: str) -> dict:
    return runpy.run_path(str(FOLDER / f"{name}.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_scripts_run(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()
    code = [line for line in script.read_text().split('"""', 2)[2].splitlines() if line.strip()]
    assert len(code) <= 45


def test_widest_path() -> None:
    widest_path = example("widest_path")["widest_path"]
    graph = bf.generate("kron:8:weights=1-99:simple=yes")
    tree = nx.maximum_spanning_tree(graph.to_networkx())
    found = widest_path(graph, 5)
    for vertex in range(graph.num_vertices):
        if vertex == 5:
            assert found[vertex] == np.inf
        elif not nx.has_path(tree, 5, vertex):
            assert found[vertex] == 0
        else:
            way = nx.shortest_path(tree, 5, vertex)
            widths = [tree[a][b]["weight"] for a, b in zip(way, way[1:], strict=False)]
            assert found[vertex] == min(widths)


@pytest.mark.parametrize("count", [1, 2])
def test_reachability(count: int) -> None:
    reachability = example("reachability")["reachability"]
    graph = bf.generate("rmat:8:2:directed=yes")
    other = graph.to_networkx()
    sources = [0, 7, 100]
    with threads.limit(count):
        found = reachability(graph, sources)
    for place, source in enumerate(sources):
        reached = nx.descendants(other, source) | {source}
        assert set(np.flatnonzero(found >> np.uint64(place) & np.uint64(1))) == reached


@pytest.mark.parametrize("k", [1, 5, 16, 1000])
def test_k_core(k: int) -> None:
    k_core = example("k_core")["k_core"]
    graph = bf.generate("kron:9:simple=yes")
    assert set(k_core(graph, k)) == set(nx.k_core(graph.to_networkx(), k))


def test_label_propagation() -> None:
    label_propagation = example("label_propagation")["label_propagation"]
    graph = bf.from_networkx(nx.karate_club_graph(), weight=None)
    other = graph.to_networkx()
    labels = list(range(34))
    for _ in range(20):
        heard = []
        for vertex in range(34):
            votes = Counter(labels[neighbor] for neighbor in other[vertex])
            most = max(votes.values())
            heard.append(min(label for label, count in votes.items() if count == most))
        if heard == labels:
            break
        labels = heard
    assert label_propagation(graph).tolist() == labels
