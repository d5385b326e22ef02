"""`random`: every vertex goes anywhere, and every part gets its share to the vertex.

A random permutation without a table says where a vertex stands in a random order; the order is cut
in proportion to the shares. A guide table leads from a place in the order to about its part.

Invariant: the owner of a vertex depends on the seed, the sizes and the vertex alone, so it is the
same for any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.graph.csr import Graph
from broadfront.graph.generate.random import permutation, permuted
from broadfront.kernel import kernel
from broadfront.partition.wish import Wish

VERTICES_PER_PIECE = 1 << 18
GUIDES_PER_PART = 8


def random(graph: Graph, wish: Wish) -> NDArray[Any]:
    """Return owners at random."""
    size = graph.num_vertices
    owner = np.empty(size, wish.dtype)
    order = permutation(size, wish.seed, "partition")
    ends = wish.ends(size)
    shift = max(0, size.bit_length() - (wish.count * GUIDES_PER_PART).bit_length())
    guide = np.searchsorted(ends, np.arange((size >> shift) + 1) << shift, "right")
    pieces = threads.ranges(size, VERTICES_PER_PIECE)
    threads.run(
        lambda piece: _assign(order, ends, guide, shift, *pieces[piece], owner), len(pieces)
    )
    return owner


@kernel
def _assign(order, ends, guide, shift, begin, end, owner):
    for vertex in range(begin, end):
        place = np.int64(permuted(vertex, order))
        part = guide[place >> shift]
        while place >= ends[part]:
            part += 1
        owner[vertex] = part
