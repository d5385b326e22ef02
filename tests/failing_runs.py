"""Calls that `failures` has fail beside those of `failing_calls`: what goes beyond plain runs.

Devices that never meet, graphs in mapped files, the order of degrees, other models, dataflows,
graphs from graphs, Graph500.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import broadfront as bf
import routing_worklist
from broadfront import gas, graph500, routing, semiring
from broadfront.backends.cpu.memory import need, streaming
from broadfront.characterize import vertex_programs
from failing_calls import GROUPS as PLAIN_GROUPS
from failing_calls import PLAIN, REAL, Call, Columns, breaking, columns_of, copy_of

streaming.ALWAYS, need.LEAST_OF_ARCS, need.LEAST_OF_A_THREAD = True, 1, 1
"""Mapped graphs are streamed, however small they are."""

SKEWED = bf.generate("kron:6")
ROOMY = 1 << 40


def beyond(full: bool) -> Iterator[Call]:
    """Yield calls beyond plain runs."""
    yield _on("worklist", PLAIN, lambda graph: {"level": routing_worklist.breadth_first(graph, 0)})
    yield _on("subgraph", REAL, lambda graph: columns_of(graph.subgraph(np.arange(20))))
    if not full:
        return
    yield from _apart()
    yield from _mapped()
    yield from _ordered()
    yield _on("routers", PLAIN, lambda graph: {
        "component": routing.connected_components(graph, 3)
    })  # fmt: skip
    yield _on("gas", PLAIN, lambda graph: {
        "depth": gas.run(vertex_programs.BFS, graph, frontier=[0], threads=2)["depth"]
    })  # fmt: skip
    yield _on("semiring", REAL, _product)
    yield _on("columns", REAL, _columns)
    yield Call("graph500", lambda folder: None, _benchmark)


def _on(name: str, graph: bf.Graph, call: Callable[[bf.Graph], Columns], **how: Any) -> Call:
    return Call(name, lambda folder: copy_of(graph), call, **how)


def _apart() -> Iterator[Call]:
    for execution in ("async", bf.Async(fused=False)):
        where: dict[str, Any] = {"devices": 3, "execution": execution, "threads": 1}
        told = "" if execution == "async" else " unfused"
        yield _on(f"bfs async{told}", PLAIN, partial(_depth, **where))
        yield _on(f"sssp async{told}", REAL, partial(_distance, **where))
    yield _on("pagerank async", PLAIN, partial(_rank, devices=3, execution="async"), exact=False)


def _mapped() -> Iterator[Call]:
    for name, call in {"bfs": _depth, "sssp": _distance, "pagerank": _rank}.items():
        yield Call(f"{name} mapped", _stored, partial(_read_and, call))
    yield Call("bfs from each mapped", _stored, partial(_read_and, _rows))


def _stored(folder: Path) -> Path:
    path = folder / "mapped.bfg"
    if not path.exists():
        REAL.save(path)
    return path


def _read_and(call: Callable[..., Columns], path: Path) -> Columns:
    return call(bf.read(path), memory_limit=ROOMY, threads=2)


def _ordered() -> Iterator[Call]:
    for name, call in {"bfs": _depth, "pagerank": _rank, "bfs from each": _rows}.items():
        yield _on(f"{name} by degree", SKEWED, partial(call, relabel=True, threads=2))


def _depth(graph: bf.Graph, **how: Any) -> Columns:
    return {"depth": bf.bfs(graph, 0, **how).depth}


def _rows(graph: bf.Graph, **how: Any) -> Columns:
    return {"depth": bf.bfs(graph, [0, 1, 2], each=True, **how).depth}


def _distance(graph: bf.Graph, **how: Any) -> Columns:
    return {"distance": bf.sssp(graph, 0, **how).distance}


def _rank(graph: bf.Graph, **how: Any) -> Columns:
    return {"rank": bf.pagerank(graph, **how).rank}


def _product(graph: bf.Graph) -> Columns:
    ones = np.ones(graph.num_vertices)
    return {"product": semiring.vxm(ones, graph, semiring.plus_times, threads=2)}


def _columns(graph: bf.Graph) -> Columns:
    told = graph.with_vertex_data(height=np.arange(graph.num_vertices) % 5)
    told = told.with_edge_data(length=np.arange(graph.num_arcs))
    return columns_of(told.edge_subgraph(graph.targets % 2 == 0).with_weights(None))


def _benchmark(nothing: None) -> Columns:
    settings = graph500.Settings(5, roots=2, kernels=("bfs",))
    own = graph500.implementation("broadfront")
    outcome = graph500.Benchmark(settings, own, lambda line: None).run()
    return {"roots": np.array([search.root for search in outcome.searches["bfs"]])}


GROUPS = {**PLAIN_GROUPS, "beyond": beyond, "breaking": breaking}
