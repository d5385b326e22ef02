"""The calls that `failures` has fail, by group: reading, building, running, saving, caching.

Each is made on something fresh, of which nothing has been built or kept yet, and answers with plain
arrays. Graphs are tiny; what is built from them takes the ways of large ones, on two threads.
"""

from __future__ import annotations

import hashlib
import mmap
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import broadfront as bf
import problems
from broadfront import cache as disk
from broadfront import pages
from broadfront.graph import columns, files, lines
from broadfront.graph.csr import Graph
from broadfront.graph.read import READERS
from broadfront.kernel import kernel
from broadfront.partition.split import PARTITIONERS

lines.SMALLEST_PIECE = 64
columns.LEAST_MAPPED = 256
columns.LARGE_PAGE = pages.LARGE_PAGE = pages.WORTH_KEEPING = mmap.PAGESIZE
files.READ_AT_ONCE = files.PACKED_AT_ONCE = 256

Columns = dict[str, Any]
OLD = b"this was here before"


class Call(NamedTuple):
    """A call that may fail anywhere."""

    name: str
    fresh: Callable[[Path], Any]
    """Makes what the call is made with; what it puts into the folder may stay or be replaced."""
    call: Callable[[Any], Columns]
    exact: bool = True
    caches: bool = False
    """Whether files that fail cost a warning only, and new ones are those of the cache."""


def columns_of(graph: bf.Graph) -> Columns:
    """Return all of a graph."""
    arrays: Columns = {"offsets": graph.offsets, "targets": graph.targets, "labels": graph.labels}
    return arrays if graph.weights is None else {**arrays, "weights": graph.weights}


def copy_of(graph: bf.Graph) -> bf.Graph:
    """Return a graph with which nothing is kept."""
    return Graph(
        graph.offsets, graph.targets, graph.weights,
        directed=graph.directed, self_loops=graph.num_self_loops, labels=graph._labels,
    )  # fmt: skip


PLAIN = bf.generate("uniform:5:4")
REAL = bf.from_edges(
    PLAIN.sources(), PLAIN.targets, 0.5 + PLAIN.targets % 7, PLAIN.num_vertices, directed=True
)
WHOLE = bf.generate("uniform:5:4:weights=1-9", simple=True)
DIRECTED = bf.from_edges(PLAIN.sources(), PLAIN.targets, None, PLAIN.num_vertices, directed=True)
NAMED = bf.from_edges(["a", "b", "é", "b"], ["b", "é", "d", "d"], [1, 2, 3, 4])


@cache
def sparse() -> bf.Graph:
    """Return a graph whose labels are far apart; made when it is needed."""
    return bf.from_edges([10, 7000, 10**12], [7000, 10**12, 5], [0.25, 1e-9, 3.5], directed=False)


# ---------------------------------------------------------------------- reading and saving


def reading(full: bool) -> Iterator[Call]:
    """Yield the reading of every format, plain and packed, mapped or not."""
    for suffix, packing in _formats(full):
        name = f"graph{suffix}{packing}"
        yield _read(name, _suited(suffix))
        if not packing and (full or suffix in (".el", ".bfg")):
            yield _read(name, _suited(suffix), map=False)
    for suffix in (".csv", ".el.gz", ".bfg", ".parquet") if full else (".csv",):
        yield _read(f"named{suffix}", NAMED)
        if full:
            yield _read(f"sparse{suffix}", sparse())


def _formats(full: bool) -> Iterator[tuple[str, str]]:
    """Yield suffixes: all of them, or each reader's first, packed in one way or another."""
    for suffix in READERS if full else dict(map(reversed, reversed(READERS.items()))).values():
        yield suffix, ""
        for packing in files.COMPRESSIONS:
            if full or (suffix, packing) in ((".el", ".gz"), (".bfg", ".xz"), (".gr", ".zst")):
                yield suffix, packing


def _suited(suffix: str) -> bf.Graph:
    """Return a graph with weights that files of a kind can hold."""
    return WHOLE if suffix == ".graph" else REAL


def _read(name: str, graph: bf.Graph, **options: Any) -> Call:
    def fresh(folder: Path) -> Path:
        if not (folder / name).exists():
            graph.save(folder / name)
        return folder / name

    told = "".join(f" {option}={value}" for option, value in options.items())
    return Call(f"read {name}{told}", fresh, lambda path: columns_of(bf.read(path, **options)))


