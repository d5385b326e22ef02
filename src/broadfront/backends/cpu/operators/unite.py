"""Sets of vertices that hang together, by the smallest of each: a forest that edges link.

Every vertex hangs under its smallest neighbour where that is smaller, which is a forest; trees are
compressed to stars; one more edge of each vertex is linked. By then almost everyone is in the
largest set, which a sample finds, and only the vertices outside it look at their other edges.

On many devices each does so with its own part, where copies of others' vertices are vertices
without edges; then the trees of all devices meet (`UniteCrossing.meet`). An edge between the
largest trees of two devices may have been seen by neither, so unless these turn out to be one set,
the vertices passed over are linked after all, and the trees meet again.

Invariant: links go from the larger root to the smaller, so roots only get smaller, and the root of
a finished tree is its smallest vertex. A directed graph is taken both ways; since an edge between
the largest set and the rest may be seen from inside alone, no vertex is passed over there.

References
----------
Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling
(IPDPS 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device.control import (
    LINE,
    claim,
    keep_pace,
    nanoseconds,
    rows_until,
)
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.operators.frontier import (
    ATOMICS,
    BEFORE,
    BLOCK,
    ITERATION,
    VISITED,
    WORK,
    finish,
    prepare,
    tell,
)
from broadfront.functors import compile_functor
from broadfront.kernel import inlined, inner
from broadfront.operators.describe import Unite
from broadfront.pointers import prefetch
from broadfront.report.ways import UNITE

Array = NDArray[Any]

SAMPLES = 1024
FIRST_EDGES = 8
"""Edges of a vertex that are asked for two that count, before the largest set is known."""
BORDER_EDGES = 32
"""Edges that a vertex at the border of a part looks at for others' vertices, the last ones."""
AHEAD = 16
"""Vertices further on whose memory is asked for."""

LARGEST, INSIDE, AGAIN, NUMBERED = range(4)
"""Places in `Trees.told`: the root of the vertices passed over or -1, whether those outside or
inside of it are to be linked, whether trees will have to meet again, and how many have numbers."""

TABLE = 256
"""Pairs of trees that a thread remembers to have seen."""


class Trees(NamedTuple):
    """The memory to unite vertices in."""

    second: Array
    """For each vertex an edge that is still to be linked, by its other end."""
    votes: Array
    told: Array
    looked: Array
    """For each thread how many arcs it has looked at."""
    undirected: int
    forest: Array
    """On many devices what each vertex or copy hangs under; -1 less its number for the root of a
    numbered tree. On one device the field itself is the forest."""
    roots: Array
    """The roots of trees that meet those of others, by number."""
    pairs: Array
    seen: Array


class UniteCrossing(NamedTuple):
    """What a `Unite` needs beyond one device."""

    forest: Callable[..., Any]
    """`forest(state, work)` is where the forest is."""
    begin: Callable[..., Any]
    """Makes each copy a tree of its own, and what else comes first."""
    samples: Callable[..., Any]
    """How many vertices look over the border before the largest trees are known."""
    sample: Callable[..., Any]
    """`sample(number, work)` is one of them, or -1."""
    passes_over: Callable[..., Any]
    """`passes_over(vertex, forest, told)` tells whether a vertex need not link all its edges."""
    meet: Callable[..., Any]
    """Unites the trees of all devices, and puts the outcome into the field; a few meetings."""


def new_trees(
    workspace: Workspace,
    owned: int,
    vertex: Any,
    threads: int,
    directed: bool,
    *,
    positions: int = 0,
    shared: int = 0,
) -> Trees:
    """Return the memory for a `Unite`; `positions` and `shared` are those of a part."""
    several = positions > 0
    return Trees(
        workspace.array("tree second", owned + AHEAD, vertex),
        workspace.array("tree votes", SAMPLES, vertex),
        workspace.array("tree told", 4, np.int64),
        workspace.array("tree looked", threads * LINE, np.int64),
        int(not directed),
        workspace.array("tree forest", positions, vertex),
        workspace.array("tree roots", positions, vertex),
        workspace.array("tree pairs", 2 * shared, vertex),
        workspace.array("tree seen", 2 * TABLE * threads if several else 0, np.int64),
    )


