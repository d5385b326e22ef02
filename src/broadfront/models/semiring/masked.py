"""Matrix times matrix where a third has entries.

Each entry of the mask is a row of the left matrix by a column of the right one, two sorted lists
side by side. Rows of the mask are shared out over threads and devices; every device has both
matrices whole, as shared values of the program.

Invariant: products of an entry are added up in increasing order of the index that meets, so that
the bits do not depend on threads or devices.

References
----------
Azad, Buluç, Gilbert: Parallel triangle counting and enumeration using matrix algebra (IPDPSW 2015),
for products under a mask.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.execution.options import Options
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.graph.csr import Graph
from broadfront.models.meeting import meeting
from broadfront.models.semiring.product import as_graph, expect_ring
from broadfront.models.semiring.rings import Semiring
from broadfront.operators.describe import Compute, Field

if TYPE_CHECKING:
    import scipy.sparse

Array = NDArray[Any]
ADDS = ("sum", "min", "max")


def mxm(
    left: Any, right: Any, ring: Semiring, *, mask: Any, **options: Unpack[Options]
) -> scipy.sparse.csr_array:
    """Multiply two matrices, where a third has entries.

    Parameters
    ----------
    left, right
        Each a `broadfront.Graph` without parallel edges, or a square SciPy sparse array.
    ring
        The `Semiring`, whose `add` is ``"sum"``, ``"min"``, ``"max"`` or a Monoid.
    mask
        A third matrix. Its entries are those of the product, whatever their values; where no
        products meet, an entry is what `Semiring.zero` says.
    options
        As in `broadfront.bfs`. On several devices each has both matrices, and a part of the mask.

    Examples
    --------
    >>> import broadfront as bf
    >>> from broadfront import semiring
    >>> first = bf.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0])
    >>> then = bf.from_edges([1, 2], [0, 0], [10.0, 20.0])
    >>> back = bf.from_edges([0, 1], [0, 0], num_vertices=3)
    >>> semiring.mxm(first, then, semiring.min_plus, mask=back).toarray()
    array([[11.,  0.,  0.],
           [22.,  0.,  0.],
           [ 0.,  0.,  0.]])
    """
    from scipy.sparse import csr_array

    expect_ring(ring)
    wanted, one, other = (as_graph(matrix) for matrix in (mask, left, right))
    sizes = [graph.num_vertices for graph in (one, other, wanted)]
    if len(set(sizes)) > 1:
        raise OptionError(f"left, right and mask have {', '.join(map(str, sizes))} rows")
    for graph, name in ((one, "left"), (other, "right"), (wanted, "mask")):
        if graph.has_parallel_edges:
            raise OptionError(f"{name} has parallel edges: an entry of a matrix is one number")
    dtype, shape = product_dtype(ring, one, other), (sizes[0], sizes[0])
    if one.num_arcs and other.num_arcs and wanted.num_arcs:
        columns = other.transpose if other.directed else other
        program, init = _program(ring, dtype, one, columns)
        entries = run(program, wanted, init=init, **options)["entries"]
    else:
        entries = np.full(wanted.num_arcs, ring.zero(dtype), dtype)
    return csr_array((entries, wanted.targets, wanted.offsets), shape=shape)


def product_dtype(ring: Semiring, left: Graph, right: Graph) -> np.dtype[Any]:
    """Return the dtype of products; refuse what cannot be added up in any order."""
    if ring.add in ("any", "or"):
        raise OptionError(f"add={ring.add!r}: expected {', '.join(ADDS)} or a Monoid")
    if ring.dtype is not None:
        return np.dtype(ring.dtype)
    weights = [graph.weights for graph in (left, right) if graph.weights is not None]
    return np.result_type(*weights) if weights else np.dtype(np.int64)


class Kind(NamedTuple):
    """What the program of a product depends on, beside the semiring."""

    dtype: str
    left: tuple[str, int] | None
    """The dtype and number of values of the left matrix, None where they make no difference."""
    right: tuple[str, int] | None
    indices: tuple[tuple[str, int], ...]
    """Dtypes and lengths of offsets and targets of both."""


def _program(
    ring: Semiring, dtype: np.dtype[Any], left: Graph, right: Graph
) -> tuple[Program, dict[str, Array]]:
    """Return the program of a product, and the arrays of the matrices."""
    init = {
        "left_offsets": left.offsets, "left_indices": left.targets,
        "right_offsets": right.offsets, "right_indices": right.targets,
    }  # fmt: skip
    indices = tuple((array.dtype.str, len(array)) for array in init.values())
    read: list[tuple[str, int] | None] = []
    for name, graph, reads in zip(("left", "right"), (left, right), ring.reads, strict=True):
        values = graph.weights if reads else None
        if values is not None:
            init[f"{name}_values"] = values
        read.append(None if values is None else (values.dtype.str, len(values)))
    return _row_by_column(ring, Kind(dtype.str, read[0], read[1], indices)), init


@lru_cache(maxsize=64)
def _row_by_column(ring: Semiring, kind: Kind) -> Program:
    """Return the program that multiplies a row by a column for each entry of the mask."""
    multiply, meet = ring.multiply, meeting(ring.add)
    zero = np.dtype(kind.dtype).type(ring.zero(kind.dtype))
    left = _one if kind.left is None else _left_value
    right = _one if kind.right is None else _right_value

    def entries_of_row(vertex, state):
        for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
            other = state.targets[edge]
            total = zero
            row, row_end = state.left_offsets[vertex], state.left_offsets[vertex + 1]
            column, column_end = state.right_offsets[other], state.right_offsets[other + 1]
            while row < row_end and column < column_end:
                one, two = state.left_indices[row], state.right_indices[column]
                if one == two:
                    total = meet(total, multiply(left(row, state), right(column, state)))
                row += one <= two
                column += two <= one
            state.entries[edge] = total

    names = ("left_offsets", "left_indices", "right_offsets", "right_indices")
    shared = dict(zip(names, kind.indices, strict=True))
    values = {"left_values": kind.left, "right_values": kind.right}
    shared |= {name: value for name, value in values.items() if value is not None}
    fields = {name: Field(dtype, length=length) for name, (dtype, length) in shared.items()}
    fields["entries"] = Field(kind.dtype, fill=ring.zero(kind.dtype), per="edge")
    return Program(fields, step=[Compute(entries_of_row)], name="masked product")


def _left_value(place, state):
    return state.left_values[place]


def _right_value(place, state):
    return state.right_values[place]


def _one(place, state):
    return 1
