"""Vector times matrix and matrix times vector, over a semiring.

A product with a sparse vector goes from its elements along arcs (push), or, with a mask or where
any product will do, from the elements that are wanted (pull), whichever costs less. A product with
a dense vector is a reduction over the neighbours of every vertex, or of those in the mask.

Invariant: what is not in the mask is neither computed nor changed.
"""

from __future__ import annotations

from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.backends.registry import backend_of
from broadfront.errors import OptionError
from broadfront.execution.options import Options
from broadfront.execution.run import run
from broadfront.given import flag
from broadfront.graph.convert import from_scipy
from broadfront.graph.csr import Graph
from broadfront.models.semiring.programs import (
    Kind,
    dense_product,
    needs_vector,
    sparse_product,
)
from broadfront.models.semiring.rings import Semiring
from broadfront.models.semiring.vector import Vector, among, known
from broadfront.report.record import Record

Array = NDArray[Any]


class ProductOptions(Options, total=False):
    """What a product takes, beside the options of every run.

    Attributes
    ----------
    mask
        Only these elements of the product are computed: where an array is not zero, or those that
        are in a `Vector`.
    complement
        Take those that are not in the mask instead.
    into
        An array that products are added to, in place. The product is then this array, or, of a
        sparse vector, the elements that changed.
    blocks
        Cut the matrix into so many blocks, down and across, as (2, 2); those of different columns
        are multiplied at the same time.
    records
        A list that takes the record of each run.
    """

    mask: Vector | ArrayLike | None
    complement: bool
    into: Array | None
    blocks: tuple[int, int] | None
    records: list[Record] | None


@overload
def vxm(x: Vector, matrix: Any, ring: Semiring, **options: Unpack[ProductOptions]) -> Vector: ...
@overload
def vxm(x: ArrayLike, matrix: Any, ring: Semiring, **options: Unpack[ProductOptions]) -> Array: ...
def vxm(
    x: Vector | ArrayLike, matrix: Any, ring: Semiring, **options: Unpack[ProductOptions]
) -> Vector | Array:
    """Multiply a vector with a matrix: what elements send along their arcs, added up.

    Parameters
    ----------
    x
        A `Vector`, and so is the product, without elements that came out as if nothing was added;
        or an array of all elements, and so is the product.
    matrix
        A `broadfront.Graph`, whose arc from i to j is the entry in row i and column j, or a square
        SciPy sparse array, which becomes one in each call.
    ring
        The `Semiring`.
    options
        `mask`, `complement`, `into`, `blocks`, `records`: see `ProductOptions`. The rest as in
        `broadfront.bfs`.

    Examples
    --------
    >>> import numpy as np
    >>> import broadfront as bf
    >>> from broadfront import semiring
    >>> roads = bf.from_edges([0, 0, 1], [1, 2, 2], [3.0, 9.0, 4.0])
    >>> start = semiring.Vector.of(3, {0: 0.0})
    >>> once = semiring.vxm(start, roads, semiring.min_plus)
    >>> once
    Vector(3, [1, 2], [3.0, 9.0])
    >>> semiring.vxm(once, roads, semiring.min_plus, into=once.to_dense(np.inf))
    Vector(3, [2], [7.0])
    >>> semiring.vxm(np.ones(3), roads, semiring.plus_times)
    array([ 0.,  3., 13.])
    """
    return Product(matrix, ring, True, options).of(x)


@overload
def mxv(matrix: Any, x: Vector, ring: Semiring, **options: Unpack[ProductOptions]) -> Vector: ...
@overload
def mxv(matrix: Any, x: ArrayLike, ring: Semiring, **options: Unpack[ProductOptions]) -> Array: ...
def mxv(
    matrix: Any, x: Vector | ArrayLike, ring: Semiring, **options: Unpack[ProductOptions]
) -> Vector | Array:
    """Multiply a matrix with a vector: what elements hear along their arcs, added up.

    Parameters are those of `vxm`.

    Examples
    --------
    >>> import numpy as np
    >>> import broadfront as bf
    >>> from broadfront import semiring
    >>> roads = bf.from_edges([0, 0, 1], [1, 2, 2], [3.0, 9.0, 4.0])
    >>> semiring.mxv(roads, np.ones(3), semiring.plus_times)
    array([12.,  4.,  0.])
    """
    return Product(matrix, ring, False, options).of(x)


