from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import broadfront as bf
from broadfront import atomics
from broadfront.algorithms.triangles import PER_VERTEX, keep, triangles
from broadfront.algorithms.undirected import undirected
from broadfront.errors import FunctorError, OptionError, TimeLimitError
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.operators.describe import Field, Intersect
from broadfront.operators.intersect import METHODS
from zoo import Animal, edges

THREADS = (1, 2, 4)


def tell(first, second, third, state):
    atomics.add(state.per_vertex, first, 1)
    atomics.add(state.per_vertex, second, 1)
    atomics.add(state.per_vertex, third, 1)


def share_in_common(first, second, edge, common, state):
    one = state.offsets[first + 1] - state.offsets[first]
    other = state.offsets[second + 1] - state.offsets[second]
    state.common[edge] = common
    state.jaccard[edge] = common / (one + other - common)


TOTAL = Field(np.int64, length=1)
COUNTED = {
    method: Program({"total": TOTAL}, [Intersect(total="total", method=method)])
    for method in METHODS
}
AT_VERTICES = {
    method: Program(PER_VERTEX.fields, [Intersect(keep, each="vertex", method=method)])
    for method in METHODS
}
LISTED = {
    method: Program(
        {"per_vertex": Field(np.int64)}, [Intersect(tell, each="triangle", method=method)]
    )
    for method in METHODS
}


def in_networkx(animal: Animal) -> tuple[int, list[int]]:
    graph = nx.Graph()
    graph.add_nodes_from(range(animal.num_vertices))
    pairs = zip(animal.source, animal.target, strict=True)
    graph.add_edges_from((one, other) for one, other in pairs if one != other)
    counts = nx.triangles(graph)
    corners = [counts[vertex] for vertex in range(animal.num_vertices)]
    return sum(corners) // 3, corners


def in_scipy(graph: bf.Graph) -> tuple[int, np.ndarray]:
    matrix = undirected(graph).to_scipy().astype(np.int64)
    matrix.data[:] = 1
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    corners = (matrix @ matrix).multiply(matrix).sum(axis=1) // 2
    return int(corners.sum()) // 3, np.asarray(corners).ravel()


def check_every_way(graph: bf.Graph, total: int, corners: object, threads: int) -> None:
    found = triangles(graph, threads=threads)
    assert found.total == total
    assert found.per_vertex.dtype == np.int64
    np.testing.assert_array_equal(found.per_vertex, corners)
    found.verify()
    view = undirected(graph)
    for method in METHODS:
        assert run(COUNTED[method], view, threads=threads)["total"][0] == total
        for programs in (AT_VERTICES, LISTED):
            answer = run(programs[method], view, threads=threads)
            np.testing.assert_array_equal(answer["per_vertex"], corners)


@pytest.mark.parametrize("threads", THREADS)
def test_zoo(animal: Animal, threads: int) -> None:
    check_every_way(animal.graph(), *in_networkx(animal), threads)


@settings(max_examples=40)
@given(edges())
def test_any_graph(animal: Animal) -> None:
    total, corners = in_networkx(animal)
    for threads in THREADS:
        check_every_way(animal.graph(), total, corners, threads)


@pytest.mark.parametrize("spec", ["kron:12", "uniform:12", "rgg:12", "grid:60x70", "complete:150"])
def test_larger(spec: str) -> None:
    graph = bf.generate(spec)
    total, corners = in_scipy(graph)
    for threads in THREADS:
        check_every_way(graph, total, corners, threads)


def test_hub_beside_even_rows() -> None:
    """A wheel: the rim alone would be merged, the hub must not cost a row of its own each time."""
    size = 3000
    rim = np.arange(1, size + 1)
    source = np.concatenate([np.zeros(size, int), rim, rim])
    target = np.concatenate([rim, np.roll(rim, 1), rim])
    graph = bf.from_edges(source, target, directed=True)
    check_every_way(graph, size, np.array([size] + [2] * size), 2)


