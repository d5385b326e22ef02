"""Matrix times matrix where it has entries: the masked square, and the sum of its entries.

Over `plus_pair`, of a symmetric matrix, an entry is the number of common neighbours of the two ends
of an edge, which is what `Intersect` counts, and their sum is six times the number of triangles.
Other semirings and matrices are multiplied row by column, two sorted lists side by side, for each
entry by itself; that is for one device.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront.devices.choose import PYTHON, choose
from broadfront.errors import OptionError
from broadfront.execution.options import Options
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.given import is_word
from broadfront.graph.csr import Graph
from broadfront.models.meeting import meeting
from broadfront.models.semiring.product import as_graph, expect_ring
from broadfront.models.semiring.rings import Semiring, plus_pair
from broadfront.operators.describe import Compute, Field, Intersect

if TYPE_CHECKING:
    import scipy.sparse

Array = NDArray[Any]
REDUCED = {"sum": np.add, "min": np.minimum, "max": np.maximum}


def masked_square(
    matrix: Any, ring: Semiring, **options: Unpack[Options]
) -> scipy.sparse.csr_array:
    """Multiply a matrix with itself, where it has entries.

    Parameters
    ----------
    matrix
        A `broadfront.Graph` or a square SciPy sparse array.
    ring
        The `Semiring`, whose `add` is ``"sum"``, ``"min"``, ``"max"`` or a Monoid.
    options
        As in `broadfront.bfs`.

    Examples
    --------
    >>> import broadfront as bf
    >>> from broadfront import semiring
    >>> kite = bf.from_edges([0, 0, 1, 2], [1, 2, 2, 3], directed=False)
    >>> semiring.masked_square(kite, semiring.plus_pair).toarray()
    array([[0, 1, 1, 0],
           [1, 0, 1, 0],
           [1, 1, 0, 0],
           [0, 0, 0, 0]])
    """
    from scipy.sparse import csr_array

    graph = as_graph(matrix)
    expect_ring(ring)
    size = (graph.num_vertices, graph.num_vertices)
    dtype = _dtype(ring, graph)
    if graph.num_arcs == 0:
        return csr_array(size, dtype=dtype)
    if _counts_triangles(graph, ring):
        upper = run(COMMON, graph, **options)["entries"]
        lower = csr_array((upper, graph.targets, graph.offsets), shape=size).T.tocsr().data
        entries = upper + lower
    else:
        _refuse_many(options)
        program = _row_by_column(ring, dtype.str, graph.weighted)
        entries = run(program, graph, **options)["entries"]
    return csr_array((entries, graph.targets, graph.offsets), shape=size)


def masked_square_sum(matrix: Any, ring: Semiring, **options: Unpack[Options]) -> Any:
    """Return all entries of the masked square added up: one number.

    Parameters are those of `masked_square`; a Monoid is not added up.

    Examples
    --------
    >>> import broadfront as bf
    >>> from broadfront import semiring
    >>> semiring.masked_square_sum(bf.generate("complete:5"), semiring.plus_pair) // 6
    10
    """
    graph = as_graph(matrix)
    expect_ring(ring)
    if _counts_triangles(graph, ring):
        return 6 * int(run(TRIANGLES, graph, **options)["total"][0])
    if not isinstance(ring.add, str) or ring.add not in REDUCED:
        raise OptionError(f"add={ring.add!r:.60}: expected {', '.join(REDUCED)}")
    entries = masked_square(graph, ring, **options).data
    return REDUCED[ring.add].reduce(entries, initial=ring.zero(entries.dtype)).item()


TRIANGLES = Program(
    {"total": Field(np.int64, length=1)}, step=[Intersect(total="total")], name="masked square"
)


def _counts_triangles(graph: Graph, ring: Semiring) -> bool:
    simple = not graph.directed and not graph.has_parallel_edges and graph.num_self_loops == 0
    return simple and ring == plus_pair


def _refuse_many(options: Options) -> None:
    """Refuse several devices: a row and a column may be of two of them."""
    devices = options.get("devices")
    if not is_word(devices, PYTHON) and len(choose(devices, options.get("threads"))) > 1:
        raise OptionError(
            f"devices={devices!r}: rows are multiplied by columns that another device may have; "
            "leave devices= out, or take plus_pair of a simple undirected graph, which counts "
            "common neighbours on any devices"
        )


def _dtype(ring: Semiring, graph: Graph) -> np.dtype[Any]:
    if ring.add in ("any", "or"):
        raise OptionError(f"add={ring.add!r}: expected {', '.join(REDUCED)} or a Monoid")
    if ring.dtype is not None:
        return np.dtype(ring.dtype)
    return np.dtype(np.int64) if graph.weights is None else graph.weights.dtype


def _note(first, second, edge, common, state):
    state.entries[edge] = common


COMMON = Program(
    {"entries": Field(np.int64, per="edge")}, step=[Intersect(_note, each="edge")],
    name="masked square",
)  # fmt: skip


@lru_cache(maxsize=64)
def _row_by_column(ring: Semiring, dtype: str, weighted: bool) -> Program:
    """Return the program that multiplies a row by a column for each entry."""
    multiply, meet, zero = ring.multiply, meeting(ring.add), np.dtype(dtype).type(ring.zero(dtype))
    left, right = (_weight, _in_weight) if weighted else (_one, _one)

    def square(vertex, state):
        for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
            other = state.targets[edge]
            total = zero
            row, row_end = state.offsets[vertex], state.offsets[vertex + 1]
            column, column_end = state.in_offsets[other], state.in_offsets[other + 1]
            while row < row_end and column < column_end:
                one, two = state.targets[row], state.in_targets[column]
                if one == two:
                    total = meet(total, multiply(left(row, state), right(column, state)))
                row += one <= two
                column += two <= one
            state.entries[edge] = total

    fields = {"entries": Field(dtype, fill=ring.zero(dtype), per="edge")}
    return Program(fields, step=[Compute(square)], name="masked square")


def _weight(edge, state):
    return state.weight[edge]


def _in_weight(edge, state):
    return state.in_weight[edge]


def _one(edge, state):
    return 1