@inner
def link(left, right, forest):
    """Hang the larger of two roots under the smaller."""
    one, other = forest[forest[left]], forest[forest[right]]
    while one != other:
        high, low = max(one, other), min(one, other)
        above = forest[high]
        if above == low:
            break
        if above == high and atomics.compare_and_swap(forest, high, high, low):
            break
        one, other = forest[forest[high]], forest[low]


@inlined
def _all_edges(source, neighbor, edge, state, undirected):
    return True


def _some_edges(functor: Callable[..., Any]) -> Callable[..., Any]:
    asked = compile_functor(functor)

    @inlined
    def counts(source, neighbor, edge, state, undirected):
        if asked(source, neighbor, edge, state):
            return True
        return undirected != 0 and bool(asked(neighbor, source, edge, state))

    return counts


@inlined
def _hang(place, vertex, graph, state, forest, trees):
    """Hang a vertex under its smallest neighbour, and note an edge that is still to be linked."""
    prefetch(graph.targets, graph.offsets[min(vertex + AHEAD, graph.num_vertices)])
    first, last = np.int64(graph.offsets[vertex]), np.int64(graph.offsets[vertex + 1])
    above, second = vertex, vertex
    if first < last:
        smallest = np.int64(graph.targets[first])
        if smallest < vertex:
            above = smallest
            if first + 1 < last:
                second = np.int64(graph.targets[first + 1])
        else:
            second = smallest
    forest[vertex] = above
    trees.second[place] = second
    return min(last - first, 2)


def _hanging(counts: Callable[..., Any]) -> Callable[..., Any]:
    """Return what does as `_hang` with edges that count, if one is found soon."""

    @inlined
    def hang(place, vertex, graph, state, forest, trees):
        first, last = np.int64(graph.offsets[vertex]), np.int64(graph.offsets[vertex + 1])
        last = min(last, first + FIRST_EDGES)
        above, second = vertex, vertex
        for edge in range(first, last):
            neighbor = np.int64(graph.targets[edge])
            if counts(vertex, neighbor, edge, state, trees.undirected):
                if above == vertex and neighbor < vertex:
                    above = neighbor
                else:
                    second = neighbor
                    break
        forest[vertex] = above
        trees.second[place] = second
        return last - first

    return hang