class Product:
    """A product but for its vector: all else that was given, checked.

    Attributes
    ----------
    left
        Whether the vector is on the left.
    along
        Along which arcs products go, from the elements of the vector.
    """

    def __init__(self, matrix: Any, ring: Semiring, left: bool, given: ProductOptions) -> None:
        expect_ring(ring)
        rest: dict[str, Any] = dict(given)
        self.graph = as_graph(matrix)
        self.ring, self.left = ring, left
        self.along = "out" if left or not self.graph.directed else "in"
        size, complement = self.graph.num_vertices, rest.pop("complement", False)
        self.mask = _mask_of(rest.pop("mask", None), complement, size)
        self.into: Array | None = rest.pop("into", None)
        self.blocks = rest.pop("blocks", None)
        self.records: list[Record] | None = rest.pop("records", None)
        if not isinstance(self.records, list | None):
            raise OptionError(f"records={self.records!r:.60}: expected a list, to be added to")
        self.options = rest
        if rest.get("devices") is None:  # an order of degrees would cost a single step more
            rest.setdefault("relabel", False)
        if self.into is not None:
            _check_into(self.into, size, ring)

    def of(self, x: Vector | ArrayLike) -> Vector | Array:
        """Return the product with a vector, in one piece or in blocks."""
        vector = x if isinstance(x, Vector) else _dense(x)
        size = self.graph.num_vertices
        if vector.size != size:
            raise OptionError(f"x has {vector.size} elements, and the matrix {size} rows")
        if self.blocks is not None:
            from broadfront.models.semiring.blocks import in_blocks

            return in_blocks(self, vector, self.blocks)
        if isinstance(vector, Vector):
            return self.sparse(vector)
        if self.ring.add not in ("any", "or"):
            return self.dense(vector)
        found = self.sparse(known(size, np.arange(size), vector))
        if self.into is not None:
            return self.into
        return found.to_dense(self.ring.zero(found.dtype))

    def kind(self, vector: np.dtype[Any]) -> Kind:
        """Return what the program depends on, given the dtype of the vector."""
        weights = self.graph.weights
        if self.into is not None:
            dtype = self.into.dtype
        elif self.ring.dtype is not None:
            dtype = np.dtype(self.ring.dtype)
        else:
            dtype = np.result_type(vector, *([] if weights is None else [weights]))
            if self.ring.add == "sum" and dtype.kind in "iu":  # as NumPy adds up small integers
                dtype = np.dtype(np.int64 if dtype.kind == "i" else np.uint64)
        return Kind(
            vector.str, dtype.str, self.along, self.left, weights is not None,
            self.mask is not None,
        )  # fmt: skip

    def sparse(self, vector: Vector) -> Vector:
        """Return the product with a sparse vector."""
        kind = self.kind(vector.dtype)
        init = {} if self.into is None else {"y": self.into}
        if self.mask is not None:
            init["mask"] = self.mask
        if needs_vector(self.ring, kind):
            init["x"] = vector.to_dense()
        program = sparse_product(self.ring, kind)
        answer = run(program, self.graph, frontier=vector.indices, init=init, **self.options)
        self._keep(answer.record)
        found = among(answer["y"], answer.frontier)
        if self.into is not None:
            self.into[found.indices] = found.values
        return found

    def dense(self, vector: Array) -> Array:
        """Return the product with a dense vector."""
        kind = self.kind(vector.dtype)
        if kind.along == "out" and self._worth_a_layout():
            kind = kind._replace(tiled=True)
        init = {"x": vector} if needs_vector(self.ring, kind) else {}
        if self.into is not None:
            init["y"] = self.into
        frontier: Any = () if self.mask is None else self.mask.view(np.bool_)
        program = dense_product(self.ring, kind)
        answer = run(program, self.graph, frontier=frontier, init=init, **self.options)
        self._keep(answer.record)
        if self.into is None:
            return answer["y"]
        self.into[:] = answer["y"]
        return self.into

    def _worth_a_layout(self) -> bool:
        return backend_of(self.options.get("devices")).worth_a_layout(self.graph)

    def _keep(self, record: Record) -> None:
        if self.records is not None:
            self.records.append(record)


def expect_ring(ring: object) -> None:
    """Refuse what is no semiring."""
    if not isinstance(ring, Semiring):
        raise OptionError(f"ring={ring!r:.60}: expected a Semiring")


def as_graph(matrix: Any) -> Graph:
    """Return a matrix as a graph: it is one, or a SciPy sparse array."""
    if isinstance(matrix, Graph):
        return matrix
    if not hasattr(matrix, "tocsr"):
        raise OptionError(f"a matrix is a Graph or a SciPy sparse array, not {matrix!r:.60}")
    entries = matrix.tocsr(copy=True)
    entries.sum_duplicates()
    return from_scipy(entries)


def _dense(x: ArrayLike, name: str = "x") -> Array:
    try:
        array = np.asarray(x)
    except ValueError:
        array = np.empty(0, object)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise OptionError(f"{name}={x!r:.60}: expected a Vector, or an array of numbers")
    return array.view(np.uint8) if array.dtype.kind == "b" else array


def _mask_of(mask: Vector | ArrayLike | None, complement: bool, size: int) -> Array | None:
    """Return a mask as 0 and 1 for every element."""
    complement = flag(complement, "complement")
    if mask is None:
        if complement:
            raise OptionError("complement=True is of a mask, and there is none")
        return None
    if isinstance(mask, Vector):
        chosen = np.zeros(mask.size, np.bool_)
        chosen[mask.indices] = True
    else:
        chosen = _truths(mask)
    if chosen.shape != (size,):
        raise OptionError(f"mask has shape {chosen.shape}; expected ({size},)")
    return (~chosen if complement else np.ascontiguousarray(chosen)).view(np.uint8)


def _truths(mask: ArrayLike) -> NDArray[np.bool_]:
    """Return where a mask is not zero, as it is given if it can be."""
    if isinstance(mask, np.ndarray) and mask.dtype.kind == "b":
        return mask
    return _dense(mask, "mask") != 0  # type: ignore[no-any-return]


def _check_into(into: Array, size: int, ring: Semiring) -> None:
    if not isinstance(into, np.ndarray) or into.shape != (size,):
        raise OptionError(f"into={into!r:.60}: expected an array of {size} elements")
    if ring.add == "any":
        raise OptionError("into= is for semirings that add; with 'any' use mask=")
