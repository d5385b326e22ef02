"""Sparse vectors: which elements are there, in increasing order, and their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import OptionError
from broadfront.given import count, is_integer, positions

if TYPE_CHECKING:
    import scipy.sparse

Array = NDArray[Any]


class Vector:
    """A sparse vector; its length is the number of elements that are there.

    Parameters
    ----------
    size
        How long it would be if all elements were there.
    indices
        Which are there, in any order, none twice.
    values
        One for each, or one for all.

    Examples
    --------
    >>> from broadfront import semiring
    >>> vector = semiring.Vector(5, [3, 1], [0.5, 2.0])
    >>> vector
    Vector(5, [1, 3], [2.0, 0.5])
    >>> vector.to_dense(0.0)
    array([0. , 2. , 0. , 0.5, 0. ])
    """

    def __init__(self, size: int, indices: ArrayLike, values: ArrayLike = 1) -> None:
        self.size = 0 if is_integer(size) and size == 0 else count(size, "size")
        places = positions(indices, self.size, "indices")
        given = _numbers(values)
        if given.dtype.kind == "b":
            given = given.astype(np.uint8)
        if given.ndim == 0:
            given = np.full(len(places), given)
        if given.shape != places.shape:
            raise OptionError(f"{len(places)} indices and values of shape {given.shape}")
        if len(places) > 1 and not (places[1:] > places[:-1]).all():
            order = np.argsort(places, kind="stable")
            places, given = places[order], given[order]
            twice = np.flatnonzero(places[1:] == places[:-1])
            if len(twice):
                raise OptionError(f"indices holds {places[twice[0]]} twice")
        self.indices: NDArray[np.int64] = places
        self._values: Array | None = given
        self._all: Array = given

    @property
    def values(self) -> Array:
        """The values, along `indices`."""
        if self._values is None:
            self._values = self._all = self._all[self.indices]
        return self._values

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self._all.dtype

    @classmethod
    def of(cls, size: int, elements: Mapping[int, Any]) -> Vector:
        """Return the vector of elements by index."""
        return cls(size, list(elements), list(elements.values()))

    @classmethod
    def from_dense(cls, array: ArrayLike, zero: Any = 0) -> Vector:
        """Return the elements of an array that are not `zero`."""
        values = _numbers(array)
        places = np.flatnonzero(values != zero)
        return cls(len(values), places, values[places])

    @classmethod
    def from_scipy(cls, array: Any) -> Vector:
        """Return the entries of a SciPy sparse array of one dimension, one row or one column."""
        entries = array.tocoo()
        wide = [length for length in entries.shape if length != 1] or [1]
        if len(wide) > 1:
            raise OptionError(f"a sparse array of shape {entries.shape} is no vector")
        axis = entries.shape.index(wide[0])
        coords = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
        return cls(wide[0], coords[axis], entries.data)

    def to_dense(self, zero: Any = 0) -> Array:
        """Return an array of all elements, `zero` where there is none."""
        dense = np.full(self.size, zero, self.dtype)
        dense[self.indices] = self.values
        return dense

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return a SciPy sparse array of one row."""
        from scipy.sparse import csr_array

        rows = np.array([0, len(self)])
        return csr_array((self.values, self.indices, rows), shape=(1, self.size))

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return f"Vector({self.size}, {self.indices.tolist()}, {self.values.tolist()})"


def _numbers(given: ArrayLike) -> Array:
    try:
        array = np.asarray(given)
    except ValueError:
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise OptionError(f"values={given!r:.60}: expected numbers")
    return array


def known(size: int, indices: NDArray[np.int64], values: Array) -> Vector:
    """Return a vector of indices that are in order, and of values in theirs."""
    vector = Vector.__new__(Vector)
    vector.size, vector.indices = size, indices
    vector._values = vector._all = values
    return vector


def among(elements: Array, indices: NDArray[np.int64]) -> Vector:
    """Return those of all elements, which do not change, that are at indices in order."""
    vector = known(len(elements), indices, elements)
    vector._values = None  # they are looked up when somebody asks
    return vector
