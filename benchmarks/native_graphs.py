"""The graphs of the comparison with native programs, each in the format of every program.

A graph is taken undirected or with its directions, always simple, with its own integer weights;
without any, every edge has weight 1. All programs get the same neighbours in the same order, so
vertex ids agree. The formats are those that the programs write themselves: the serialized graph of
GAPBS (``.sg``, with weights ``.wsg``) and the binary one of Ligra (``.config``, ``.idx``,
``.adj``), with 32-bit ids.

Invariant: a file in the folder is whole; one that is there is not written again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import broadfront as bf
from broadfront.errors import OptionError
from broadfront.graph.csr import Graph

SOURCES, CANDIDATES = 3, 32
DEEP = 10.0
"""A graph is deep if its depth is over this many times the square root of its size."""


@dataclass(frozen=True)
class Case:
    """A graph, where its files are, and where searches start.

    Attributes
    ----------
    name
        The specification or the name of the file.
    structure
        The same without the weights: cases that agree in it differ in weights alone.
    stem
        The path of its files, without a suffix.
    """

    name: str
    structure: str
    stem: Path
    graph: Graph
    sources: tuple[int, ...]

    def file(self, suffix: str) -> Path:
        """Return the path of a format."""
        return self.stem.with_name(self.stem.name + suffix)


def load(name: str, folder: Path, directed: bool = False) -> Case:
    """Read or generate a graph, or take it from the folder, and draw its sources."""
    short = Path(name).name
    shown = f"{short}, directed" if directed else short
    stem = folder / re.sub(r"[^\w.=-]+", "_", shown)
    stored = stem.with_name(stem.name + ".bfg")
    if not stored.exists():
        simple(bf.read(name), directed).save(stored)
    graph = bf.read(stored)
    if graph.weighted and graph.weights.dtype.kind not in "iu":
        raise OptionError(f"--graphs {name}: native programs take integer weights only")
    structure = re.sub(r":weights=[^:,]*", "", shown)
    sources = sources_that_reach_most(graph) if directed else draw_sources(graph)
    return Case(shown, structure, stem, graph, sources)


def simple(graph: Graph, directed: bool) -> Graph:
    """Return the simple view, without labels; of two weights of an edge the smaller stays."""
    if directed and not graph.directed:
        raise OptionError("--directed is for graphs that have directions")
    if graph.directed or graph.num_self_loops:
        return bf.from_edges(
            graph.sources(), graph.targets, weight=graph.weights, num_vertices=graph.num_vertices,
            directed=directed, simple=True,
        )  # fmt: skip
    return Graph(graph.offsets, graph.targets, graph.weights, directed=False, self_loops=0)


def sources_that_reach_most(graph: Graph) -> tuple[int, ...]:
    """Return a few of many random vertices: those that reach most others along the arcs."""
    leaving = np.flatnonzero(np.diff(graph.offsets))
    some = np.random.default_rng(0).choice(leaving, min(CANDIDATES, len(leaving)), replace=False)
    reached = [np.count_nonzero(bf.bfs(graph, int(vertex)).depth >= 0) for vertex in some]
    return tuple(some[np.argsort(reached)[::-1][:SOURCES]].tolist())


def draw_sources(graph: Graph) -> tuple[int, ...]:
    """Return vertices of the largest component: the first of a deep graph, else a few at random."""
    component = bf.connected_components(graph).component
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    depth = bf.bfs(graph, int(largest[0])).depth.max()
    if depth > DEEP * np.sqrt(graph.num_vertices):
        return (int(largest[0]),)
    few = min(SOURCES, len(largest))
    return tuple(np.random.default_rng(0).choice(largest, few, replace=False).tolist())


def write_gapbs(case: Case, weighted: bool) -> Path:
    """Return the serialized graph of GAPBS: direction, arcs, vertices, offsets, neighbours.

    A directed graph has offsets and neighbours once more, of the arcs that come.
    """
    graph = case.graph
    head = np.array([graph.num_arcs, graph.num_vertices], np.int64)
    content = [bytes([graph.directed]), head, *rows_of(graph, weighted)]
    if graph.directed:
        content += rows_of(graph.transpose, weighted)
    return write_once(case.file(".wsg" if weighted else ".sg"), *content)


def rows_of(graph: Graph, weighted: bool) -> list[np.ndarray]:
    """Return offsets and neighbours, each with its weight if asked for."""
    neighbours = graph.targets.astype(np.int32)
    if weighted:
        neighbours = np.stack((neighbours, unit_or_own(graph)), axis=1)
    return [graph.offsets.astype(np.int64), neighbours]


def write_ligra(case: Case, weighted: bool) -> Path:
    """Return the stem of Ligra's binary graph: all neighbours, then all weights."""
    graph = case.graph
    stem = case.file(".weighted" if weighted else ".plain")
    arrays = [graph.targets.astype(np.uint32)]
    if weighted:
        arrays.append(unit_or_own(graph))
    write_once(Path(f"{stem}.adj"), *arrays)
    write_once(Path(f"{stem}.idx"), graph.offsets[:-1].astype(np.uint32))
    write_once(Path(f"{stem}.config"), str(graph.num_vertices).encode())
    return stem


def unit_or_own(graph: Graph) -> np.ndarray:
    """Return the weight of every arc as a 32-bit integer."""
    if graph.weights is None:
        return np.ones(graph.num_arcs, np.int32)
    if graph.weights.max(initial=0) > np.iinfo(np.int32).max:
        raise OptionError("native programs take weights of 32 bits only")
    return graph.weights.astype(np.int32)


def write_once(path: Path, *contents: bytes | np.ndarray) -> Path:
    """Write bytes and arrays one after the other, unless the file is there."""
    if not path.exists():
        unfinished = path.with_name(path.name + ".unfinished")
        with unfinished.open("wb") as stream:
            for content in contents:
                stream.write(content if isinstance(content, bytes) else content.tobytes())
        unfinished.rename(path)
    return path
