"""Checks betweenness centrality: each value is the share of shortest paths through its vertex.

Method: a second, serial run of Brandes' accumulation, as no cheaper property tells a right value.
A source settles its vertices in order of distance; path counts go forward along tight arcs, shares
backward. Counts can exceed float64 (a grid of 1000 x 1000 has over 10^600 paths between corners),
so a count is ``high * 2 ** (512 * blocks)``. Sums have no negative terms: they lose no digits.

Invariant: ``1 <= high < 2 ** 512`` once the paths to a vertex are counted, so that no ratio of
counts is 0 / 0.

Scale, as `networkx.betweenness_centrality` 3.6 without endpoints. The raw value of ``v`` sums, over
sources ``s`` and targets ``t`` other than ``v``, the share of shortest paths through ``v``. With
``n`` vertices, and ``c`` 1 for directed and 2 for undirected graphs, it is multiplied by:

=======================================  =======================  =====================
vertex                                   normalized               not normalized
=======================================  =======================  =====================
any, if all vertices are sources         1 / ((n - 1) (n - 2))    1 / c
one of k sources                         1 / ((k - 1) (n - 2))    (n - 1) / ((k - 1) c)
none of k sources                        1 / (k (n - 2))          (n - 1) / (k c)
=======================================  =======================  =====================

Below three vertices all values are 0. Where NetworkX has NaN, for the source itself when k is 1,
the value here is 0.

References
----------
Brandes: A faster algorithm for betweenness centrality (J. Mathematical Sociology 25, 2001).
Brandes: On variants of shortest-path betweenness centrality (Social Networks 30, 2008).
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import GraphError
from broadfront.graph.csr import Graph
from broadfront.kernel import kernel
from broadfront.verify.rules import (
    Positions,
    answer,
    broken_edge,
    broken_vertex,
    first,
    positions,
)

Array = NDArray[Any]

RELATIVE_TOLERANCE = 1e-8
RAW_TOLERANCE = 1e-12  # of the raw value: shares below this may be lost to underflow
MOST_ARCS = 1_000_000_000  # looked at before a sample of the sources must do
BLOCK = 2.0**512


def verify_betweenness(
    graph: Graph,
    centrality: ArrayLike,
    sources: Positions | None,
    normalized: bool,
    weighted: bool = False,
    most_arcs: int = MOST_ARCS,
) -> None:
    """Check betweenness centrality against a serial computation.

    Parameters
    ----------
    centrality
        float64.
    sources
        Positions, each counted once; None for all vertices.
    normalized
        Whether values are divided by the number of pairs; the module says how exactly.
    weighted
        Whether paths are shortest by weight, summed in int64 or float64; two float paths are
        equally short if their sums from the source on are equal. Weights must be positive.
    most_arcs
        Work limit. Where all sources would look at more arcs, evenly spread ones are taken, and
        values are only checked not to be below what these add up to.

    Raises
    ------
    VerificationError
        Names the broken rule and the first offending vertex.

    Examples
    --------
    >>> import broadfront as bf
    >>> from broadfront.verify import verify_betweenness
    >>> graph = bf.generate("path:3")
    >>> verify_betweenness(graph, [0.0, 1.0, 0.0], None, normalized=True)
    >>> verify_betweenness(graph, [0.0, 1.1, 0.0], None, normalized=True)
    Traceback (most recent call last):
    ...
    broadfront.errors.VerificationError: centrality is the share of shortest paths: vertex 1: ...
    """
    centrality = answer(graph, "centrality", centrality, np.float64)
    wrong = first(~((centrality >= 0) & (centrality < np.inf)))
    if wrong is not None:
        rule = "centralities are numbers, zero or more"
        raise broken_vertex(graph, rule, wrong, f"centrality {centrality[wrong]}")
    everyone = np.arange(graph.num_vertices)
    roots = everyone if sources is None else positions(graph, sources)
    scale = _scale(graph, roots, normalized)
    affordable = max(1, most_arcs // max(1, 2 * graph.num_arcs))
    sample = roots[:: -(-len(roots) // affordable)] if len(roots) > affordable else roots
    expected = _raw(graph, sample, weighted) * scale
    slack = RELATIVE_TOLERANCE * expected + RAW_TOLERANCE * scale
    rule = "centrality is the share of shortest paths"
    wrong = first(centrality < expected - slack)
    if wrong is None and len(sample) == len(roots):
        wrong = first(centrality > expected + slack)
    if wrong is not None:
        found = f"{centrality[wrong]!r}, expected {expected[wrong]!r}"
        raise broken_vertex(graph, rule, wrong, f"centrality {found}")


def _scale(graph: Graph, roots: Array, normalized: bool) -> Array:
    size, known = graph.num_vertices, len(roots)
    if size < 3 or known == 0:
        return np.zeros(size)
    if known == size:  # each vertex is between the pairs of all others
        known, own = size - 1, size - 1
    else:
        own = known - 1
    unit = 1 / (size - 2) if normalized else (size - 1) / (1 if graph.directed else 2)
    scale = np.full(size, unit / known)
    scale[roots] = unit / own if own else 0.0
    return scale


def _raw(graph: Graph, roots: Array, weighted: bool) -> Array:
    weights = graph.weights if weighted else None
    if weights is not None:
        arc = first(weights <= 0)
        if arc is not None:
            tail = int(np.searchsorted(graph.offsets, arc, "right")) - 1
            problem = broken_edge(
                graph, "weighted betweenness", tail, int(graph.targets[arc]),
                f"weight {weights[arc]}, but shortest paths are counted over positive weights",
            )  # fmt: skip
            raise GraphError(str(problem))
    unreached: Any = np.int32(-1)
    if weights is not None:
        floats = weights.dtype.kind == "f"
        unreached = np.float64(np.inf) if floats else np.int64(np.iinfo(np.int64).max)
    raw = np.zeros(graph.num_vertices)
    _accumulate(graph.offsets, graph.targets, weights, roots, unreached, raw)
    return raw


@kernel
def _accumulate(offsets, targets, weights, roots, unreached, raw):
    size = len(raw)
    distance = np.full(size, unreached)
    order = np.empty(size, np.int64)
    place = np.full(size, -1, np.int64)
    high = np.zeros(size)
    blocks = np.zeros(size, np.int64)
    share = np.zeros(size)
    for root in roots:
        if weights is None:
            found = _settle_by_hops(offsets, targets, root, unreached, distance, order)
        else:
            found = _settle_by_weight(offsets, targets, weights, root, unreached, distance, order)
        settled = order[:found]
        for turn in range(found):
            place[settled[turn]] = turn
        high[root] = 1.0
        _count_paths(offsets, targets, weights, settled, place, distance, high, blocks)
        _collect_shares(offsets, targets, weights, settled, place, distance, high, blocks, share)
        for vertex in settled:
            if vertex != root:
                raw[vertex] += share[vertex]
            distance[vertex] = unreached
            place[vertex] = -1
            high[vertex] = 0.0
            blocks[vertex] = 0


@kernel
def _settle_by_hops(offsets, targets, root, unreached, distance, order):
    distance[root] = 0
    order[0] = root
    found = 1
    turn = 0
    while turn < found:
        tail = order[turn]
        turn += 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = targets[arc]
            if distance[head] == unreached:
                distance[head] = distance[tail] + 1
                order[found] = head
                found += 1
    return found


@kernel
def _settle_by_weight(offsets, targets, weights, root, unreached, distance, order):
    distance[root] = 0
    heap = [(distance[root], np.int64(root))]
    found = 0
    while len(heap) > 0:
        known, tail = heappop(heap)
        if known > distance[tail]:
            continue
        order[found] = tail
        found += 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = targets[arc]
            if weights[arc] > unreached - known:
                continue  # the sum is beyond int64
            if known + weights[arc] < distance[head]:
                distance[head] = known + weights[arc]
                heappush(heap, (distance[head], np.int64(head)))
    return found


@kernel
def _is_tight(weights, distance, place, tail, arc, head):
    # Of ends that rounding leaves at one distance, the one settled first is the tail.
    step = 1 if weights is None else weights[arc]
    return distance[tail] + step == distance[head] and place[tail] < place[head]


@kernel
def _count_paths(offsets, targets, weights, settled, place, distance, high, blocks):
    for tail in settled:
        if high[tail] >= BLOCK:
            high[tail] /= BLOCK
            blocks[tail] += 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = targets[arc]
            if not _is_tight(weights, distance, place, tail, arc, head):
                continue
            if blocks[head] < blocks[tail]:
                lifted = high[head] / BLOCK if blocks[head] == blocks[tail] - 1 else 0.0
                high[head] = lifted + high[tail]
                blocks[head] = blocks[tail]
            elif blocks[head] == blocks[tail]:
                high[head] += high[tail]
            elif blocks[head] == blocks[tail] + 1:
                high[head] += high[tail] / BLOCK


@kernel
def _collect_shares(offsets, targets, weights, settled, place, distance, high, blocks, share):
    for turn in range(len(settled) - 1, -1, -1):
        tail = settled[turn]
        total = 0.0
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = targets[arc]
            if _is_tight(weights, distance, place, tail, arc, head):
                ratio = high[tail] / high[head]
                for _ in range(min(3, blocks[head] - blocks[tail])):
                    ratio /= BLOCK
                total += ratio * (1.0 + share[head])
        share[tail] = total
