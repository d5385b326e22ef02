"""Several devices in one thread: where each keeps what its loop works with, so they can take turns.

Where there are more devices than cores, threads that wait for each other lose the core for longer
than a step takes. So each core gets one thread, and a thread goes from device to device. What a
device works with (its control words, rows, fields and desk, as compiled code sees them) is put down
in a roster once, and taken up at each turn.

Invariant: all devices of a run are of the same kinds, so what one thread has put down another can
take up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core.errors import NumbaError
from numba.extending import intrinsic
from numpy.typing import NDArray

from broadfront.bounded import Bounded, parts_of
from broadfront.pages import zeros

ROOM = 1 << 9
"""Words for what a device works with: pointers that know their lengths take three each."""


def new_roster(devices: int) -> NDArray[np.int64]:
    """Return the roster for so many devices, empty."""
    return zeros(devices * ROOM, np.int64)


def _place(context: Any, builder: Any, roster: Any, arguments: Any, kind: Any) -> Any:
    """Return where a roster keeps a device, as a pointer to what that is."""
    content = context.get_value_type(kind)
    if context.get_abi_sizeof(content) > 8 * ROOM:
        raise NumbaError("what a device works with does not fit into the roster")
    base, device = arguments[0], arguments[1]
    if isinstance(roster, Bounded):
        base = parts_of(builder, base)[0]
    entry = builder.gep(base, [builder.mul(device, device.type(ROOM))])
    return builder.bitcast(entry, content.as_pointer())


@intrinsic
def enlist(typing_context: Any, roster: Any, device: Any, own: Any) -> Any:
    """Put down what a device works with."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(context, builder, roster, arguments, own))
        return context.get_dummy_value()

    return types.void(roster, types.int64, own), generate


@intrinsic
def enlisted(typing_context: Any, roster: Any, device: Any, own: Any) -> Any:
    """Return what a device works with; it is of the same kinds as `own`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(context, builder, roster, arguments, own))

    return own(roster, types.int64, own), generate
