"""Mailboxes: a ring of slots between every two devices, each for one message.

A sender fills the next slot and raises the link's `posted`; the receiver empties it and raises
`taken`. Each counter has one writer. A link holds `slots` messages; while it is full, what is to be
sent stays in the sender's outbox and goes on improving there, so nothing is lost and nobody waits.

The outbox holds each copy of another device's vertex at most once, so it has a place for all of
them and never overflows. A message takes the value that the copy has when it is packed.

Invariant: slots `taken .. posted - 1` belong to the receiver, all others to the sender.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.kernel import inlined, inner
from broadfront.partition.part import Part

Array = NDArray[Any]

MOST_ENTRIES = 1 << 16
"""Entries of the slots of one device for all others, for each slot, at most."""
LEAST_PACKET = 16
HEADER_BYTES = 8


class Rings(NamedTuple):
    """The mailboxes of a run: what all devices share, beside the board."""

    keys: Array
    values: Array
    sources: Array
    """Who made each proposal; empty where nobody asks."""
    lengths: Array
    """Per link and slot, the entries of its message."""
    begins: Array
    """Per link, where the entries of its first slot are."""
    capacities: Array
    """Per link, the entries of a slot."""
    slots: int
    posted: Array
    taken: Array

    @property
    def nbytes(self) -> int:
        """Bytes of all messages that can be under way."""
        return int(self.keys.nbytes + self.values.nbytes + self.sources.nbytes)


class Outbox(NamedTuple):
    """What one device has for the others: for each a queue of copies, in a ring of its own."""

    copies: Array
    heads: Array
    counts: Array
    messages: Array
    entries: Array
    """Per device, copies that wait from where on and how many, and what was sent in all."""


def new_rings(
    space: Workspace,
    parts: Sequence[Part],
    value: np.dtype[Any],
    vertex: np.dtype[Any],
    record_source: bool,
    packet: int,
    slots: int,
) -> Rings:
    """Return the mailboxes between parts; a link without copies has none."""
    count = len(parts)
    packet = min(packet, max(LEAST_PACKET, MOST_ENTRIES // count))
    ghosts = np.concatenate([np.diff(part.ghost_starts) for part in parts])
    capacities = np.minimum(ghosts, packet).astype(np.int64)
    begins = np.concatenate([[0], np.cumsum(capacities * slots)])
    size = int(begins[-1])
    lengths, posted, taken = (
        space.array(f"links {name}", length, np.int64)
        for name, length in (("lengths", count * count * slots), ("posted", count * count * LINE),
                             ("taken", count * count * LINE))
    )  # fmt: skip
    posted[: count * count * LINE] = 0
    taken[: count * count * LINE] = 0
    return Rings(
        space.array("links keys", size, vertex)[:size],
        space.array(f"links {value}", size, value)[:size],
        space.array("links sources", size if record_source else 0, vertex)[: size * record_source],
        lengths, begins[:-1], capacities, slots, posted, taken,
    )  # fmt: skip


def new_outbox(space: Workspace, part: Part) -> Outbox:
    """Return the outbox of a device, empty."""
    heads, counts, messages, entries = np.zeros((4, part.count), np.int64)
    copies = space.array("outbox", part.num_ghosts, part.targets.dtype)
    return Outbox(copies, heads, counts, messages, entries)


@inlined
def put_out(vertex, peer, outbox, starts):
    """Put a copy that is not there yet behind the others for a peer."""
    first = starts[peer] - starts[0]
    size = starts[peer + 1] - starts[peer]
    place = outbox.heads[peer] + outbox.counts[peer]
    outbox.copies[first + (place - size if place >= size else place)] = vertex
    outbox.counts[peer] += 1


@inlined
def take_out(peer, outbox, starts):
    """Return the first copy for a peer, which is no longer there."""
    head = outbox.heads[peer]
    vertex = np.int64(outbox.copies[starts[peer] - starts[0] + head])
    outbox.heads[peer] = 0 if head + 1 == starts[peer + 1] - starts[peer] else head + 1
    outbox.counts[peer] -= 1
    return vertex


@inner
def free_slot(rings, link):
    """Return the number of the message that a sender may fill now; negative if the link is full."""
    number = rings.posted[link * LINE]
    if number - atomics.load(rings.taken, link * LINE) >= rings.slots:
        return np.int64(-1)
    return number


@inner
def all_taken(rings, link):
    """Tell a sender whether the receiver has taken all that was sent."""
    return atomics.load(rings.taken, link * LINE) == rings.posted[link * LINE]


@inner
def post(rings, link, number, length):
    """Hand a message that is filled to the receiver."""
    rings.lengths[link * rings.slots + number % rings.slots] = length
    atomics.store(rings.posted, link * LINE, number + 1)


@inner
def next_message(rings, link):
    """Return the number of the message that a receiver may read now; negative if there is none."""
    number = rings.taken[link * LINE]
    if atomics.load(rings.posted, link * LINE) == number:
        return np.int64(-1)
    return number


@inner
def release(rings, link, number):
    """Give the slot of a message that was read back to the sender."""
    atomics.store(rings.taken, link * LINE, number + 1)


@inlined
def first_entry(rings, link, number):
    """Return where the entries of a message are."""
    return rings.begins[link] + number % rings.slots * rings.capacities[link]


@inlined
def length_of(rings, link, number):
    """Return how many entries a message has."""
    return rings.lengths[link * rings.slots + number % rings.slots]
