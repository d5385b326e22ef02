"""What a graph says of itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import broadfront as bf
from zoo import Animal, same


def test_the_zoo_describes_itself(animal: Animal) -> None:
    graph = animal.graph()
    facts = graph.describe()
    assert facts["vertices"] == animal.num_vertices
    assert facts["edges"] == graph.num_edges
    touched = {*animal.source, *animal.target}
    assert facts["isolated"] == animal.num_vertices - len(touched)
    assert f"{graph.num_edges:,} edges" in repr(graph)
    assert graph._repr_html_().startswith("<table>")
    assert graph.num_arcs == int(graph.degrees.sum())


def test_repr_tells_what_matters() -> None:
    graph = bf.from_edges(["a", "b"], ["b", "c"], weight=[0.5, 2], directed=False)
    assert repr(graph) == (
        "Graph(undirected, 3 vertices, 2 edges, weights float64 0.5..2.0, degree 1..2 mean 1.3, "
        "labels string, 88 bytes)"
    )
    assert "string" in graph._repr_html_()


def test_html_is_escaped() -> None:
    graph = bf.from_edges([0], [1])
    graph.origin = bf.Origin("<script>")
    assert "<script>" not in graph._repr_html_()


def test_bytes_grow_with_the_transpose() -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 0])
    before = graph.nbytes
    assert graph.transpose.transpose is graph
    assert graph.nbytes == 2 * before


def test_pickled_and_back() -> None:
    graph = bf.from_edges(["x", "y"], ["y", "z"], weight=[1, 2])
    graph.transpose  # noqa: B018
    same(graph, pickle.loads(pickle.dumps(graph)))


def test_a_stored_graph_can_be_pickled(tmp_path) -> None:  # type: ignore[no-untyped-def]
    graph = bf.generate("cycle:9")
    graph.save(tmp_path / "ring.bfg")
    same(graph, pickle.loads(pickle.dumps(bf.read(tmp_path / "ring.bfg"))))


def test_neighbors_by_position() -> None:
    graph = bf.from_edges([0, 0], [1, 2])
    assert graph.neighbors(0).tolist() == [1, 2]
    assert graph.neighbors(2).tolist() == []
    for vertex in (-1, 3, 99, 1.5):
        with pytest.raises(bf.VertexError, match="is not in"):
            graph.neighbors(vertex)


def test_nobody_can_write_into_a_graph() -> None:
    graph = bf.from_edges(["a", "b"], ["b", "c"], weight=[1, 2])
    for held in (graph, graph.transpose, pickle.loads(pickle.dumps(graph))):
        for array in (held.offsets, held.targets, held.weights, held.labels):
            assert array is not None
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
            base = array.base
            while base is not None:
                assert not base.flags.writeable
                base = base.base


def test_a_check_that_another_thread_has_done() -> None:
    graph = bf.from_edges([0], [1])

    class Fickle:
        def __get__(self, graph: bf.Graph, kind: type) -> object:
            looks.append(1)
            return (lambda: None) if len(looks) == 1 else None

        def __set__(self, graph: bf.Graph, value: object) -> None:
            pass

    looks: list[int] = []
    raced = type("Raced", (bf.Graph,), {"_check": Fickle()})
    graph.__class__ = raced
    graph._checked()
    assert looks == [1]


def test_ones_do_not_overflow() -> None:
    ring = bf.from_edges([0] * 300, range(1, 301), directed=False).to_scipy()
    assert (ring @ ring)[0, 0] == 300


def test_loading_is_told() -> None:
    graph = bf.from_edges([0, 0, 1], [1, 1, 1])
    assert str(graph.origin).startswith("edges: 3 edges read, 1 duplicates merged, 1 self-loops, ")
    assert "dropped" in str(bf.from_edges([0], [0], simple=True).origin)


def test_progress_is_passed_on() -> None:
    stages: list[str] = []
    bf.generate("kron:6", progress=lambda stage, done, total: stages.append(stage))
    assert {"generating edges", "sorting neighbours"} <= set(stages)
    ids = np.arange(10)
    stages.clear()
    bf.from_edges(ids, ids, progress=lambda stage, done, total: stages.append(stage))
    assert "counting edges" in stages


def test_errors_are_one_family() -> None:
    for error in (bf.FormatError, bf.GraphError, bf.OptionError, bf.VertexError,
                  bf.MissingDependencyError):  # fmt: skip
        assert issubclass(error, bf.BroadfrontError)
    wrong = bf.FormatError("file.el", "problem", 3)
    again = pickle.loads(pickle.dumps(wrong))
    assert (again.path, again.line, again.problem) == ("file.el", 3, "problem")


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(bf.MissingDependencyError, match=r"pip install 'broadfront\[networkx\]'"):
        bf.from_edges([0], [1]).to_networkx()