def _everywhere(forest_of: Callable[..., Any], action: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does something for every vertex, and meets; it counts arcs."""

    @inner
    def everywhere(rank, threads, control, graph, state, work, turn):
        prepare(control, rank, turn)
        blocks = (graph.owned + BLOCK - 1) // BLOCK
        forest, trees, looked = forest_of(state, work), work.trees, np.int64(0)
        while True:
            block = claim(control, WORK + turn % 3, rank, 1)
            if block >= blocks:
                break
            first, last = block * BLOCK, min(graph.owned, (block + 1) * BLOCK)
            while first < last:
                end = rows_until(control, graph.offsets, first, last)
                for place in range(first, end):
                    vertex = np.int64(graph.members[place])
                    looked += action(place, vertex, graph, state, forest, trees)
                keep_pace(control)
                first = end
        trees.looked[rank * LINE] += looked
        return finish(control, rank, threads, turn)

    return everywhere


def unite(operator: Unite, place: int, crossing: UniteCrossing | None = None) -> Callable[..., Any]:
    """Return the section of a `Unite` into the field at `place`."""
    if crossing is None:
        crossing = _alone(place)
    forest_of, begin, samples, sample, passes_over, meet = crossing
    counts = _all_edges if operator.functor is None else _some_edges(operator.functor)
    hang = _hang if operator.functor is None else _hanging(counts)

    @inlined
    def compress(place, vertex, graph, state, forest, trees):
        """Hang a vertex directly under its root."""
        root = forest[vertex]
        while root != forest[root]:
            root = forest[root]
        forest[vertex] = root
        return np.int64(0)

    @inlined
    def link_second(place, vertex, graph, state, forest, trees):
        """Link the edge that was noted."""
        second = np.int64(trees.second[place])
        prefetch(forest, trees.second[place + AHEAD])
        if second != vertex:
            link(vertex, second, forest)
        return np.int64(0)

    @inlined
    def link_edges(vertex, first, last, graph, state, forest, trees):
        for edge in range(first, last):
            neighbor = np.int64(graph.targets[edge])
            if counts(vertex, neighbor, edge, state, trees.undirected):
                link(vertex, neighbor, forest)

    @inlined
    def link_rest(place, vertex, graph, state, forest, trees):
        """Link all edges of a vertex that is not passed over."""
        told = trees.told
        if passes_over(vertex, forest, told):
            return np.int64(0)
        first, last = np.int64(graph.offsets[vertex]), np.int64(graph.offsets[vertex + 1])
        link_edges(vertex, first, last, graph, state, forest, trees)
        return last - first

    @inner
    def link_border(rank, threads, graph, state, work):
        """Link a few edges to others' vertices, so that the largest trees of devices meet."""
        forest, trees = forest_of(state, work), work.trees
        for number in range(rank, samples(work), threads):
            vertex = sample(number, work)
            if vertex >= 0:
                first, last = np.int64(graph.offsets[vertex]), np.int64(graph.offsets[vertex + 1])
                link_edges(
                    vertex, max(first, last - BORDER_EDGES), last, graph, state, forest, trees
                )

    hang_all, compress_all = _everywhere(forest_of, hang), _everywhere(forest_of, compress)
    link_seconds = _everywhere(forest_of, link_second)
    link_others = _everywhere(forest_of, link_rest)

    @inner
    def sampled(rank, threads, control, graph, state, work, front, turn):
        """Build trees from a few edges of each vertex, and find the largest of them."""
        work.trees.looked[rank * LINE] = 0
        begin(rank, threads, graph, state, work)
        turn = hang_all(rank, threads, control, graph, state, work, turn)
        if turn >= 0:
            turn = compress_all(rank, threads, control, graph, state, work, turn)
        if turn >= 0:
            link_border(rank, threads, graph, state, work)
            turn = link_seconds(rank, threads, control, graph, state, work, turn)
        if turn >= 0:
            turn = compress_all(rank, threads, control, graph, state, work, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            _find_largest(graph, forest_of(state, work), work.trees)
        return finish(control, rank, threads, turn)

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        began, counted = nanoseconds(), np.int64(0)
        turn = sampled(rank, threads, control, graph, state, work, front, turn)
        while turn >= 0:
            turn = link_others(rank, threads, control, graph, state, work, turn)
            if turn < 0:
                return turn
            looked = np.int64(0)
            if rank == 0:
                for thread in range(threads):
                    looked += work.trees.looked[thread * LINE]
            turn = compress_all(rank, threads, control, graph, state, work, turn)
            if turn < 0:
                return turn
            if rank == 0:
                front[BEFORE] = graph.owned
                front[VISITED] = looked - counted
                front[ATOMICS] = 0
                tell(work, front, rank, UNITE, began)
            turn = meet(rank, threads, control, graph, state, in_state, work, front, turn)
            if turn < 0 or work.trees.told[AGAIN] == 0:
                return turn
            front[ITERATION] += 1
            began, counted = nanoseconds(), looked
        return turn

    return section


@inner
def _find_largest(graph, forest, trees):
    """Take the most frequent root of a sample for that of the largest tree."""
    told, votes = trees.told, trees.votes
    told[LARGEST], told[INSIDE], told[AGAIN], told[NUMBERED] = -1, 0, 0, 0
    if trees.undirected == 0 or graph.owned == 0:
        return
    best, most = np.int64(-1), 0
    for sample in range(SAMPLES):
        votes[sample] = forest[graph.members[(sample * 2654435761) % graph.owned]]
    for sample in range(0, SAMPLES, 16):
        found = 0
        for other in range(SAMPLES):
            found += votes[other] == votes[sample]
        if found > most:
            best, most = np.int64(votes[sample]), found
    told[LARGEST] = best


# ---------------------------------------------------------------------- one device


def _alone(place: int) -> UniteCrossing:
    @inlined
    def forest(state, work):
        return state[place]

    return UniteCrossing(
        forest, _no_copies, _no_samples, _no_sample, _is_in_largest, _nobody_to_meet
    )


@inner
def _no_copies(rank, threads, graph, state, work):
    pass


@inner
def _no_samples(work):
    return 0


@inner
def _no_sample(number, work):
    return np.int64(-1)


@inlined
def _is_in_largest(vertex, forest, told):
    return forest[vertex] == told[LARGEST]


@inner
def _nobody_to_meet(rank, threads, control, graph, state, in_state, work, front, turn):
    return turn