@settings(max_examples=40)
@given(edges(weighted=False))
def test_common_neighbours_of_every_edge(animal: Animal) -> None:
    graph = animal.graph(directed=False)
    plain = nx.Graph(graph.to_networkx())
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    program = Program(
        {
            "common": Field(np.int64, fill=-1, per="edge"),
            "jaccard": Field(np.float64, per="edge"),
            "total": TOTAL,
        },
        [Intersect(share_in_common, total="total")],
    )
    total, _ = in_networkx(animal)
    source, target = graph.sources(), graph.targets
    expected = [
        len(list(nx.common_neighbors(plain, one, other))) if one < other else -1
        for one, other in zip(source.tolist(), target.tolist(), strict=True)
    ]
    for threads in (1, 2):
        answer = run(program, graph, threads=threads)
        assert answer["common"].tolist() == expected
        assert answer["total"][0] == total
    if graph.num_self_loops == 0:
        arcs = np.flatnonzero(source < target)
        pairs = [(int(source[arc]), int(target[arc])) for arc in arcs]
        jaccard = [value for _, _, value in nx.jaccard_coefficient(plain, pairs)]
        np.testing.assert_allclose(answer["jaccard"][arcs], jaccard)


def test_result_tells_its_story() -> None:
    found = triangles(bf.from_edges(["a", "b", "c", "c"], ["b", "c", "a", "d"]))
    assert "1 triangles" in repr(found)
    assert found.to_pandas()["triangles"].tolist() == [1, 1, 1, 0]
    assert found.report.iterations == 1


def test_view_of_a_directed_graph_is_kept() -> None:
    graph = bf.from_edges([0, 1, 2, 2], [1, 2, 0, 2])
    assert undirected(graph) is undirected(graph)
    assert undirected(undirected(graph)) is undirected(graph)


def test_deadline_leaves_everything_usable() -> None:
    graph = bf.generate("kron:14")
    whole = triangles(graph, threads=2)
    for programs in (COUNTED, AT_VERTICES, LISTED):
        for limit in (1e-6, 1e-3, 3e-3):
            with pytest.raises(TimeLimitError):
                run(programs["by_degree"], graph, threads=2, time_limit=limit)
        (answer,) = run(programs["by_degree"], graph, threads=2).fields.values()
        assert answer.sum() == (1 if len(answer) == 1 else 3) * whole.total
    whole.verify()


def test_counts_at_vertices_keep_to_the_limits_of_the_call() -> None:
    graph = bf.generate("kron:14")
    quick = triangles(bf.generate("complete:4"), threads=2, time_limit=10)
    assert quick.per_vertex.tolist() == [3, 3, 3, 3]
    slow = replace(triangles(graph, threads=2), _options={"threads": 2, "time_limit": 1e-6})
    with pytest.raises(TimeLimitError, match="time_limit=1e-06"):
        slow.columns()


def test_what_is_refused() -> None:
    with pytest.raises(OptionError, match="each='corner'"):
        Intersect(keep, each="corner")
    with pytest.raises(OptionError, match="method='magic'"):
        Intersect(total="total", method="magic")
    with pytest.raises(OptionError, match="a functor or a total"):
        Intersect()
    with pytest.raises(OptionError, match="no field 'total'"):
        Program({"count": TOTAL}, [Intersect(total="total")])
    with pytest.raises(OptionError, match="at most one"):
        Program({"total": TOTAL}, [Intersect(total="total"), Intersect(total="total")])
    with pytest.raises(OptionError, match="directed"):
        run(COUNTED["by_id"], bf.from_edges([0, 1, 2], [1, 2, 0]))


def asks_for_more(vertex, count, state):
    state.per_vertex[vertex] = state.missing[vertex]


def test_functor_at_fault_is_named() -> None:
    program = Program({"per_vertex": Field(np.int64)}, [Intersect(asks_for_more, each="vertex")])
    with pytest.raises(FunctorError, match=r"test_triangles\.py, line \d+: functor asks_for_more"):
        run(program, bf.generate("complete:4"))
