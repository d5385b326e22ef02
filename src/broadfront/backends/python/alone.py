"""What `broadfront.atomics` means where nobody else is at work: plain reads and writes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from broadfront import atomics
from broadfront.backends.python.numbers import as_functors_see


def _add(array: Any, index: Any, value: Any) -> Any:
    before = array[index]
    array[index] = before + value
    return before


def _minimum(array: Any, index: Any, value: Any) -> Any:
    before = array[index]
    array[index] = min(before, value)
    return before


def _maximum(array: Any, index: Any, value: Any) -> Any:
    before = array[index]
    array[index] = max(before, value)
    return before


def _bitwise_or(array: Any, index: Any, value: Any) -> Any:
    before = array[index]
    array[index] = before | value
    return before


def _exchange(array: Any, index: Any, value: Any) -> Any:
    before = array[index]
    array[index] = value
    return before


def _compare_and_swap(array: Any, index: Any, old: Any, new: Any) -> bool:
    if array[index] != old:
        return False
    array[index] = new
    return True


def _load(array: Any, index: Any) -> Any:
    return array[index]


def _store(array: Any, index: Any, value: Any) -> None:
    array[index] = value


def _arrive(array: Any, index: Any) -> Any:
    return _add(array, index, 1)


MEANINGS = {
    "add": _add, "minimum": _minimum, "maximum": _maximum, "bitwise_or": _bitwise_or,
    "exchange": _exchange, "compare_and_swap": _compare_and_swap, "load": _load, "store": _store,
    "arrive": _arrive,
}  # fmt: skip
MODULE = SimpleNamespace(**MEANINGS)


def without_atomics(value: Any) -> Any:
    """Return what stands for an atomic operation, for their module, or for what is NumPy's."""
    if value is atomics:
        return MODULE
    for name, meaning in MEANINGS.items():
        if value is getattr(atomics, name):
            return meaning
    return as_functors_see(value)
