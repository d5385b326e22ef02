"""Breadth-first search against NetworkX, on every kind of graph and every way to run."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.algorithms.bfs import BFS, HOP
from zoo import ZOO, Animal, edges

THREADS = [1, 2, 4]


def expected_depth(graph: bf.Graph, sources: list[int]) -> list[int]:
    found = nx.multi_source_dijkstra_path_length(graph.to_networkx(), set(sources), weight=None)
    return [found.get(vertex, -1) for vertex in range(graph.num_vertices)]


@pytest.mark.parametrize("threads", THREADS)
def test_zoo(animal: Animal, threads: int) -> None:
    graph = animal.graph()
    for source in range(min(graph.num_vertices, 5)):
        found = bf.bfs(graph, source, threads=threads)
        assert found.depth.tolist() == expected_depth(graph, [source])
        assert found.depth.dtype == np.int32
        found.verify()


@given(edges(), st.data())
def test_any_graph(animal: Animal, data: st.DataObject) -> None:
    graph = animal.graph()
    vertex = st.integers(0, animal.num_vertices - 1)
    sources = data.draw(st.lists(vertex, min_size=1, max_size=3, unique=True))
    for threads in THREADS:
        found = bf.bfs(graph, sources, threads=threads)
        assert found.depth.tolist() == expected_depth(graph, sources)
        found.verify()


@pytest.mark.parametrize("direction", ["push", "pull", None])
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("spec", ["kron:9", "grid:30x30", "star:500", "rmat:9:directed=yes"])
def test_every_direction(spec: str, threads: int, direction: str | None) -> None:
    program = replace(BFS, step=[replace(HOP, direction=direction)])
    graph = bf.generate(spec)
    source = int(np.argmax(graph.degrees))
    start = {"depth": {source: 0}, "parent": {source: source}}
    answer = bf.run(program, graph, frontier=[source], init=start, threads=threads)
    np.testing.assert_array_equal(answer["depth"].view(np.int32), expected_depth(graph, [source]))
    bf.verify.verify_bfs(graph, [source], answer["depth"].view(np.int32), answer["parent"])
    if direction is not None and answer.record.iterations > 1:
        assert set(answer.record.pulled.tolist()) == {direction == "pull"}


@pytest.mark.parametrize("balance", ["by_vertex", "by_degree", "by_edges"])
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("spec", ["kron:10", "star:9000", "grid:30x30", "path:400"])
def test_every_balance(spec: str, threads: int, balance: str) -> None:
    """With hubs of more than 4,096 edges, and with none."""
    program = replace(BFS, step=[replace(HOP, direction="push", balance=balance)])
    graph = bf.generate(spec)
    for source in (int(np.argmax(graph.degrees)), 1):
        start = {"depth": {source: 0}, "parent": {source: source}}
        answer = bf.run(program, graph, frontier=[source], init=start, threads=threads)
        depth = answer["depth"].view(np.int32)
        np.testing.assert_array_equal(depth, expected_depth(graph, [source]))
        bf.verify.verify_bfs(graph, [source], depth, answer["parent"])
        assert answer.record.edges_visited == graph.degrees[depth >= 0].sum()


@pytest.mark.parametrize("threads", THREADS)
def test_smallest_parents(threads: int) -> None:
    graph = bf.generate("kron:10")
    source = int(np.argmax(graph.degrees))
    found = bf.bfs(graph, source, deterministic=True, threads=threads)
    found.verify()
    for vertex in range(graph.num_vertices):
        if found.depth[vertex] > 0:
            above = [
                u for u in graph.neighbors(vertex) if found.depth[u] == found.depth[vertex] - 1
            ]
            assert found.parent[vertex] == min(above)


def test_target_stops_early_and_paths_are_shortest() -> None:
    graph = bf.generate("path:100")
    found = bf.bfs(graph, 0, target=10)
    assert found.depth[10] == 10
    assert found.depth[99] == -1
    assert found.path_to(7) == list(range(8))
    assert found.path_to(99) == []
    with pytest.raises(bf.OptionError, match="not verified"):
        found.verify()
    lattice = bf.generate("grid:20x20:0")
    whole = bf.bfs(lattice, 0)
    steps = whole.path_to(399)
    assert len(steps) == whole.depth[399] + 1 == 39
    assert all(b in lattice.neighbors(a) for a, b in zip(steps, steps[1:], strict=False))


def test_labels_come_back() -> None:
    graph = bf.from_edges(["oslo", "bern"], ["bern", "rome"])
    found = bf.bfs(graph, "oslo")
    assert found.path_to("rome") == ["oslo", "bern", "rome"]
    frame = found.to_pandas().set_index("vertex")
    assert frame.loc["rome", "depth"] == 2
    with pytest.raises(bf.VertexError, match="no vertex 'nowhere'"):
        bf.bfs(graph, "nowhere")
    with pytest.raises(bf.VertexError):
        bf.bfs(ZOO["empty"].graph(), 0)


def test_the_story() -> None:
    found = bf.bfs(bf.generate("grid:40x40:0"), 0)
    lines = repr(found).splitlines()
    assert lines[0] == "BreadthFirst on 1,600 vertices, 3,120 edges, undirected"
    assert lines[1].strip() == "1,600 vertices reached, at most 78 edges away"
    assert len(lines) == 4
    frame = found.report.to_pandas()
    assert frame["frontier"].sum() == 1600
    assert set(frame["direction"]) <= {"push", "pull"}
    assert found.report.totals()["iterations"] == len(frame) == 79
    assert 0 < found.report.barriers < 79  # small frontiers are one thread's work


def test_a_broken_answer_is_caught() -> None:
    found = bf.bfs(bf.generate("kron:8"), 5)
    found.depth[np.argmax(found.depth)] += 1
    with pytest.raises(bf.VerificationError):
        found.verify()