def saving(full: bool) -> Iterator[Call]:
    """Yield the saving of a graph in every format, of a partition and of a memory profile."""
    for suffix, packing in _formats(full):
        yield _saved(f"graph{suffix}{packing}", _suited(suffix))
    yield _saved("named.csv", NAMED)
    yield _saved("named.bfg", NAMED)
    if full:
        yield _saved("sparse.el", sparse())
    partition = bf.split(PLAIN, 3)
    for name in ("owners.npz", "owners.npz.gz"):
        yield _saved(name, partition)
        yield Call(
            f"load {name}", partial(_stored, name, partition),
            lambda path: {"owner": bf.Partition.load(path, PLAIN).owner},
        )  # fmt: skip
    profile = bf.MemoryProfile("program", "graph", 0.5)
    yield _saved("profile.json", profile)
    yield Call(
        "load profile.json", partial(_stored, "profile.json", profile),
        lambda path: {"queue": np.array(bf.MemoryProfile.load(path).queue)},
    )  # fmt: skip


def _stored(name: str, thing: Any, folder: Path) -> Path:
    thing.save(folder / name)
    return folder / name


def _listed(folder: Path) -> Path:
    REAL.save(folder / "graph.el")
    return folder


def _converted(folder: Path) -> Columns:
    return columns_of(bf.convert(folder / "graph.el", folder / "graph.bfg", memory_limit=1 << 40))


def _saved(name: str, thing: Any) -> Call:
    """Return a call that replaces a file."""

    def fresh(folder: Path) -> Path:
        (folder / name).write_bytes(OLD)
        return folder / name

    def call(path: Path) -> Columns:
        thing.save(path)
        return {"bytes": np.frombuffer(path.read_bytes(), np.uint8)}

    return Call(f"save {name}", fresh, call)


# ---------------------------------------------------------------------- building


def building(full: bool) -> Iterator[Call]:
    """Yield graphs from edges and generators, transposes, partitions and their parts."""
    source, target = DIRECTED.sources(), DIRECTED.targets
    for name, edges in {
        "positions": (source, target),
        "weights": (source, target, 1.5 * target),
        "labels": (source.astype(np.int64) * 1000, target.astype(np.int64) * 1000),
        "names": ([f"v{vertex}" for vertex in source], [f"v{vertex}" for vertex in target]),
    }.items():
        for options in ({}, {"directed": False, "simple": True}):
            yield Call(
                f"from_edges {name} {options}", lambda folder, edges=edges: edges,
                lambda edges, options=options: columns_of(bf.from_edges(*edges, **options)),
            )  # fmt: skip
    for spec in ("uniform:5:4:weights=1-9", *(GENERATORS if full else ())):
        yield Call(f"generate {spec}", lambda folder, spec=spec: spec, _generated)
    yield Call("convert on the disk", _listed, _converted)
    yield _built("transpose", lambda graph: columns_of(graph.transpose), REAL)
    for by in PARTITIONERS:
        yield _built(f"split by {by}", partial(_split, by), PLAIN)
    for graph in (PLAIN, DIRECTED):
        for relabel in (True, False):
            yield _built(f"parts relabel={relabel}", partial(_parts, relabel), graph)
    yield _built("quality", lambda graph: {"ghosts": bf.split(graph, 3).quality().ghosts}, REAL)


GENERATORS = [
    "kron:4:2",
    "grid:4x5",
    "rgg:4",
    "delaunay:4",
    "regular:16:4",
    "smallworld:30:4:0.2",
    "path:9",
]


def _generated(spec: str) -> Columns:
    return columns_of(bf.generate(spec))


def _built(name: str, call: Callable[[bf.Graph], Columns], graph: bf.Graph) -> Call:
    kind = "directed" if graph.directed else "undirected"
    return Call(f"{name} {kind}", lambda folder: copy_of(graph), call)


def _split(by: str, graph: bf.Graph) -> Columns:
    return {"owner": bf.split(graph, 3, by=by, seed=1).owner}


def _parts(relabel: bool, graph: bf.Graph) -> Columns:
    partition = bf.split(graph, 3, seed=1)
    found = {}
    for part in partition.parts(relabel=relabel, looks_back=True):
        for name, value in vars(part).items():
            if isinstance(value, np.ndarray):
                found[f"{name} of {part.device}"] = value
    return found if not relabel else {**found, "home": partition.home()}


# ---------------------------------------------------------------------- running

IN_CI = (("k-core", 1), ("k-core", 3))
"""A program of a user's, of which the other tests compile both loops."""


