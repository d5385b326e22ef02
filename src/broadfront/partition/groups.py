"""The order of vertices within a part: those of like degree together, larger degrees first.

A vertex with many neighbours is asked for often. When such vertices lie side by side, what is known
of them shares lines of the cache, and they come first in the rows of their neighbours, where a
search that pulls looks first: on a Kronecker graph it takes half the time. Within a group the order
is that of the ids, which may have a locality of its own; where degrees are all alike, or the ids
are kept, there is but one group.

Invariant: groups are numbered by owner and, of each owner, by falling degree; a group holds the
vertices whose degrees have the same number of binary digits.

References
----------
Faldu, Diamond, Grot: A closer look at lightweight graph reordering (IISWC 2019).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.bits import leading_zeros
from broadfront.graph.csr import Graph
from broadfront.kernel import kernel
from broadfront.partition.members import VERTICES_PER_PIECE, cut

Array = NDArray[Any]

SKEWED = 16
"""Vertices are grouped if the greatest degree is at least so many times the mean."""


class Groups(NamedTuple):
    """The group of each vertex."""

    of: Array
    """Those of owner ``q`` are ``q * each .. q * each + each - 1``."""
    each: int
    """How many groups an owner has."""
    owners: int


def degrees_differ(graph: Graph) -> bool:
    """Tell whether degrees differ so much that vertices are grouped by them."""
    return 0 < SKEWED * graph.num_arcs <= graph.max_degree * graph.num_vertices


def grouped(graph: Graph, owner: Array, count: int) -> Groups:
    """Return groups by owner and degree, or by owner alone if degrees are much alike."""
    if not degrees_differ(graph):
        return Groups(owner, 1, count)
    digits = int(graph.max_degree).bit_length()
    each = digits + 1
    of = np.empty(len(owner), np.min_scalar_type(count * each))
    pieces = cut(len(owner), VERTICES_PER_PIECE)
    threads.run(lambda piece: _group(graph.offsets, owner, digits, *pieces[piece], of), len(pieces))
    return Groups(of, each, count)


@kernel
def _group(offsets, owner, digits, begin, end, of):
    for vertex in range(begin, end):
        degree = np.uint64(offsets[vertex + 1] - offsets[vertex])
        fewer = np.int64(digits) - 64 + np.int64(leading_zeros(degree))
        of[vertex] = np.int64(owner[vertex]) * (digits + 1) + fewer
