"""The undirected simple view of a graph, where directions, weights and parallel edges mean nothing.

Method: rows are built anew with every edge in both directions, each once; a graph that is
undirected, without weights and without parallel edges, is its own view. A partition of the graph is
one of the view, too: the vertices are the same.

Invariant: the view is kept with the graph, and the split of a view as long as the partition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from broadfront.clock import Allowance, Clock, preparing
from broadfront.errors import DeviceMemoryError
from broadfront.execution.answer import Answer
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.graph import build
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.locks import new_lock
from broadfront.partition.partition import Partition
from broadfront.progress import listening

_splits: WeakKeyDictionary[Partition, Partition] = WeakKeyDictionary()
_lock = new_lock()


def undirected(graph: Graph) -> Graph:
    """Return the graph with every edge in both directions, once, without weights."""
    if not graph.directed and not graph.weighted and not graph.has_parallel_edges:
        return graph
    kept: tuple[Graph] = graph.kept("undirected view", lambda: (_view(graph),))
    return kept[0]


@preparing()
def _view(graph: Graph) -> Graph:
    graph_targets = graph.targets
    offsets, targets, loops = graph.offsets, graph_targets, graph.num_self_loops
    if graph.directed or graph.has_parallel_edges:
        rows = build.rows(graph.sources(), targets, None, len(offsets) - 1, symmetric=True)
        offsets, targets, loops = rows.offsets, rows.targets, rows.loops_kept
    mapped = graph.mapped and targets is graph_targets
    return Graph(offsets, targets, None, directed=False, self_loops=loops, mapped=mapped)


def run_undirected(program: Program, graph: Graph, **options: Any) -> Answer:
    """Run a program on the undirected view of a graph; see `broadfront.run`."""
    expect_graph(graph)
    clock, how = Clock(), options.get("partitioner")
    with Allowance(options.pop("time_limit", None)) as left, listening(options.get("progress")):
        _refuse_large(graph, options.get("memory_limit"))
        view = undirected(graph)
        before = clock.prepare_seconds
        if isinstance(how, Partition) and how.graph is graph:
            options["partitioner"] = _split_alike(how, view)
        answer = run(program, view, time_limit=left(), **options)
    if before == 0:
        return answer
    record = answer.record
    total = record.prepare_seconds + before
    return replace(answer, record=replace(record, prepare_seconds=total))


def _refuse_large(graph: Graph, most: int | None) -> None:
    """Refuse a mapped graph whose view would be built in more memory than there may be."""
    if most is None or not graph.mapped or graph.keeps("undirected view"):
        return
    wanted = 2 * graph.row_bytes
    if wanted > most and (graph.directed or graph.has_parallel_edges):
        raise DeviceMemoryError(
            f"the undirected graph would be built in {wanted:,} bytes, and memory_limit is {most:,}"
            ": bf.convert(..., directed=False, memory_limit=...) builds it on the disk",
            0, wanted,
        )  # fmt: skip


def _split_alike(partition: Partition, view: Graph) -> Partition:
    """Return the split of a view by the owners of its graph."""
    if partition.graph is view:
        return partition
    with _lock:
        if partition not in _splits:
            _splits[partition] = Partition(
                view, partition.owner, partition.count, partition.name, partition.seconds,
                partition.speeds,
            )  # fmt: skip
        return _splits[partition]
