"""Random regular graphs: every vertex has the same number of neighbours.

Method: give every vertex as many loose ends as its degree and pair the ends at random; then turn
every self-loop and duplicate, with a random partner edge, into two edges that are new, until none
is left. Graphs with more than half of all pairs are the complement of one with fewer.

Invariant: every swap keeps all degrees, and never makes a self-loop or a duplicate.

References
----------
Bollobás: A probabilistic proof of an asymptotic formula for the number of labelled regular graphs
(1980), for the pairing. McKay, Wormald: Uniform generation of random regular graphs of moderate
degree (1990), for the swaps.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.graph.generate.named import all_pairs
from broadfront.graph.generate.random import Permutation, permutation, permuted, words
from broadfront.graph.generate.registry import Edges, filled, generator
from broadfront.graph.generate.repeats import contains, pair_keys, repeated
from broadfront.graph.size import affordable, at_least
from broadfront.kernel import kernel

Array = NDArray[Any]

EDGES_PER_PIECE = 1 << 20
MOST_ROUNDS = 500


@generator
def regular(n: int, degree: int, *, seed: int = 0) -> Edges:
    """Random graph of N vertices with DEGREE neighbours each.

    Parameters
    ----------
    n
        The number of vertices.
    degree
        The number of neighbours of each; below `n`, and even where `n` is odd.
    seed
        Another seed, another graph.

    Examples
    --------
    >>> regular(5, 2).degrees
    array([2, 2, 2, 2, 2], dtype=int32)
    """
    at_least(0, n=n, degree=degree)
    if degree >= max(n, 1):
        raise OptionError(f"degree={degree} needs more than {n} vertices")
    if n * degree % 2:
        raise OptionError(f"n={n} and degree={degree} are both odd: the ends do not pair up")
    affordable(n, n * degree // 2, 32 + 24 * degree)
    if 2 * degree < n:
        return _sparse(n, degree, seed)
    apart = _sparse(n, n - 1 - degree, seed)
    source, target = all_pairs(n)
    others = np.sort(pair_keys(apart.source, apart.target, n))
    joined = ~contains(others, pair_keys(source, target, n))
    return Edges(source[joined], target[joined], n)


def _sparse(n: int, degree: int, seed: int) -> Edges:
    for attempt in count():
        order = permutation(n * degree, seed, f"regular ends {attempt}")
        edges = _paired(n, degree, order)
        for turn in range(MOST_ROUNDS):
            keys = pair_keys(edges.source, edges.target, n)
            wrong = np.union1d(np.flatnonzero(edges.source == edges.target), repeated(keys))
            if len(wrong) == 0:
                return edges
            draws = words(len(wrong), seed, f"regular partners {attempt} {turn}")
            _swap(edges, keys, wrong, draws)
    raise AssertionError("unreachable: count() does not end")


def _paired(n: int, degree: int, order: Permutation) -> Edges:
    def write(begin: int, end: int, source: Array, target: Array) -> None:
        _pair(degree, order, begin, end, source, target)

    return filled(write, n * degree // 2, n, EDGES_PER_PIECE)


def _swap(edges: Edges, keys: Array, wrong: Array, draws: Array) -> None:
    """Swap the targets of wrong edges and random partners, where that makes two new edges."""
    source, target, n, _ = edges
    partner = ((draws >> np.uint64(1)) % np.uint64(len(keys))).astype(np.int64)
    turned = draws % 2 == 1
    near = np.where(turned, target[partner], source[partner])
    far = np.where(turned, source[partner], target[partner])
    first = pair_keys(source[wrong], near, n)
    second = pair_keys(target[wrong], far, n)

    present = np.sort(keys)
    fits = (source[wrong] != near) & (target[wrong] != far)
    fits &= ~contains(present, first) & ~contains(present, second) & ~contains(wrong, partner)
    chosen = np.flatnonzero(fits)
    chosen = np.delete(chosen, repeated(partner[chosen]))
    chosen = np.delete(chosen, repeated(np.stack((first, second), 1)[chosen].ravel()) // 2)
    edge, other = wrong[chosen], partner[chosen]
    source[other], target[other], target[edge] = target[edge], far[chosen], near[chosen]


@kernel
def _pair(degree, order, begin, end, source, target):
    for edge in range(begin, end):
        source[edge] = np.int64(permuted(2 * edge, order)) // degree
        target[edge] = np.int64(permuted(2 * edge + 1, order)) // degree
