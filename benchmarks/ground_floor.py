"""The ground floor against its peers: building, reading, generating, opening.

Every pair runs in one process on the same data, interleaved, after a warm-up; the table shows
medians and their ratio. Compile time is shown apart. Run with `make bench`, or

    python benchmarks/ground_floor.py [--scale 20] [--lines 10000000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from fast_matrix_market import read_coo

import broadfront as bf
from broadfront import threads
from broadfront.clock import Clock
from broadfront.graph.columns import read_columns
from broadfront.graph.formats import matrixmarket
from broadfront.graph.generate.kronecker import _recursive
from broadfront.graph.layout import Layout
from broadfront.graph.lines import Text

MEMORY = """
import resource, sys
import numpy as np
import broadfront as bf
scale = int(sys.argv[1])
bf.generate("kron:12")
from broadfront.graph.generate.kronecker import _recursive
edges = _recursive(scale, 16, (0.57, 0.19, 0.19), True, 0)
for _ in range(2):  # the first build of this size may compile; compiling takes memory too
    some = edges.source[:99999], edges.target[:99999]
    bf.from_edges(*some, num_vertices=1 << scale, directed=False)
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
before = resident() - edges.source.nbytes - edges.target.nbytes
open("/proc/self/clear_refs", "w").write("5")  # start the record of the peak anew
graph = bf.from_edges(edges.source, edges.target, num_vertices=1 << scale, directed=False)
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if "VmHWM" in line)
print((peak - before) / (edges.source.nbytes + edges.target.nbytes + graph.nbytes))
"""


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call takes, freeing its result not counted."""
    began = time.perf_counter()
    result = work()
    took = time.perf_counter() - began
    del result
    return took


def medians(repeats: int, *works: Callable[[], object]) -> list[float]:
    """Return the median of each work, run in turn."""
    for work in works:
        work()
    times = [[seconds(work) for work in works] for _ in range(repeats)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def row(name: str, ours: float, peer: str, theirs: float, bar: float) -> None:
    """Print one comparison."""
    ratio = theirs / ours
    verdict = "ok" if ratio >= bar else "SHORT"
    print(f"{name:<44} {ours * 1e3:9.1f} ms   {peer:<28} {theirs * 1e3:9.1f} ms"
          f" {ratio:6.2f}x  (bar {bar:g}x) {verdict}")  # fmt: skip


def scipy_symmetric(source: np.ndarray, target: np.ndarray, size: int) -> sp.csr_array:
    """Return the symmetric, sorted, duplicate-free adjacency the way SciPy does it."""
    ones = np.ones(len(source), np.int8)
    half = sp.coo_array((ones, (source, target)), shape=(size, size)).tocsr()
    both = half + half.T.tocsr()
    both.sort_indices()
    return both


def building(scale: int, repeats: int) -> None:
    """Edges to a symmetric, sorted, duplicate-free CSR; generating them; peak memory."""
    size = 1 << scale

    def generate() -> object:
        return _recursive(scale, 16, (0.57, 0.19, 0.19), True, 0)

    edges = _recursive(scale, 16, (0.57, 0.19, 0.19), True, 0)
    source, target = edges.source, edges.target

    def build() -> bf.Graph:
        return bf.from_edges(source, target, num_vertices=size, directed=False)

    both = scipy_symmetric(source, target, size)
    graph = build()
    assert np.array_equal(graph.offsets, both.indptr)
    assert np.array_equal(graph.targets, both.indices)
    ours, theirs, making = medians(
        repeats, build, lambda: scipy_symmetric(source, target, size), generate
    )
    row(f"build kron:{scale} ({len(source):,} edges)", ours, "SciPy COO, transpose, sum, sort",
        theirs, 4)  # fmt: skip
    row(f"generate the edges of kron:{scale}", making, "building them", ours, 1)
    with threads.limit(1):
        alone = medians(repeats, build)[0]
    row("build on all threads", ours, "on one thread", alone, 1)
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(scale)], capture_output=True, text=True, check=True
    )
    share = float(done.stdout)
    print(f"{'peak memory of building over input + result':<44} {share:9.2f} times  (bar 3)"
          f" {'ok' if share <= 3 else 'SHORT'}")  # fmt: skip


def reading(folder: Path, lines: int, repeats: int) -> None:
    """Text edge lists and MatrixMarket files."""
    random = np.random.default_rng(0)
    ends = random.integers(0, 1 << 20, (lines, 2))
    path = folder / "edges.el"
    pd.DataFrame(ends).to_csv(path, sep=" ", header=False, index=False)

    def pandas() -> object:
        return pd.read_csv(path, sep=" ", header=None, engine="c")

    ours, whole, theirs = medians(
        repeats, lambda: read_columns(Text(path), 0, Layout()), lambda: bf.read(path), pandas
    )
    name = f"text edge list, {lines:,} lines"
    row(f"{name}, to arrays", ours, "pandas.read_csv, C engine", theirs, 3)
    row(f"{name}, to a graph", whole, "pandas.read_csv, C engine", theirs, 1)

    for field, values in (("pattern", None), ("integer", random.integers(1, 64, lines)),
                          ("real", random.random(lines))):  # fmt: skip
        path_mtx = folder / f"{field}.mtx"
        columns = {"row": ends[:, 0] + 1, "column": ends[:, 1] + 1}
        if values is not None:
            columns["value"] = values
        with open(path_mtx, "w") as stream:
            stream.write(f"%%MatrixMarket matrix coordinate {field} general\n")
            stream.write(f"{1 << 20} {1 << 20} {lines}\n")
            pd.DataFrame(columns).to_csv(stream, sep=" ", header=False, index=False)

        def entries(path: Path = path_mtx) -> object:
            text = Text(path)
            return matrixmarket.read_entries(text)

        ours, theirs = medians(repeats, entries, lambda path=path_mtx: read_coo(path))
        row(f".mtx {field}, {lines:,} entries", ours, "fast_matrix_market.read_coo", theirs, 1)


def opening(folder: Path, scale: int, repeats: int) -> None:
    """Open the binary form, lazily and in full."""
    path = folder / "graph.bfg"
    graph = bf.generate(f"kron:{scale}")
    graph.save(path)
    ours = medians(repeats, lambda: bf.read(path))[0]
    checked = medians(repeats, lambda: bf.read(path).targets)[0]
    verdict = "ok" if ours < 0.05 else "SHORT"
    print(f"{f'open kron:{scale} in binary form':<44} {ours * 1e3:9.2f} ms   (bar 50 ms) {verdict}"
          f"; with every array checked {checked * 1e3:.1f} ms")  # fmt: skip


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--scale", type=int, default=20)
    options.add_argument("--lines", type=int, default=10_000_000)
    options.add_argument("--repeats", type=int, default=5)
    given = options.parse_args()
    clock = Clock()
    print(f"{threads.count()} threads, medians of {given.repeats}, interleaved")
    building(given.scale, given.repeats)
    with tempfile.TemporaryDirectory() as folder:
        reading(Path(folder), given.lines, given.repeats)
        opening(Path(folder), given.scale, given.repeats)
    print(f"compiling took {clock.compile_seconds:.1f} s total, once per machine")


if __name__ == "__main__":
    main()
