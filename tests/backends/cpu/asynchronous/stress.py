"""Asynchronous runs on tiny graphs with random delays in every step: `make stress`.

Two compiled programs, breadth-first search and PageRank by residuals, on random graphs, devices,
slots and packets. Each search is compared with one in plain Python; of ranks and residuals nothing
may be lost or counted twice, and every work item must have been consumed.
"""

from __future__ import annotations

import sys
from collections import deque

import numpy as np

import broadfront as bf
from broadfront.algorithms.bfs import BFS, UNREACHED
from broadfront.algorithms.residual_push import PUSH
from broadfront.devices.choose import choose
from broadfront.partition.partition import Partition
from jobs import run_on


def depths(graph: bf.Graph, source: int) -> np.ndarray:
    """Search in plain Python."""
    depth = np.full(graph.num_vertices, UNREACHED, np.uint32)
    depth[source] = 0
    queue = deque([source])
    while queue:
        vertex = queue.popleft()
        for neighbor in graph.targets[graph.offsets[vertex] : graph.offsets[vertex + 1]].tolist():
            if depth[neighbor] == UNREACHED:
                depth[neighbor] = depth[vertex] + 1
                queue.append(neighbor)
    return depth


def stress(runs: int, seed: int = 0, graphs: int = 20) -> None:
    """Run so often; raise at the first answer that is wrong or item that is lost."""
    draw = np.random.default_rng(seed)
    for number in range(0, runs, max(1, runs // graphs)):
        size = int(draw.integers(2, 60))
        ends = draw.integers(0, size, (2, int(draw.integers(1, 4 * size))))
        graph = bf.from_edges(*ends, num_vertices=size, directed=bool(draw.integers(2)))
        source = int(draw.integers(size))
        expected = depths(graph, source)
        devices = int(draw.integers(2, 5))
        partition = bf.split(graph, devices, ("random", "range")[number % 2])
        for turn in range(number, min(runs, number + max(1, runs // graphs))):
            how = bf.Async(
                fused=turn % 4 > 0, band=int(draw.integers(3)), packet=int(draw.integers(1, 4)),
                slots=int(draw.integers(1, 3)),
            )  # fmt: skip
            if turn % 5 == 0:
                push(partition, how, turn + 1)
                continue
            answer = run_on(
                BFS, partition, choose(devices, 1), [source],
                {"depth": {source: 0}, "parent": {source: source}}, {}, asynchronous=how,
                jitter=turn + 1, time_limit=60,
            )  # fmt: skip
            np.testing.assert_array_equal(answer["depth"], expected)
            work = answer.record.work
            assert work is not None
            assert (work.produced == work.consumed).all()


def push(partition: Partition, how: bf.Async, jitter: int) -> None:
    """Push residuals, and add up what there is in the end."""
    graph = partition.graph
    count, devices = graph.num_vertices, partition.count
    answer = run_on(
        PUSH, partition, choose(devices, 1), np.arange(count), {"residual": np.ones(count)},
        {"damping": 0.5, "epsilon": 1e-3}, asynchronous=how, jitter=jitter, time_limit=60,
    )  # fmt: skip
    handed_on = 0.5 * answer["rank"][graph.degrees > 0].sum()
    ranked = answer["rank"].sum()
    np.testing.assert_allclose(ranked - handed_on + answer["residual"].sum(), count, 1e-12)
    assert (answer["residual"] <= 1e-3).all()
    work = answer.record.work
    assert work is not None
    assert (work.produced == work.consumed).all()


if __name__ == "__main__":
    runs = int(sys.argv[1])
    stress(runs, int(sys.argv[2]) if len(sys.argv) > 2 else 0, max(20, runs // 100))
    sys.stdout.write(f"{runs:,} runs, all right\n")
