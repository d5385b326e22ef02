"""What a caller gives, checked: numbers that a dtype holds, positions that there are.

Compiled code checks no index, and a cast wraps without a word. So every number that comes from a
caller goes through here first, and what does not fit is refused by name.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError

Array = NDArray[Any]


def numbers(given: Any, dtype: np.dtype[Any], what: str) -> Array:
    """Return numbers as an array of `dtype`, perhaps the one given; refuse what it does not hold.

    Real numbers may be rounded, but do not become infinite.
    """
    if type(given) is list and dtype.kind in "iu" and _are_between(given, *_bounds(dtype)):
        return np.array(given, dtype)
    array = _real(given, what)
    if array.dtype.kind in "iu" and dtype.kind in "iu":
        cast = array.astype(dtype, copy=False)
        if cast is array or _all(cast == array):
            return cast
    if not np.can_cast(array.dtype, dtype, "safe"):
        fits = _fits(array, dtype)
        if not fits.all():
            wrong = array[~fits].flat[0]
            raise OptionError(f"{what} holds {wrong}, which is no value of {dtype}")
    return array.astype(dtype, copy=False)


def positions(given: Any, size: int, what: str) -> NDArray[np.int64]:
    """Return positions in an array of so many; refuse what is none."""
    if type(given) is list and _are_between(given, 0, size - 1):
        return np.array(given, np.int64)
    return _in_range(_real(given, what), size, what)


def _are_between(given: list[Any], low: int, high: int) -> bool:
    """Tell whether these are integers of Python in a range, which is quick for a few."""
    return all(type(number) is int and low <= number <= high for number in given)


@cache
def _bounds(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Return the smallest and the largest integer of a dtype."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _in_range(array: Array, size: int, what: str) -> NDArray[np.int64]:
    if array.dtype == np.int64 and array.ndim == 1 and _all(array.view(np.uint64) < size):
        return array
    array = np.atleast_1d(array)
    if array.ndim > 1 or array.dtype.kind == "b":
        raise OptionError(f"{what} is {array.dtype} of shape {array.shape}; expected positions")
    fits = (array >= 0) & (array < size)
    if array.dtype.kind == "f":
        fits &= array == np.floor(array)
    if not fits.all():
        raise OptionError(
            f"{what} holds {array[~fits][0]}, which is no position in 0..{size - 1}"
            if size else f"{what} holds {array[~fits][0]}, and there are no positions"
        )  # fmt: skip
    return array.astype(np.int64, copy=False)


def vertices(given: Any, size: int, what: str) -> NDArray[np.int64]:
    """Return the positions of vertices, given as such or by a mask of all; refuse what is none."""
    array = _real(given, what)
    if array.dtype.kind != "b":
        return _in_range(array, size, what)
    if array.shape != (size,):
        raise OptionError(
            f"{what} is a mask of shape {array.shape}; expected ({size},), or positions"
        )
    return np.flatnonzero(array)


def count(given: Any, name: str) -> int:
    """Return a number of things, 1 or more."""
    if is_integer(given) and given >= 1:
        return int(given)
    raise OptionError(f"{name}={given!r} is not a positive number")


def whole(given: Any, name: str) -> int:
    """Return a whole number, as one of Python."""
    if is_integer(given):
        return int(given)
    raise OptionError(f"{name}={given!r:.60}: expected a whole number")


def number(given: Any, name: str, least: float = -math.inf) -> float:
    """Return a number, `least` or more."""
    real = isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)
    if not real or given != given:
        raise OptionError(f"{name}={given!r:.60}: expected a number")
    plain = int(given) if is_integer(given) else float(given)
    if plain < least:
        raise OptionError(f"{name}={given!r:.60}: expected {least} or more")
    return min(plain, sys.float_info.max) if isinstance(plain, int) else plain


def flag(given: Any, name: str) -> bool:
    """Return a truth, as one of Python."""
    if isinstance(given, (bool, np.bool_)):
        return bool(given)
    raise OptionError(f"{name}={given!r:.60}: expected True or False")


def table(given: Any, name: str) -> None:
    """Refuse what does not map names to values."""
    if not isinstance(given, Mapping) or not all(isinstance(word, str) for word in given):
        raise OptionError(f"{name}={given!r:.60}: expected a dictionary of names and values")


def listed(given: Any, name: str) -> None:
    """Refuse what is no list or tuple, or the like."""
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise OptionError(f"{name}={given!r:.60}: expected a list")


def is_integer(given: object) -> bool:
    """Return whether something is an integer; True and False are none."""
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool)


def is_path(given: object) -> bool:
    """Return whether something may name a file: text, without the one byte that no name has."""
    return isinstance(given, (str, PathLike)) and "\0" not in str(given)


def is_one_of(given: object, words: Iterable[str]) -> bool:
    """Return whether something is one of these words."""
    return isinstance(given, str) and given in words


def is_word(given: object, word: str) -> bool:
    """Return whether something is this word; an array of words is not."""
    return isinstance(given, str) and given == word


def _real(given: Any, what: str) -> Array:
    """Return an array of real numbers or of booleans."""
    try:
        array = np.asarray(given)
        if array.dtype.kind == "O":
            array = np.asarray(array.tolist())
    except (ValueError, TypeError):
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise OptionError(f"{what} is {given!r:.60}, which is no array of numbers")
    return array


def _all(fits: Array) -> bool:
    """Tell whether all are true; `all` of NumPy takes several times as long for a few."""
    return bool(np.count_nonzero(fits) == fits.size)


def _fits(array: Array, dtype: np.dtype[Any]) -> Any:
    """Return which numbers a dtype holds."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return ~np.isfinite(array) | np.isfinite(array.astype(dtype))
    bounds = np.iinfo(dtype)
    if array.dtype.kind != "f":
        return (array >= bounds.min) & (array <= bounds.max)
    inside = (array >= float(bounds.min)) & (array < float(bounds.max) + 1)
    return inside & (array == np.floor(array))
