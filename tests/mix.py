"""Random runs against plain serial answers: a case is drawn from a seed, run, and compared.

A case is a graph of some family, weights of some dtype, a primitive, and where it runs: devices,
threads, partitioner, way to keep ids, memory to begin with, asynchronously, out of core, options of
the primitive. ``python tests/mix.py`` runs many, and prints the seed of each that fails; ``make
mix`` does. A case that is not `wide` keeps to what the tests have compiled.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import broadfront as bf
import oracle
from broadfront.backends.cpu.memory import need, streaming

Edges = list[tuple[int, int, float]]

PARTITIONERS = ["random", "static", "range", "biased", "metis"]
MEMORIES = ["minimal", "fixed", bf.MemoryProfile(queue=0.01, box=0.5)]
WEIGHTS = {
    "float64": 1e6, "float32": 1e3, "int64": 1e9, "int32": 1e6, "int16": 3e4, "int8": 100,
    "uint8": 250, "uint16": 6e4, "uint32": 4e9, "uint64": 1e9,
}  # fmt: skip
"""How much an edge may weigh, so that the oracle's sums are exact."""
WIDTHS = [None, None, 0.5, 1e-3, 7, 1e9]
ASYNC = [
    "async", bf.Async(fused=False), bf.Async(priority=False), bf.Async(band=0, packet=1, slots=1),
    bf.Async(band=3, packet=5, slots=2),
]  # fmt: skip
MAPPED = 0.15
"""The share of wide cases on one device whose arcs come from a mapped file."""


class Case(NamedTuple):
    """A run, and what it must agree with."""

    plain: oracle.Arcs
    graph: bf.Graph
    primitive: str
    where: dict[str, Any]
    random: random.Random
    wide: bool

    def __str__(self) -> str:
        return f"{self.primitive} on {self.graph} with {self.where}"


def _sparse(count: int, draw: random.Random) -> Edges:
    return [(draw.randrange(count), draw.randrange(count), 1.0) for _ in range(count * 2)]


def _skewed(count: int, draw: random.Random) -> Edges:
    ends = [(int(count * draw.random() ** 4), draw.randrange(count), 1.0) for _ in range(4 * count)]
    return [*ends, *((target, source, weight) for source, target, weight in ends[: 2 * count])]


def _path(count: int, draw: random.Random) -> Edges:
    order = draw.sample(range(count), count) if draw.random() < 0.5 else list(range(count))
    return [(first, second, 1.0) for first, second in zip(order, order[1:], strict=False)]


def _strip(count: int, draw: random.Random) -> Edges:
    width = draw.choice([2, 3, 7])
    along = [(place, place + width, 1.0) for place in range(count - width)]
    across = [(place, place + 1, 1.0) for place in range(count - 1) if (place + 1) % width]
    return along + across


def _islands(count: int, draw: random.Random) -> Edges:
    size = draw.choice([3, 10])
    return [
        (place, place - place % size + draw.randrange(size), 1.0) for place in range(count - size)
    ]


def _star(count: int, draw: random.Random) -> Edges:
    hub = draw.randrange(count)
    return [(hub, other, 1.0) for other in range(count)]


FAMILIES: list[Callable[[int, random.Random], Edges]] = [
    _sparse, _skewed, _path, _strip, _islands, _star,
]  # fmt: skip


def case(seed: int, wide: bool = False) -> Case:
    """Return the case of a seed."""
    draw = random.Random(seed)
    count = draw.choice([1, 2, 5, 40, 300, 1500])
    edges = draw.choice(FAMILIES)(count, draw) if count > 2 else [(0, count - 1, 1.0)]
    directed = draw.random() < 0.5
    primitive = draw.choice(list(PRIMITIVES))
    weighted = primitive == "sssp" or (wide and draw.random() < 0.3)
    dtype = draw.choice(list(WEIGHTS)) if wide else "float64"
    if weighted:
        spread = min(draw.choice([1, 10, 1e6]), WEIGHTS[dtype])
        least = draw.choice([0, 1]) if wide else 1
        edges = [(one, two, least + int(spread * draw.random())) for one, two, _ in edges]
    if weighted and dtype == "float64" and wide and draw.random() < 0.5:
        edges = [(one, two, weight * draw.random()) for one, two, weight in edges]
    graph = bf.from_edges(
        np.array([edge[0] for edge in edges], np.int64),
        np.array([edge[1] for edge in edges], np.int64),
        np.array([edge[2] for edge in edges], dtype) if weighted else None,
        count, directed=directed,
    )  # fmt: skip
    where: dict[str, Any] = {"threads": draw.choice([1, 2, 3])}
    if draw.random() < 0.75:
        where |= {
            "devices": draw.choice([2, 3, 4, 8]), "partitioner": draw.choice(PARTITIONERS),
            "relabel": draw.random() < 0.6, "memory": draw.choice(MEMORIES),
        }  # fmt: skip
        if wide and primitive in ASYNCHRONOUS and draw.random() < 0.4:
            where |= {"execution": draw.choice(ASYNC)}
            where["memory"] = "minimal"
    elif wide and draw.random() < MAPPED / 0.25:
        graph, where["memory_limit"] = _mapped(graph), 1 << 30
    return Case(oracle.arcs(count, edges, directed), graph, primitive, where, draw, wide)


