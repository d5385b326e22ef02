"""Numbers as functors have them when Python runs them: what compiled code makes of the same source.

NumPy computes with int32 in 32 bits and says nothing when it wraps; compiled functors compute with
whole numbers in 64. So numbers of NumPy's become Python's own here, which raise where a result is
beyond 64 bits, and a conversion such as ``np.int32(number)`` raises where the number does not fit.
Unsigned numbers stay such: their bits can be inverted, and what falls below 0 raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import RangeError
from broadfront.given import is_integer

WHOLE = {"int8", "int16", "int32", "int64", "intp", "uint8", "uint16", "uint32", "uint64"}
ALL_BITS = (1 << 64) - 1
LEAST = -(1 << 63)


class Unsigned(int):
    """A whole number of 64 bits that is never negative."""

    def __invert__(self) -> Unsigned:
        return Unsigned(ALL_BITS - int(self))


class Whole(int):
    """A whole number of 64 bits with a sign."""


Operation = Callable[..., Any]


def _of_unsigned(name: str) -> Operation:
    plain = getattr(int, name)

    def operation(self: Any, other: Any) -> Any:
        found = plain(self, other)
        if found is NotImplemented or not (isinstance(other, Unsigned) or "shift" in name):
            return found
        if not 0 <= found <= ALL_BITS:
            raise OverflowError(f"{found} is not a whole number of 64 bits without a sign")
        return Unsigned(found)

    return operation


def _of_whole(name: str) -> Operation:
    plain = getattr(int, name)

    def operation(*given: Any) -> Any:
        found = plain(*given)
        if type(found) is not int:
            return found
        if not LEAST <= found <= -LEAST - 1:
            raise OverflowError(f"{found} is beyond 64 bits")
        return Whole(found)

    return operation


for _name in ("add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift"):
    setattr(Unsigned, f"__{_name}__", _of_unsigned(f"__{_name}__"))
for _name in ("add", "sub", "mul", "floordiv", "lshift", "pow"):
    setattr(Whole, f"__{_name}__", _of_whole(f"__{_name}__"))
    setattr(Whole, f"__r{_name}__", _of_whole(f"__r{_name}__"))
for _name in ("neg", "abs"):
    setattr(Whole, f"__{_name}__", _of_whole(f"__{_name}__"))


def as_python(number: Any) -> Any:
    """Return a number of NumPy's as one of Python's, a record as a tuple; all else as it is."""
    if isinstance(number, np.unsignedinteger):
        return Unsigned(number)
    if isinstance(number, np.signedinteger):
        return Whole(number)
    if isinstance(number, np.void):
        return tuple(as_python(number[name]) for name in number.dtype.names or ())
    return number.item() if isinstance(number, np.generic) else number


class Around(np.ndarray[Any, Any]):
    """An array from around a functor, which hands out numbers of Python's."""

    def __getitem__(self, index: Any) -> Any:
        return as_python(super().__getitem__(index))


def around(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that hands out numbers of Python's, and cannot be written."""
    seen = array.view(Around)
    seen.flags.writeable = False
    return seen


class Conversion:
    """An integer type of NumPy's as functors call it: cut off like `int`, and in range."""

    def __init__(self, dtype: str) -> None:
        self.dtype = np.dtype(dtype)

    def __call__(self, number: Any = 0) -> int:
        """Return a number as one of this type."""
        whole, limits = int(number), np.iinfo(self.dtype)
        if not limits.min <= whole <= limits.max:
            raise RangeError("", "a conversion", whole, str(self.dtype))
        return Unsigned(whole) if self.dtype.kind == "u" else Whole(whole)


class NumPy:
    """NumPy as functors see it."""

    def __getattr__(self, name: str) -> Any:
        if name in WHOLE:
            return Conversion(name)
        found = getattr(np, name)
        if isinstance(found, type) and not issubclass(found, np.generic):
            return found
        if not callable(found):
            return as_python(found)
        return lambda *given, **named: as_python(found(*given, **named))


NUMPY = NumPy()


def as_functors_see(value: Any) -> Any:
    """Return what stands for NumPy, its integer types, arrays and numbers; all else as it is."""
    if value is np:
        return NUMPY
    if isinstance(value, type) and issubclass(value, np.integer):
        return Conversion(np.dtype(value).name)
    if isinstance(value, np.ndarray):
        return around(value)
    return as_python(value)


def is_real(number: Any) -> bool:
    """Tell whether a number is none of integers, be it whole or not."""
    return not is_integer(number) and not isinstance(number, (bool, np.bool_))
