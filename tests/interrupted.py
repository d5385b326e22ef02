"""Ctrl-C at random moments of calls: ``python tests/interrupted.py [tries] [seed] [name ...]``.

Each try makes a call and interrupts it after a random part of the time that it usually takes. The
call must answer as ever, or raise KeyboardInterrupt and nothing else, soon; it must leave no file
and no thread behind, and the same call must be right afterwards. `make interrupts` makes many.
"""

from __future__ import annotations

import _thread
import faulthandler
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import broadfront as bf
from broadfront import gas, graph500, routing, semiring
from broadfront.characterize import vertex_programs
from interrupts import PATIENCE, Press

HUNG = 120.0
"""Seconds after which a call hangs."""
DEEP = bf.generate("grid:200x200:weights=1-9")
BROAD = bf.generate("kron:12:weights=1-9")


def deep(**where: Any) -> Callable[[Path], Any]:
    """Return a call of shortest paths on a deep graph."""
    return lambda folder: bf.sssp(DEEP, 0, **where).distance


def convert(folder: Path) -> Any:
    """Build a graph on the disk."""
    return bf.convert(folder / "edges.el", folder / "new.bfg", memory_limit=16 << 30).targets


def mapped(folder: Path) -> Any:
    """Search a graph in a file, under a limit."""
    graph = bf.read(folder / "broad.bfg")
    return bf.bfs(graph, graph.labels[0], memory_limit=1 << 30).depth


def worklist(folder: Path) -> Any:
    """Count down on devices that hand on every other number."""
    done: list[int] = []

    def halve(device: routing.Endpoint, items: Any) -> Any:
        done.extend(items.tolist())
        return items[items > 1] // 2

    def odd_ones_elsewhere(device: routing.Endpoint, items: Any) -> Any:
        return np.where(items % 2 == device.index, routing.KEEP, routing.PASS)

    items = routing.DistributedWorklist(
        routing.Context(2), halve, on_send=odd_ones_elsewhere, on_receive=odd_ones_elsewhere
    )
    items.push(np.arange(300))
    items.run(time_limit=HUNG)
    return np.sort(done)


def benchmark(folder: Path) -> Any:
    """Run Graph500 with both kernels, validated."""
    settings = graph500.Settings(9, roots=8, kernels=("bfs", "sssp"))
    own = graph500.implementation("broadfront")
    outcome = graph500.Benchmark(settings, own, lambda line: None).run()
    return [(search.root, search.edges) for search in outcome.searches["sssp"]]


def by_gas(folder: Path) -> Any:
    """Search by gather-apply-scatter."""
    return gas.run(vertex_programs.BFS, BROAD, frontier=[0])["depth"]


CALLS: dict[str, Callable[[Path], Any]] = {
    "alone": deep(threads=2),
    "apart": deep(devices=3, execution="bsp"),
    "async": deep(devices=3, execution="async"),
    "unfused": deep(devices=2, execution=bf.Async(fused=False)),
    "residuals": lambda folder: bf.pagerank(BROAD, devices=2, execution="async").rank.round(5),
    "each": lambda folder: bf.bfs(BROAD, np.arange(40), each=True).depth,
    "routers": lambda folder: routing.connected_components(BROAD, 3),
    "worklist": worklist,
    "convert": convert,
    "mapped": mapped,
    "graph500": benchmark,
    "gas": by_gas,
    "semiring": lambda folder: semiring.mxv(
        BROAD, np.ones(BROAD.num_vertices), semiring.plus_times
    ),
    "split": lambda folder: bf.split(bf.generate("kron:10"), 3, "biased").owner,
}


def tried(call: Callable[[Path], Any], folder: Path, expected: Any, after: float) -> str:
    """Return how a call ends that is interrupted after some seconds, and the one after it."""
    files, ended = sorted(folder.iterdir()), "done"
    pressed = time.perf_counter() + after
    try:
        press = Press(after)
        try:
            found = call(folder)
        finally:
            press.cancel()
        if not np.array_equal(found, expected):
            return "another answer"
    except KeyboardInterrupt:
        late = time.perf_counter() - pressed
        ended = "interrupted" if late < PATIENCE else f"interrupted after {late:.1f} s"
    if sorted(folder.iterdir()) != files:
        return "files left behind"
    return ended if np.array_equal(call(folder), expected) else "wrong afterwards"


def main(tries: int, seed: int, *names: str) -> int:
    """Try each call so often; return how many tries went wrong."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chance, wrong = random.Random(seed), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        BROAD.save(folder / "broad.bfg")
        BROAD.save(folder / "edges.el")
        for call_name in names or CALLS:
            call = CALLS[call_name]
            faulthandler.dump_traceback_later(HUNG * (tries + 2), exit=True)
            expected = call(folder)
            began = time.perf_counter()
            expected = call(folder)
            usual, threads, ends = time.perf_counter() - began, _thread._count(), {}
            for _ in range(tries):
                try:
                    end = tried(call, folder, expected, chance.random() * usual * 1.1)
                except BaseException as error:
                    end = f"{type(error).__name__}: {error}"
                ends[end] = ends.get(end, 0) + 1
            left = _thread._count() - threads
            print(call_name, ends, f"{left} threads more" if left > 2 else "", flush=True)  # noqa: T201
            wrong += tries - sum(ends.get(end, 0) for end in ("interrupted", "done"))
            wrong += left > 8
    faulthandler.cancel_dump_traceback_later()
    return wrong


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:3]]
    sys.exit(min(100, main(*numbers, *[20, 0][len(numbers) :], *sys.argv[3:])))
