"""A matrix times itself where it has entries: the masked square, and the sum of its entries.

Over `plus_pair`, of a symmetric matrix, an entry is the number of common neighbours of the two ends
of an edge, which is what `Intersect` counts, and their sum is six times the number of triangles.
Other semirings and matrices are masked products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.execution.options import Options
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.graph.csr import Graph
from broadfront.models.semiring.masked import mxm, product_dtype
from broadfront.models.semiring.product import as_graph, expect_ring
from broadfront.models.semiring.rings import Semiring, plus_pair
from broadfront.operators.describe import Field, Intersect

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
    dtype = product_dtype(ring, graph, graph)
    if graph.num_arcs == 0:
        return csr_array(size, dtype=dtype)
    if _counts_triangles(graph, ring):
        upper = run(COMMON, graph, **options)["entries"]
        lower = csr_array((upper, graph.targets, graph.offsets), shape=size).T.tocsr().data
        entries = upper + lower
    else:
        return mxm(graph, graph, ring, mask=graph, **options)
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


def _note(first, second, edge, common, state):
    state.entries[edge] = common


COMMON = Program(
    {"entries": Field(np.int64, per="edge")}, step=[Intersect(_note, each="edge")],
    name="masked square",
)  # fmt: skip
