"""When it is over: nobody has work, and nothing is under way. Found without stopping anybody.

Every device has a line on a board that only it writes: messages `SENT` and `TAKEN`, both only ever
rising, and whether it is `PASSIVE`, with nothing in its worklist and nothing in its outbox. It
counts a message as sent before the receiver can see it, and as taken after it has said that it is
active. A passive device looks at all others:

    1. add up TAKEN of all, then SENT of all; the sums must be equal,
    2. look whether all are PASSIVE,
    3. add up TAKEN again, then SENT; both must be as before.

Then it is over. Proof: each counter only rises, so equal sums mean that no counter has changed
between its two readings. Let T be the moment at which 3 begins, after all readings of 1 and 2. At T
all counters have the values read, so as many messages were taken as were sent: none is under way,
and none is being taken, for that counts as under way until the device has said that it is active. A
device was passive when 2 looked at it, and it becomes active only by taking a message, after which
it counts one more; it has not, so it is passive at T. With nothing under way and everybody passive,
nothing happens any more. Conversely, once it is over the next device to look finds it so.

The order of reading matters where memory is weakly ordered: whoever has read that a message was
taken reads afterwards that it was sent, since each store releases what came before it and each load
acquires it. So the sum of TAKEN never contains a message that the later sum of SENT does not.

References
----------
Mattern: Algorithms for distributed termination detection (Distributed Computing 1987), for counting
twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE
from broadfront.kernel import inner

SENT, TAKEN, PASSIVE, LOWEST = range(4)
"""Words of a device's line; the last is for `worklist`. One more line says that it is over."""


def new_board(devices: int) -> NDArray[Any]:
    """Return the board for so many devices; nobody is passive before it has begun."""
    return np.zeros((devices + 1) * LINE, np.int64)


@inner
def count_sent(board, device):
    """Count a message as sent; before it is posted."""
    atomics.store(board, device * LINE + SENT, board[device * LINE + SENT] + 1)


@inner
def count_taken(board, device):
    """Count a message as taken; after `be_active`."""
    atomics.store(board, device * LINE + TAKEN, board[device * LINE + TAKEN] + 1)


@inner
def be_active(board, device):
    """Say that this device may have work; before it takes a message."""
    atomics.store(board, device * LINE + PASSIVE, 0)


@inner
def be_passive(board, device):
    """Say that this device has no work and nothing to send."""
    atomics.store(board, device * LINE + PASSIVE, 1)


@inner
def added_up(board, devices, word):
    """Return the sum of a counter over all devices."""
    total = np.int64(0)
    for device in range(devices):
        total += atomics.load(board, device * LINE + word)
    return total


@inner
def is_over(board, devices):
    """Tell whether it is over; tell the others if it is. For a passive device."""
    if atomics.load(board, devices * LINE) != 0:
        return True
    taken = added_up(board, devices, TAKEN)
    sent = added_up(board, devices, SENT)
    if taken != sent:
        return False
    for device in range(devices):
        if atomics.load(board, device * LINE + PASSIVE) == 0:
            return False
    if added_up(board, devices, TAKEN) != taken or added_up(board, devices, SENT) != sent:
        return False
    atomics.store(board, devices * LINE, 1)
    return True