def _mapped(graph: bf.Graph) -> bf.Graph:
    """Return a graph whose arcs stay in a file, as if it were larger than memory."""
    streaming.ALWAYS, need.LEAST_OF_ARCS = True, 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.bfg"
        graph.save(path)
        return bf.read(path)  # the map outlives the name


def _sources(drawn: Case) -> list[int]:
    return drawn.random.choices(range(drawn.plain.count), k=drawn.random.choice([1, 1, 3]))


def _target(drawn: Case) -> int | None:
    if "execution" in drawn.where:
        return None  # a search to a target runs bulk-synchronously alone
    return drawn.random.randrange(drawn.plain.count) if drawn.random.random() < 0.3 else None


def _check_bfs(drawn: Case) -> None:
    sources, target = _sources(drawn), _target(drawn)
    found = bf.bfs(drawn.graph, sources, target=target, **drawn.where)
    expected = np.array(oracle.depths(drawn.plain, sources))
    if target is None:
        np.testing.assert_array_equal(found.depth, expected)
        found.verify()
    else:
        assert found.depth[target] == expected[target]
        reached = found.depth >= 0
        np.testing.assert_array_equal(found.depth[reached], expected[reached])


def _check_sssp(drawn: Case) -> None:
    sources, target = _sources(drawn), _target(drawn)
    width = drawn.random.choice(WIDTHS if drawn.wide else WIDTHS[:3])
    parents = drawn.wide and drawn.random.random() < 0.3
    found = bf.sssp(
        drawn.graph, sources, target=target, width=width, parents=parents, **drawn.where
    )
    expected = np.array(oracle.distances(drawn.plain, sources))
    answer = np.where(found.reached, found.distance, np.inf)
    if target is None:
        np.testing.assert_array_equal(answer, expected)
        found.verify()
    else:
        assert answer[target] == expected[target]
        np.testing.assert_array_equal(
            answer, np.where(expected <= expected[target], expected, np.inf)
        )


def _check_components(drawn: Case) -> None:
    methods = ["min_label"]
    if drawn.wide and "execution" not in drawn.where:
        methods.append("sampling")
    method = drawn.random.choice(methods)
    found = bf.connected_components(drawn.graph, method=method, **drawn.where)
    np.testing.assert_array_equal(found.component, oracle.components(drawn.plain))


def _check_pagerank(drawn: Case) -> None:
    found = bf.pagerank(drawn.graph, tol=1e-12, **drawn.where)
    expected = oracle.ranks(drawn.plain, 0.85, 200)
    np.testing.assert_allclose(found.rank, expected, rtol=1e-6, atol=1e-10)


def _check_betweenness(drawn: Case) -> None:
    sources = sorted(set(_sources(drawn)))
    found = bf.betweenness(drawn.graph, sources, normalized=False, **drawn.where)
    expected = np.array(oracle.betweenness(drawn.plain, sources))
    if drawn.plain.count < 3:
        expected[:] = 0
    others = np.array([len(set(sources) - {vertex}) for vertex in range(drawn.plain.count)])
    pairs = (drawn.plain.count - 1) / (1 if drawn.plain.directed else 2)
    expected *= np.divide(pairs, others, out=np.zeros(len(others)), where=others > 0)
    np.testing.assert_allclose(found.centrality, expected, rtol=1e-9, atol=1e-9)


def _check_triangles(drawn: Case) -> None:
    assert bf.triangles(drawn.graph, **drawn.where).total == oracle.triangles(drawn.plain)


ASYNCHRONOUS = {"bfs", "sssp", "components", "pagerank"}
"""What runs on devices that never meet."""
PRIMITIVES: dict[str, Callable[[Case], None]] = {
    "bfs": _check_bfs,
    "sssp": _check_sssp,
    "components": _check_components,
    "pagerank": _check_pagerank,
    "betweenness": _check_betweenness,
    "triangles": _check_triangles,
}


def check(seed: int, wide: bool = False) -> None:
    """Run the case of a seed; raise if it does not agree."""
    drawn = case(seed, wide)
    try:
        PRIMITIVES[drawn.primitive](drawn)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {drawn}") from error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=3000, help="how many seeds")
    given = parser.parse_args()
    failed = []
    for number, seed in enumerate(range(given.first, given.first + given.count), 1):
        try:
            check(seed, wide=True)
        except AssertionError:
            traceback.print_exc()
            failed.append(seed)
        if number % 100 == 0:
            print(f"{number} of {given.count}, {len(failed)} failed", flush=True)
    print(f"{given.count} runs, {len(failed)} failed: {failed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
