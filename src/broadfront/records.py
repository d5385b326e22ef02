"""Elements of several numbers in NumPy arrays: how they are declared, held, given and answered.

A field of records is declared by a dtype with names, and answered so; one of a few values for each
vertex is declared by a dtype and a width, and answered in two dimensions. Both are held the same
way, in an array of one structure for each vertex, which is what compiled code sees
(`broadfront.elements`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.given import numbers

Array = NDArray[Any]

WHOLE = 16
"""Bytes of the largest element that is read and written as a whole."""
LARGEST = 48
"""Bytes of the largest element: the head of a message has room for one."""


def layout(sizes: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """Return where the values of an element are, given their bytes, and the bytes of all.

    Each is aligned to its own size, and all are filled up to a power of two or a multiple of 8.
    """
    places, end = [], 0
    for size in sizes:
        end = (end + size - 1) // size * size
        places.append(end)
        end += size
    if end <= WHOLE:
        return tuple(places), 1 << (end - 1).bit_length()
    return tuple(places), (end + 7) // 8 * 8


def storage_of(dtype: np.dtype[Any], width: int | None) -> np.dtype[Any]:
    """Return the dtype in which elements are held, given that and the width they are declared by.

    That of a single number is its own.
    """
    if dtype.names is None and width is None:
        return dtype
    names = dtype.names or tuple(map(str, range(min(width or 0, LARGEST + 1))))
    dtypes = [dtype[name] if dtype.names else dtype for name in names]
    places, size = layout([each.itemsize for each in dtypes])
    if size > LARGEST:
        raise OptionError(f"an element of {size} bytes: at most {LARGEST}; use several fields")
    return np.dtype({"names": names, "formats": dtypes, "offsets": places, "itemsize": size})


def held(given: Any, storage: np.dtype[Any], what: str) -> Array:
    """Return elements, as they are declared or as tuples, in the dtype in which they are held.

    What a value cannot hold is refused.
    """
    if storage.names is None:
        return numbers(given, storage, what)
    columns = _columns(given, len(storage.names), what)
    elements = np.zeros(columns[0].shape, storage)
    for name, column in zip(storage.names, columns, strict=True):
        elements[name] = numbers(column, storage[name], what)
    return elements


def _columns(given: Any, count: int, what: str) -> list[Any]:
    """Return each value of elements by itself."""
    if isinstance(given, (np.ndarray, np.void)) and given.dtype.names is not None:
        if len(given.dtype.names) == count:
            return [np.asarray(given[name]) for name in given.dtype.names]
    elif isinstance(given, np.ndarray):
        if given.ndim > 0 and given.shape[-1] == count:
            return [given[..., place] for place in range(count)]
    elif isinstance(given, tuple):
        if len(given) == count and not any(map(np.ndim, given)):
            return [np.asarray(value) for value in given]
    elif isinstance(given, list):
        rows: list[Any] = [
            each if isinstance(each, (tuple, list, np.void, np.ndarray)) else () for each in given
        ]
        if all(len(row) == count for row in rows):
            return [np.array([row[place] for row in rows]) for place in range(count)]
    raise OptionError(f"{what} is {given!r:.60}: expected elements of {count} numbers")


def constant(element: Array) -> Any:
    """Return one element as compiled code takes it: a NumPy number, or a tuple of these."""
    if element.dtype.names is None:
        return element.dtype.type(element)
    return tuple(element.dtype[name].type(element[name]) for name in element.dtype.names)


def answered(array: Array, dtype: np.dtype[Any], width: int | None) -> Array:
    """Return elements as they are declared: records, or an array with a dimension more."""
    if width is None:
        return array if array.dtype.names is None else array.astype(dtype, copy=False)
    values = array.view(dtype).reshape(*array.shape, array.itemsize // dtype.itemsize)
    return values if values.shape[-1] == width else np.ascontiguousarray(values[..., :width])
