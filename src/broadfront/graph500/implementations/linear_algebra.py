"""Linear algebra: a level is a product of the adjacency matrix and the wavefront, a sparse vector.

The vector holds the number of each vertex in the front. Multiplying takes it along an edge, adding
takes the smaller: the product holds for each vertex its smallest neighbour in the front. What has a
parent already is masked out; the rest is the next front. The matrix is cut in two dimensions, into
squares. A row of squares, that is a range of the product, is the work of one thread, so there is
nothing to agree on; within it, the column of each vertex of the front is read.

References
----------
Buluç, Gilbert: The Combinatorial BLAS (IJHPCA 2011).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.graph500.edges import EdgeList
from broadfront.graph500.implementations.contract import Tree, root_alone
from broadfront.graph500.implementations.sequential_csr import sort_ends
from broadfront.kernel import kernel

Array = NDArray[Any]

NOBODY = np.iinfo(np.int32).max
"""What the smaller of two is never: the zero of the semiring."""


class Matrix(NamedTuple):
    """Squares of side `width`, those of row i after those of row i - 1, each by columns.

    Column c in row i is ``targets[offsets[i * columns + c] : offsets[i * columns + c + 1]]``.
    """

    offsets: Array
    targets: Array
    columns: int
    width: int


def build(edges: EdgeList) -> Matrix:
    """Cut the matrix into rows of squares, twice as many as there are threads."""
    width = max(1, -(-edges.num_vertices // (2 * threads.count())))
    return Matrix(*sort_ends(edges, width), edges.num_vertices, width)


def search(matrix: Matrix, root: int) -> Tree:
    """Search from a root."""
    size = matrix.columns
    tree = root_alone(size, root, matrix.targets.dtype)
    product = np.full(size, NOBODY, matrix.targets.dtype)
    reached = np.empty_like(product)
    front = np.array([root], matrix.targets.dtype)
    level = 0
    while len(front):
        level += 1
        fronts = threads.run(
            lambda row, front=front, level=level: _multiply(  # type: ignore[misc]
                row, *matrix, front, level, product, reached, *tree
            ),
            -(-size // matrix.width),
        )
        front = np.concatenate(fronts)
    return tree


@kernel
def _multiply(row, offsets, targets, columns, width, front, level, product, reached, parent, depth):
    """Multiply a row of squares by the front; return which vertices of it are in the next one."""
    begin = row * width
    end = begin
    for vertex in front:
        column = row * columns + vertex
        for place in range(offsets[column], offsets[column + 1]):
            neighbor = targets[place]
            if parent[neighbor] < 0:
                if product[neighbor] == NOBODY:
                    reached[end] = neighbor
                    end += 1
                product[neighbor] = min(product[neighbor], vertex)
    for place in range(begin, end):
        neighbor = reached[place]
        parent[neighbor] = product[neighbor]
        depth[neighbor] = level
    return reached[begin:end]
