"""All models on larger graphs, in every style, on 1 to 4 devices and in blocks: ``make models``.

Answers are compared with those of the built-in primitives, which are verified, and what the records
count is printed. The searches of Graph500 are checked by the rules of the benchmark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import broadfront as bf
import gas_searches
import gas_sums
import semirings
from broadfront.graph.edges import edge_arrays
from broadfront.graph500 import IMPLEMENTATIONS, EdgeList, check_levels, index_edges
from broadfront.report.record import Record, joined
from broadfront.verify import verify_bfs

REAL = Path(__file__).parents[3] / "shared" / "data"
FILES = ("karate.graph", "lesmis.graph", "chesapeake.mtx", "copter2.graph.xz", "musae-github.csv")
COUNTED = ("iterations", "edges_visited", "atomics", "barriers", "kernel_calls", "peak_bytes")


def graphs() -> Iterator[tuple[str, bf.Graph]]:
    """Return graphs of a few kinds, without loops, with float64 weights."""
    specs = ("kron:16:simple=yes", "rmat:12:directed=yes:simple=yes",
             "grid:60x60:0")  # fmt: skip
    for spec in specs:
        yield spec, weighted(bf.generate(spec))
    for name in FILES if REAL.is_dir() else ():
        options = {"directed": False} if name.endswith("csv") else {}
        yield name, weighted(bf.read(REAL / name, **options))


def weighted(graph: bf.Graph) -> bf.Graph:
    """Return a graph with weights that its edges have both ways."""
    low = np.minimum(graph.sources(), graph.targets)
    weights = (low * 7 + np.maximum(graph.sources(), graph.targets) * 13) % 63 + 1.0
    return graph.with_weights(weights)


def by_primitives(graph: bf.Graph, source: int) -> Iterator[tuple[str, Any, Record]]:
    """Return name, answer and record of each built-in primitive, which take labels."""
    label = graph.labels_of([source])[0]
    for name, field, result in (
        ("bfs", "depth", bf.bfs(graph, label)),
        ("sssp", "distance", bf.sssp(graph, label)),
        ("components", "component", bf.connected_components(graph)),
        ("pagerank", "rank", bf.pagerank(graph)),
    ):
        result.verify()
        yield name, getattr(result, field), result.report


def by_gas(graph: bf.Graph, source: int, **options: Any) -> Iterator[tuple[str, Any, Record]]:
    """Return name, answer and record of each vertex program."""
    for name, field, solve in (
        ("bfs", "depth", partial(gas_searches.search, graph, source)),
        ("sssp", "distance", partial(gas_searches.shortest_paths, graph, source)),
        ("components", "label", partial(gas_sums.components, graph)),
        ("pagerank", "rank", partial(gas_sums.pagerank, graph)),
    ):
        answer = solve(**options)
        yield name, answer[field], answer.record


def by_semirings(graph: bf.Graph, source: int, **options: Any) -> Iterator[tuple[str, Any, Record]]:
    """Return name, answer and record of each example over semirings."""
    for name, solve in (
        ("bfs", partial(semirings.bfs, graph, source)),
        ("sssp", partial(semirings.sssp, graph, source)),
        ("pagerank", partial(semirings.pagerank, graph)),
    ):
        records: list[Record] = []
        yield name, solve(records=records, **options), joined(records)


def check(spec: str, graph: bf.Graph) -> None:
    source = int(np.argmax(graph.degrees))
    expected = {}
    for name, found, record in by_primitives(graph, source):
        expected[name] = found
        show(f"{spec} {name}", "data-centric", record)
    ways = [(f"gas {style}, {devices} devices", by_gas, {"style": style, "devices": devices})
            for style in bf.gas.STYLES for devices in (1, 2, 3, 4)]  # fmt: skip
    ways += [(f"semiring, {devices} devices", by_semirings, {"devices": devices})
             for devices in (1, 2, 4)]  # fmt: skip
    ways += [("semiring, 2 x 2 blocks", by_semirings, {"blocks": (2, 2)})]
    for way, solve, options in ways:
        for name, found, record in solve(graph, source, **options):
            np.testing.assert_allclose(found, expected[name], 1e-6, err_msg=f"{spec} {way} {name}")
            if options.get("devices") == 1:
                show(f"{spec} {name}", way, record)
    if not graph.directed:
        assert semirings.triangles(graph) == bf.triangles(graph).total, spec
        check_searches(spec, graph, source, expected["bfs"])


def check_searches(spec: str, graph: bf.Graph, source: int, depth: Any) -> None:
    """Check every search of Graph500 by the rules, the verifier and the depths of `bfs`."""
    ends = (column.astype(np.int32) for column in edge_arrays(graph)[:2])
    edges = EdgeList(*ends, graph.num_vertices)
    index = index_edges(replace(edges))
    for name, one in IMPLEMENTATIONS.items():
        tree = one.search(one.build(edges), source)
        check_levels(index, source, *tree)
        verify_bfs(graph, source, tree.depth, tree.parent)
        np.testing.assert_array_equal(tree.depth, depth, f"{spec} {name}")
        print(f"{spec} bfs: Graph500, {name}: valid", flush=True)


def show(what: str, way: str, record: Record) -> None:
    totals = record.totals()
    counted = ", ".join(f"{totals[name]:,} {name}" for name in COUNTED)
    print(f"{what}: {way}: {counted}", flush=True)


if __name__ == "__main__":
    for spec, graph in graphs():
        check(spec, graph)
