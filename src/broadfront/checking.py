"""Whether compiled code checks every index: ``BROADFRONT_CHECKED=1``, or ``checked=True``.

With the environment variable, or Numba's own (``NUMBA_BOUNDSCHECK=1``, which alone would not see
into pointers), all kernels and functors are compiled with checks. With the option of
a call, the loop of that call is; other loops and kernels stay as they are. An index outside raises
`BoundsError`, which names the function, the array, the index and the length.

Pointers carry their lengths then (`broadfront.bounded`). NumPy arrays are checked by Numba, whose
error names nothing; here it is given names (`broadfront.sites`).

Invariant: without the switch no compiled code differs from that of a Broadfront without this file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, config

from broadfront.errors import BoundsError
from broadfront.sites import array_name, compiles_here
from broadfront.traffic import is_counting

ALWAYS = os.environ.get("BROADFRONT_CHECKED", "") not in ("", "0") or bool(config.BOUNDSCHECK)
"""Whether everything is compiled with checks in this process."""

_check_of_numba = cgutils.do_boundscheck
_wanted: ContextVar[bool] = ContextVar("checked", default=False)


def checking() -> bool:
    """Tell whether what is made now is to be compiled with checks."""
    return ALWAYS or _wanted.get() or is_counting()


@contextmanager
def checks(wanted: bool) -> Iterator[None]:
    """Have what is made in a block of code compiled with checks, if `wanted`."""
    before = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(before)


def options_of_checks() -> dict[str, Any]:
    """Return the options of Numba for a function that is made now."""
    if not checking():
        return {"boundscheck": None}
    cgutils.do_boundscheck = check_index
    return {"boundscheck": True}


def check_index(context: Any, builder: Any, index: Any, length: Any, axis: Any = None) -> None:
    """Raise `BoundsError` for an index outside an array, as Numba would raise `IndexError`.

    It stands in place of Numba's own, which goes on to serve other functions.
    """
    if not compiles_here():
        _check_of_numba(context, builder, index, length, axis)
        return
    name = array_name()
    if axis and not isinstance(axis, ir.Value):
        name = f"axis {axis} of {name}"
    refuse_outside(context, builder, name, index, length)


def refuse_outside(
    context: Any, builder: Any, name: str, index: Any, length: Any, before: Any = None
) -> None:
    """Raise `BoundsError` unless an index is within a length, or `before` its beginning."""
    place = index if before is None else builder.add(index, before)
    places = length if before is None else builder.add(length, before)
    negative = builder.icmp_signed("<", place, place.type(0))
    beyond = builder.icmp_signed(">=", place, places)
    with builder.if_then(builder.or_(negative, beyond), likely=False):
        context.call_conv.return_dynamic_user_exc(
            builder, BoundsError, (function_name(builder), name, index, length),
            (None, None, types.intp, types.intp),
        )  # fmt: skip


def function_name(builder: Any) -> str:
    """Return the name of the function that is being compiled."""
    name = str(builder.module.name).partition("$")[0]
    return name.rpartition(".")[2]
