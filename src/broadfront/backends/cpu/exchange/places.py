"""Whose vertex it is, and what it is called on the way to another device.

Relabelled, a part's own vertices come first and its ghosts follow by owner, so the owner of a ghost
is found among the starts, and a ghost travels as its number in its owner's list. With ids kept, the
owner is looked up, and a vertex travels under its id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront.kernel import inlined


class Places(NamedTuple):
    """How vertices are found, as compiled functions."""

    owner_of: Callable[..., Any]
    """`owner_of(vertex, mail)` is the device that owns a local vertex."""
    name_for: Callable[..., Any]
    """`name_for(vertex, peer, mail)` is what a ghost is called on its way to its owner."""
    found: Callable[..., Any]
    """`found(name, peer, mail)` is the local vertex that a peer has called so."""


@inlined
def _owner_by_starts(vertex, mail):
    starts = mail.ghost_starts
    if vertex < starts[0]:
        return np.int64(mail.device)
    low, high = np.int64(0), np.int64(mail.devices)
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= vertex:
            low = middle
        else:
            high = middle
    return low


@inlined
def _owner_by_table(vertex, mail):
    return np.int64(mail.owner[vertex])


@inlined
def _number_of_ghost(vertex, peer, mail):
    return vertex - mail.ghost_starts[peer]


@inlined
def _id(vertex, peer, mail):
    return vertex


@inlined
def _shared(name, peer, mail):
    return np.int64(mail.shared[mail.shared_starts[peer] + np.int64(name)])


def places(relabelled: bool) -> Places:
    """Return how vertices are found in parts that are relabelled, or keep their ids."""
    if relabelled:
        return Places(_owner_by_starts, _number_of_ghost, _shared)
    return Places(_owner_by_table, _id, _id)


@inlined
def ghosts_of(mail, peer):
    """Return how many ghosts of this device a peer owns."""
    return mail.ghost_starts[peer + 1] - mail.ghost_starts[peer]


@inlined
def shared_with(mail, peer):
    """Return how many vertices of this device are ghosts at a peer."""
    return mail.shared_starts[peer + 1] - mail.shared_starts[peer]
