"""What devices with separate memories send each other: boxes, flags, and numbers agreed upon.

There is a box for every pair of sender and receiver. The sender fills it with a run of bytes and
raises a flag, the receiver lowers the flag by telling how many it has taken. Runs are numbered, and
all devices send and take them in the same order, so a number is all that a flag needs. A box grows
when a run does not fit, by what is missing, and is kept for the next run of a program; where boxes
are as large as any run from the start, nobody looks whether one fits.

In shared memory a receiver reads a run where the sender has put it. Elsewhere boxes, flags and
boards are those of one process, and a carrier takes what changed to the others: whoever posts,
releases or waits lets it (`broadfront.backends.cpu.transports`).

Numbers that all must know (how large the next frontier is, totals of sums) are put up by every
device and read by all: two boards in turns, since nobody is more than one agreement ahead.

Invariant: a device waits only for what its peers do before they wait for it, and every wait ends
when the run is stopped; so no run hangs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device.call import call
from broadfront.backends.cpu.device.control import LINE, idle, nanoseconds, poll, stopped
from broadfront.backends.cpu.device.growing import EXCHANGED, WAITED, enlarged
from broadfront.backends.cpu.device.timeline import row_of
from broadfront.kernel import inner
from broadfront.pointers import address_in

Array = NDArray[Any]

BOARD_WORDS = 4 * LINE
"""Numbers that a device can put up at a time."""


LENGTH = 1
"""After the number of the run that was posted last, its bytes."""


class Post(NamedTuple):
    """What all devices of a run share, and nothing else."""

    posted: Array
    taken: Array
    agreed: Array
    boxes: Array
    """Address and capacity in bytes of each pair's box."""
    board: Array
    reals: Array


class Mail(NamedTuple):
    """The post as one device sees it, and what it knows of its peers."""

    device: int
    devices: int
    posted: Array
    taken: Array
    agreed: Array
    boxes: Array
    board: Array
    reals: Array
    account: Array
    asked: Array
    """For each peer, bytes of its box that this run has asked for."""
    checks: int
    """0 where boxes hold any message from the start."""
    counts: Array
    """For each thread and peer, entries of the message being packed."""
    lengths: Array
    """For each peer, the bytes of the run being packed; 0 where none goes there."""
    entries: Array
    """For each peer, how many vertices that run speaks of."""
    sent: Array
    """For each peer, bytes and vertices sent so far."""
    log: Array
    """Per row of the timeline, what was in `sent` and in the account when it was over."""
    ghost_starts: Array
    shared_starts: Array
    shared: Array
    ghosts: Any
    owner: Any
    carrier: int
    """The address of the function that carries runs to other processes, or 0."""
    wire: int
    """What it is called with."""
    field_io: Any
    """What the device does to its fields before and after its loop."""


def new_post(devices: int) -> Post:
    """Return the post for so many devices."""
    pairs = devices * devices
    return Post(
        np.zeros(pairs * LINE, np.int64),
        np.zeros(pairs * LINE, np.int64),
        np.zeros(devices * LINE, np.int64),
        np.zeros(pairs * 2, np.int64),
        np.zeros(2 * devices * BOARD_WORDS, np.int64),
        np.zeros(2 * devices * BOARD_WORDS, np.float64),
    )


def log_columns(devices: int) -> int:
    """Return how many numbers a row of the log has."""
    return 2 * devices + 3


@inner
def write_log(mail, iteration):
    """Write the row of an iteration: all sent so far, how long that and waiting took, the time.

    All numbers only ever rise, so of several iterations in a row the last is right for all.
    """
    columns = 2 * mail.devices + 3
    place = row_of(iteration) * columns
    for entry in range(2 * mail.devices):
        mail.log[place + entry] = mail.sent[entry]
    mail.log[place + columns - 3] = mail.account[WAITED]
    mail.log[place + columns - 2] = mail.account[EXCHANGED]
    mail.log[place + columns - 1] = nanoseconds()


# ---------------------------------------------------------------------- boxes


@inner
def outgoing(mail, receiver):
    """Return the address of what goes to a peer; to oneself, of memory that grows as needed."""
    return address_in(mail.boxes, 2 * (mail.device * mail.devices + receiver))


@inner
def incoming(mail, sender):
    """Return the address of what has come from a peer."""
    return address_in(mail.boxes, 2 * (sender * mail.devices + mail.device))


@inner
def reserve(control, mail, receiver, nbytes):
    """Make the box for a peer hold `nbytes`, if memory allows; return whether it does."""
    if mail.checks == 0:
        return True
    more = nbytes - mail.asked[receiver]
    if more > 0:
        pair = mail.device * mail.devices + receiver
        if not enlarged(control, mail.account, mail.boxes, pair, nbytes, more):
            return False
        mail.asked[receiver] = nbytes
    return True


@inner
def carry(mail):
    """Let the carrier move what it can, if there is one."""
    if mail.carrier != 0:
        call(mail.carrier, mail.wire)


@inner
def wait(control, rank, mail, flag, place, number):
    """Wait until a flag shows at least `number`, or the run is stopped; return whether it does."""
    if atomics.load(flag, place * LINE) >= number:
        return True
    began = nanoseconds()
    spins = 0
    while atomics.load(flag, place * LINE) < number:
        spins = idle(control, spins)
        if rank == 0:
            carry(mail)
        if stopped(control):
            return False
        if rank == 0 and spins & 255 == 0:
            poll(control)
    if rank == 0:
        mail.account[WAITED] += nanoseconds() - began
    return True


@inner
def emptied(control, rank, mail, receiver, number):
    """Wait until a peer has taken the message before `number`; return whether it has."""
    place = mail.device * mail.devices + receiver
    return wait(control, rank, mail, mail.taken, place, atomics.load(mail.posted, place * LINE))


@inner
def post(mail, receiver, number, nbytes, vertices):
    """Tell a peer that run `number`, of `nbytes`, is there for it."""
    place = (mail.device * mail.devices + receiver) * LINE
    mail.posted[place + LENGTH] = nbytes
    atomics.store(mail.posted, place, number)
    mail.sent[2 * receiver] += nbytes
    mail.sent[2 * receiver + 1] += vertices
    carry(mail)


@inner
def arrived(control, rank, mail, sender, number):
    """Wait for message `number` of a peer; return whether it is there."""
    place = sender * mail.devices + mail.device
    return wait(control, rank, mail, mail.posted, place, number)


@inner
def release(mail, sender, number):
    """Tell a peer that its run is needed no more."""
    atomics.store(mail.taken, (sender * mail.devices + mail.device) * LINE, number)
    carry(mail)


# ---------------------------------------------------------------------- agreements


@inner
def put_up(mail, number):
    """Tell the others that this device's numbers are on the board."""
    atomics.store(mail.agreed, mail.device * LINE, number)
    carry(mail)


@inner
def all_up(control, rank, mail, number):
    """Wait until all devices have put up their numbers; return whether they have."""
    for step in range(1, mail.devices):
        peer = (mail.device + step) % mail.devices
        if not wait(control, rank, mail, mail.agreed, peer, number):
            return False
    return True


@inner
def place_on_board(mail, device, number):
    """Return where the numbers of a device begin on the board that is in use."""
    return ((number & 1) * mail.devices + device) * BOARD_WORDS