def running(full: bool) -> Iterator[Call]:
    """Yield primitives and programs on one device and on three."""
    for name, devices in product(problems.PROBLEMS, (1, 3)) if full else IN_CI:
        problem = problems.PROBLEMS[name]
        graph = REAL if problem.weighted else PLAIN
        yield Call(
            f"{name} on {devices}", lambda folder, graph=graph: copy_of(graph),
            partial(_solved, problem, devices), problem.exact,
        )  # fmt: skip
    yield Call("k-core with progress", lambda folder: copy_of(PLAIN), _followed)
    if not full:
        return
    for devices in (1, 3):
        yield Call(f"bfs directed on {devices}", lambda folder: copy_of(DIRECTED),
                   partial(_solved, problems.PROBLEMS["bfs"], devices))  # fmt: skip
        yield Call(f"triangles on {devices}", lambda folder: copy_of(PLAIN),
                   partial(_triangles, devices))  # fmt: skip
        yield Call(f"unite on {devices}", lambda folder: copy_of(PLAIN), partial(_united, devices))
    yield Call("bfs from each", lambda folder: copy_of(PLAIN), _each)


def _solved(problem: problems.Problem, devices: int, graph: bf.Graph) -> Columns:
    return problem.solve(graph, devices=devices, threads=2)


def _followed(graph: bf.Graph) -> Columns:
    k_core = problems.PROBLEMS["k-core"]
    return k_core.solve(graph, devices=1, threads=2, progress=lambda *told: None)


def _triangles(devices: int, graph: bf.Graph) -> Columns:
    return {"per_vertex": bf.triangles(graph, devices=devices, threads=2).per_vertex}


def _united(devices: int, graph: bf.Graph) -> Columns:
    return bf.connected_components(graph, devices=devices, threads=2).columns()


def _each(graph: bf.Graph) -> Columns:
    return {"depth": bf.bfs(graph, [0, 1, 2], each=True, threads=2).depth}


# ---------------------------------------------------------------------- caching


def caching(full: bool) -> Iterator[Call]:
    """Yield what is kept on disk and found again, and a kernel that is compiled."""
    key, body = b"k" * disk.CHECK, b"machine code" * 100

    def kept(folder: Path) -> Columns:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            disk._warned = False
            disk.write("name", key, body)
            found = disk.read("name", key)
            assert found in (None, body)
        return {}

    yield Call("keep and find again", _empty_cache, kept, caches=True)
    yield Call("compile", _empty_cache, _compiled, caches=True)


def _empty_cache(folder: Path) -> Path:
    disk.config.CACHE_DIR = str(folder)
    for path in (folder / "broadfront").glob("*"):
        path.unlink()
    return folder


def is_kept_whole(content: bytes) -> bool:
    """Tell whether a file of the cache is as it was written."""
    head = len(disk.MARK) + 2 * disk.CHECK
    checksum = hashlib.sha256(content[head:]).digest()
    return content[:head].startswith(disk.MARK) and content[:head].endswith(checksum)


def _compiled(folder: Path) -> Columns:
    def twice(number):  # type: ignore[no-untyped-def]
        return 2 * number

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        disk._warned = False
        answer = kernel(twice)(21)
    assert len(told) <= 1
    assert all("compiled code is not kept on disk" in str(one.message) for one in told)
    return {"answer": np.array(answer)}


# ---------------------------------------------------------------------- wrong on purpose


def breaking(full: bool) -> Iterator[Call]:
    """Yield calls that do what no call may, for `failures` to notice."""
    yield Call("another error", lambda folder: None, _strange)
    yield Call("a file left behind", lambda folder: folder, _littering)
    yield Call("a broken answer kept", lambda folder: {}, _keeping)


def _strange(nothing: None) -> Columns:
    try:
        return columns_of(bf.from_edges([0], [1]))
    except MemoryError:
        raise TypeError("strange") from None


def _littering(folder: Path) -> Columns:
    try:
        return columns_of(bf.from_edges([0], [1]))
    except MemoryError:
        (folder / "stray").touch()
        raise


def _keeping(kept: dict[str, Columns]) -> Columns:
    if "answer" not in kept:
        kept["answer"] = {"targets": np.zeros(1, np.int32)}
        kept["answer"] = columns_of(bf.from_edges([0], [1]))
    return kept["answer"]


GROUPS = {
    "reading": reading,
    "building": building,
    "running": running,
    "saving": saving,
    "caching": caching,
}
