"""What functors see when Python itself runs them: numbers of Python's own, every index checked.

A column hands out and takes single elements. Integers do not wrap: one that does not fit its field
is refused when it is stored. The rows of the graph can be read and not written.

Invariant: no functor reaches an array but through a column.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.python import alone
from broadfront.backends.python.numbers import as_python, is_real
from broadfront.errors import BoundsError, FunctorError, RangeError
from broadfront.given import is_integer

Array = NDArray[Any]


def fitting(value: Any, dtype: np.dtype[Any], what: str) -> Any:
    """Return a number as an element of a dtype holds it; refuse one that it cannot hold.

    Of a dtype with names that is a tuple of numbers.
    """
    if dtype.names is not None:
        if not isinstance(value, tuple) or len(value) != len(dtype.names):
            raise FunctorError(
                f"{what} cannot hold {value!r:.60}: expected a tuple of {len(dtype.names)} numbers"
            )
        pairs = zip(value, dtype.names, strict=True)
        return tuple(fitting(each, dtype[name], what) for each, name in pairs)
    if value is None or isinstance(value, (str, bytes)):
        raise FunctorError(f"{what} cannot hold {value!r:.60}: expected a number")
    try:
        if dtype.kind == "f":
            return float(dtype.type(value))
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        raise FunctorError(f"{what} cannot hold {value!r:.60}: expected a number") from None
    if is_real(value):
        raise FunctorError(
            f"{what} cannot hold {value}: it is of {dtype}, and this is a real number: write "
            "int(...) around it, or declare the field np.float64"
        )
    limits = np.iinfo(dtype)
    if not limits.min <= whole <= limits.max:
        raise RangeError("", what, whole, str(dtype))
    return whole


class Column:
    """An array as functors see it."""

    __slots__ = ("_array", "_name", "_writable")

    def __init__(self, name: str, array: Array, writable: bool) -> None:
        self._name, self._array, self._writable = f"state.{name}", array, writable

    def __getitem__(self, index: Any) -> Any:
        return as_python(self._array[self._place(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self._writable:
            raise FunctorError(f"{self._name} belongs to the graph, which functors only read")
        self._array[self._place(index)] = fitting(value, self._array.dtype, self._name)

    def __len__(self) -> int:
        raise FunctorError(
            f"{self._name} has no len: use state.num_vertices, or for a degree "
            "state.offsets[vertex + 1] - state.offsets[vertex]"
        )

    def __iter__(self) -> Any:
        raise FunctorError(
            f"{self._name} cannot be gone through: use for edge in "
            "range(state.offsets[vertex], state.offsets[vertex + 1])"
        )

    def _place(self, index: Any) -> int:
        if isinstance(index, slice):
            raise FunctorError(
                f"{self._name} has no slices: only single elements of it are read and set, as "
                "state.field[vertex]"
            )
        if not is_integer(index):
            raise FunctorError(f"{self._name}[{index!r:.60}]: an index is a whole number")
        if not 0 <= index < len(self._array):
            raise BoundsError(_functor(sys._getframe(2)), self._name, int(index), len(self._array))
        return int(index)


def _functor(frame: Any) -> str:
    """Return the name of the functor that is running, which may be in an atomic operation."""
    while frame.f_globals is vars(alone):
        frame = frame.f_back
    return str(frame.f_code.co_name)


class State:
    """The columns and numbers of a run, as attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __getattr__(self, name: str) -> Any:
        if name in ("weight", "in_weight"):
            raise FunctorError(f"a functor reads state.{name}, and the graph has no weights")
        raise FunctorError(f"state has no {name}; there are {', '.join(self.__dict__)}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise FunctorError(f"state.{name} cannot be set as a whole: set single elements of it")
