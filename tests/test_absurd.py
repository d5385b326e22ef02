"""What makes no sense is refused by its name, in a typed error, before anything is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import (
    Advance,
    Compute,
    Field,
    Phase,
    Program,
    Repeat,
    characterize,
    gas,
    graph500,
    routing,
    semiring,
    verify,
)

GRAPH = bf.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
ARRAY = np.array([0, 1])
CONTEXT = routing.Context(1)


def further(source, neighbor, edge, state):
    return state.depth[source] + 1


def nothing(vertex, state):
    return 0


DEPTH = {"depth": Field(np.int32, fill=99, combine="min")}
HOPS = Program(DEPTH, step=[Advance(further, into="depth")])
NO_FLAG: list[Any] = ["no", 1, ARRAY, [], None]

GRAPHLESS: dict[str, Callable[[Any], object]] = {
    "bfs": lambda graph: bf.bfs(graph, 0),
    "sssp": lambda graph: bf.sssp(graph, 0),
    "components": bf.connected_components,
    "min_label": lambda graph: bf.connected_components(graph, method="min_label"),
    "pagerank": bf.pagerank,
    "betweenness": bf.betweenness,
    "triangles": bf.triangles,
    "run": lambda graph: bf.run(HOPS, graph),
    "run_each": lambda graph: bf.run_each(HOPS, graph, frontier=[0]),
    "explore": lambda graph: bf.explore(graph, DEPTH),
    "split": lambda graph: bf.split(graph, 2),
    "gas": lambda graph: gas.run(gas.VertexProgram(DEPTH, apply=nothing, limit=1), graph),
}


@pytest.mark.parametrize("name", GRAPHLESS)
def test_what_is_no_graph(name: str) -> None:
    for given in (None, "graph.bfg", HOPS, ARRAY):
        with pytest.raises(bf.GraphError, match=r"expected a Graph, found .*: bf\.\w+ makes one"):
            GRAPHLESS[name](given)


def test_what_makes_graphs_of_things_is_named() -> None:
    nx = pytest.importorskip("networkx")
    with pytest.raises(bf.GraphError, match=r"bf.from_networkx makes one"):
        bf.bfs(nx.path_graph(3), 0)


FLAGS: dict[str, Callable[[Any], object]] = {
    "each": lambda flag: bf.bfs(GRAPH, 0, each=flag),
    "deterministic": lambda flag: bf.bfs(GRAPH, 0, deterministic=flag),
    "parents": lambda flag: bf.sssp(GRAPH, 0, parents=flag),
    "weighted": lambda flag: bf.pagerank(GRAPH, weighted=flag),
    "normalized": lambda flag: bf.betweenness(GRAPH, normalized=flag),
    "directed": lambda flag: bf.from_edges([0], [1], directed=flag),
    "simple": lambda flag: bf.generate("path:3", simple=flag),
    "map": lambda flag: bf.read("path:3", map=flag),
    "counts": lambda flag: Phase([Compute(nothing)], counts=flag),
    "fused": lambda flag: bf.Async(fused=flag),
    "complement": lambda flag: semiring.mxv(
        GRAPH, np.ones(3), semiring.plus_times, mask=np.ones(3), complement=flag
    ),
    "validate": lambda flag: graph500.Settings(5, validate=flag),
}


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_is_true_or_false(name: str) -> None:
    for given in NO_FLAG:
        with pytest.raises(bf.OptionError, match=f"{name}=.*: expected True or False"):
            FLAGS[name](given)


@pytest.mark.parametrize("name", ["checked", "relabel"])
def test_options_that_are_flags(name: str) -> None:
    for given in ("no", 1, ARRAY, []):
        with pytest.raises(bf.OptionError, match=f"{name}=.*: expected True or False"):
            bf.bfs(GRAPH, 0, devices=2, **{name: given})


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "devices": (lambda: bf.bfs(GRAPH, 0, devices=ARRAY), "devices="),
    "execution": (lambda: bf.bfs(GRAPH, 0, execution=ARRAY), "execution="),
    "memory": (lambda: bf.bfs(GRAPH, 0, memory=ARRAY), "memory="),
    "method": (lambda: bf.connected_components(GRAPH, method=ARRAY), "method="),
    "dangling": (lambda: bf.pagerank(GRAPH, dangling=ARRAY), "dangling="),
    "damping": (lambda: bf.pagerank(GRAPH, damping=float("nan")), "damping=nan"),
    "tol": (lambda: bf.pagerank(GRAPH, tol=float("nan")), "tol=nan"),
    "max_iterations": (lambda: bf.pagerank(GRAPH, max_iterations=1.5), "max_iterations=1.5"),
    "width": (lambda: bf.sssp(GRAPH, 0, width="3"), "width='3'"),
    "a width of nothing": (lambda: bf.sssp(GRAPH, 0, width=float("nan")), "width=nan"),
    "source of a graph": (lambda: bf.read(3), "source=3: expected a path"),
    "a byte that no name has": (lambda: bf.read("a\0.el"), "source='a.*: expected a path"),
    "ids": (lambda: bf.read("path:3", ids=ARRAY), "ids="),
    "spec": (lambda: bf.generate(None), "spec=None"),
    "a number for a file": (lambda: GRAPH.save(1), "path=1: expected the path"),
    "a number for a profile": (lambda: bf.MemoryProfile.load(1), "path=1: expected the path"),
    "a profile": (lambda: bf.MemoryProfile(queue=float("nan")), "queue=nan"),
    "a large profile": (lambda: bf.MemoryProfile(box=1e30), r"box=1e\+30: expected at most"),
    "where to convert to": (lambda: bf.convert("path:3", None), "path=None: expected the path"),
    "no blocks": (lambda: bf.convert(3, "x.bfg"), "source=3: expected a path, or blocks"),
    "columns of blocks": (
        lambda: bf.convert([], "x.bfg", columns=(0, 1)),
        "columns= goes with files; source is blocks",
    ),
    "slots": (lambda: bf.Async(slots=1 << 40), "slots=.*: expected at most 65,536"),
    "packet": (lambda: bf.Async(packet=1 << 40), "packet=.*: expected at most"),
    "program": (lambda: bf.run(None, GRAPH), "program=None: expected a bf.Program"),
    "init": (lambda: bf.run(HOPS, GRAPH, init=ARRAY), "init=.*: expected a dictionary"),
    "names of init": (lambda: bf.run(HOPS, GRAPH, init={0: 1}), "init=.*: expected a dictionary"),
    "parameters": (
        lambda: bf.run_each(HOPS, GRAPH, frontier=[0], parameters="x"),
        "parameters='x': expected a dictionary",
    ),
    "fields": (lambda: bf.explore(GRAPH, None), "fields=None: expected a dictionary"),
    "step": (lambda: Program(DEPTH, step="abc"), "step='abc': expected a list"),
    "no step": (lambda: Phase([]), "a phase needs operators"),
    "phases": (lambda: Repeat(True, limit=2), "phases=True: expected a list"),
    "into": (
        lambda: Program(DEPTH, step=[Advance(further, into=["depth"])]),
        r"Advance\(into=\['depth'\]\): expected a name",
    ),
    "along": (
        lambda: Program(DEPTH, step=[Advance(further, into="depth", along=ARRAY)]),
        r"Advance\(along=.*: expected a name",
    ),
    "over": (lambda: Compute(nothing, over=ARRAY), "over="),
    "combine": (lambda: Field(np.int32, combine=ARRAY), "combine="),
    "per": (lambda: Field(np.int32, per=ARRAY), "per="),
    "a vertex program": (lambda: gas.run(None, GRAPH), "expected a VertexProgram"),
    "its sum": (
        lambda: gas.VertexProgram(DEPTH, apply=nothing, limit=1, sum=[]),
        "sum=",
    ),
    "add": (lambda: semiring.Semiring(ARRAY, lambda one, other: one), "add="),
    "values": (lambda: semiring.Vector(3, [0], ["a"]), "values=.*: expected numbers"),
    "dtype": (lambda: semiring.Semiring("sum", lambda one, other: one, []), r"dtype=\[\]"),
    "ring": (lambda: semiring.masked_square(GRAPH, None), "ring=None"),
    "a scale of half": (lambda: graph500.draw_edges(5.5), "scale=5.5: expected a whole number"),
    "ends that are no vertices": (
        lambda: graph500.EdgeList(np.array([0, 1]), np.array([1, 9]), 3),
        "target holds 9, which is no position in 0..2",
    ),
    "ends that are missing": (
        lambda: graph500.EdgeList(np.array([0, 1]), np.array([1]), 3),
        r"target has shape \(1,\)",
    ),
    "roots of nothing": (lambda: graph500.draw_roots(None), "edges=None: expected an EdgeList"),
    "an implementation": (lambda: graph500.implementation([]), "unknown; known: list"),
    "what a study repeats": (lambda: characterize.Settings(repeats=None), "repeats=None"),
    "sources of an answer": (
        lambda: verify.verify_bfs(GRAPH, [None], np.zeros(3, np.int32)),
        "sources=.*: expected positions",
    ),
    "ranks": (lambda: verify.verify_pagerank(GRAPH, [0, [1]], 0.85, 1e-6), "one entry per vertex"),
    "memory of devices": (lambda: routing.Context(2, memory=ARRAY), "memory="),
    "what an endpoint does": (lambda: routing.Context(1).host.assign(3), "3 is no function"),
    "a segment": (lambda: routing.Segment(None), "None: expected an array"),
    "buffers": (
        lambda: routing.Link(CONTEXT.host, CONTEXT.devices[0], num_buffers=1 << 40),
        "a link has at most",
    ),
    "columns of edges": (
        lambda: bf.from_edges([0], [1], edge_data=[1]),
        "edge_data=.*: expected a dictionary",
    ),
    "duplicates": (lambda: bf.from_edges([0], [1], duplicates=ARRAY), "duplicates="),
    "dtype of a field": (lambda: Field(np.zeros(0)), "a field of array"),
    "a record of nothing": (lambda: Field([]), "records without values"),
    "a width beyond all": (lambda: Field(np.int32, width=1 << 63), "an element of .* bytes"),
    "records": (
        lambda: semiring.vxm(np.ones(3), GRAPH, semiring.plus_times, records=()),
        r"records=\(\): expected a list",
    ),
    "a matrix": (lambda: bf.from_scipy([[0, 1]]), "expected a SciPy sparse array, found"),
    "a graph of another": (lambda: bf.from_networkx(3), "expected a NetworkX graph, found"),
    "a frame": (lambda: bf.from_pandas({"a": [1]}), "expected a pandas data frame, found"),
    "a frame of Polars": (lambda: bf.from_polars(3), "expected a Polars data frame, found"),
    "a table": (lambda: bf.from_arrow([1]), "expected an Arrow table, found"),
    "an end that is one number": (
        lambda: graph500.EdgeList(np.array(1), np.array([1]), 3),
        r"source has shape \(\)",
    ),
    "a block that is a number": (lambda: bf.convert([np.array(1)], "x.bfg"), "a block array"),
    "where a partition is": (lambda: bf.Partition.load(None, GRAPH), "path=None: expected"),
    "speeds": (lambda: bf.split(GRAPH, 2, speeds=[10**400, 1]), "speeds="),
    "a column": (lambda: GRAPH.with_vertex_data(far=[0, [1]]), "far is no array"),
    "scale": (lambda: graph500.Settings(5.5), "scale=5.5"),
    "kernels": (lambda: graph500.Settings(5, kernels="bfs"), "kernels='bfs': expected a list"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense(name: str) -> None:
    call, message = WRONG[name]
    with pytest.raises(bf.BroadfrontError, match=message):
        call()


def test_what_looks_odd_and_is_none() -> None:
    assert bf.bfs(GRAPH, np.array(2)).depth.tolist() == [1, 2, 0]
    assert bf.bfs(GRAPH, 0, deterministic=np.bool_(False), time_limit=10**400).depth[2] == 2
    assert bf.bfs(GRAPH, 0, time_limit=np.float16(100), memory_limit=float("inf")).depth[2] == 2
    assert len(graph500.draw_edges(np.int64(5), np.uint8(4))) == 128
    assert bf.Async(slots=np.uint8(2), band=float("inf")).slots == 2
    assert type(bf.Async(slots=np.uint8(2)).slots) is int
