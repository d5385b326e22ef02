"""The parameters of a program: numbers that each run sets, and that loops do not depend on.

With a declared dtype a number becomes that, whatever it is given as; without one, whole numbers are
of 64 bits and all others are float64. So a program has one loop, or at most two for each parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from broadfront.errors import OptionError
from broadfront.given import is_integer, numbers

if TYPE_CHECKING:
    from broadfront.execution.program import Program

REALS = (float, np.float32, np.float64)


def check_dtypes(parameters: Mapping[str, DTypeLike]) -> None:
    """Refuse dtypes that functors cannot compute with."""
    for name, wanted in parameters.items():
        try:
            dtype = np.dtype(wanted)
        except TypeError as error:
            raise OptionError(f"parameter {name!r} of {wanted!r:.60}: {error}") from None
        real = dtype.kind == "f" and dtype.itemsize in (4, 8)
        if wanted is None or not dtype.isnative or not (dtype.kind in "iu" or real):
            raise OptionError(
                f"parameter {name!r} of {wanted!r:.60}: use a dtype of integers, np.float32 or "
                "np.float64"
            )


def values_of(program: Program, given: Mapping[str, Any]) -> list[Any]:
    """Return the values of the program's parameters, in order."""
    declared = program.parameters
    if set(given) != set(declared):
        raise OptionError(
            f"the program's parameters are {', '.join(declared) or 'none'}; "
            f"given were {', '.join(given) or 'none'}"
        )
    if isinstance(declared, Mapping):
        return [_as(dtype, given[name], name) for name, dtype in declared.items()]
    return [_by_itself(given[name], name) for name in declared]


def _as(dtype: DTypeLike, value: Any, name: str) -> Any:
    """Return a number of a dtype, which must hold it."""
    array = numbers(value, np.dtype(dtype), f"parameter {name}")
    if array.shape:
        raise OptionError(f"parameter {name}={value!r:.60} is not one number")
    return array[()]


def _by_itself(value: Any, name: str) -> int | float:
    whole = isinstance(value, (bool, np.bool_)) or is_integer(value)
    if whole and -(1 << 63) <= int(value) < 1 << 63:
        return int(value)
    if isinstance(value, REALS):
        return float(value)
    raise OptionError(f"parameter {name}={value!r:.60}: expected a number of 64 bits")
