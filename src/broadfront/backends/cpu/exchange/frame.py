"""The frame of every exchange: make room, pack, post, wait, unpack, release.

A message says what is its own: how much goes to a peer, how that is written into a run of bytes,
and what becomes of the runs that come. Everything else is here, once. All threads of a device pack
and unpack together; the first of them waits for room, posts and releases.

Invariant: all devices make the same exchanges in the same order, so that a number is all that tells
messages apart; and what a receiver needs is in the run, or known to it before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront.backends.cpu.device.control import stopped, trip
from broadfront.backends.cpu.device.mail import (
    arrived,
    emptied,
    incoming,
    outgoing,
    post,
    release,
    reserve,
)
from broadfront.backends.cpu.exchange.blocks import PACKAGE, PUSH, UNPACKAGE
from broadfront.backends.cpu.exchange.places import ghosts_of, shared_with
from broadfront.backends.cpu.exchange.runs import COUNT, HEAD, head_of
from broadfront.backends.cpu.operators.frontier import MESSAGE, finish, prepare
from broadfront.kernel import inlined, inner

Section = Callable[..., Any]
Step = Callable[..., Any]

NOTHING = -1
"""What is to go to a peer that gets no run, not even an empty one."""


@inlined
def from_owners(peer, work, front):
    """Tell whether a run comes from a peer, where they go from owners to ghosts."""
    return ghosts_of(work.mail, peer) > 0


@inlined
def from_ghosts(peer, work, front):
    """Tell whether a run comes from a peer, where they go from ghosts to owners."""
    return shared_with(work.mail, peer) > 0


@inner
def make_room(control, mail, peer, number, entries, nbytes):
    """Wait until a peer has taken the last run; make room for one of `nbytes`, and begin it."""
    mail.entries[peer], mail.lengths[peer] = entries, 0
    if entries == NOTHING or not emptied(control, 0, mail, peer, number):
        return
    if reserve(control, mail, peer, nbytes):
        mail.lengths[peer] = nbytes
        head_of(outgoing(mail, peer), mail)[COUNT] = entries


class Message(NamedTuple):
    """What is a message's own: compiled functions, most of which may be left out.

    Those called steps are ``step(rank, threads, control, graph, state, work, front, turn)``, which
    is a section that does not ask incoming edges; they meet before they return.
    """

    expects: Callable[..., Any]
    """``expects(peer, work, front)`` tells whether a run comes from a peer."""
    measure: Callable[..., Any]
    """``measure(peer, threads, state, work, front)`` returns how many entries go to a peer, or
    `NOTHING`, and how many bytes behind the head that can take; by the first thread."""
    pack: Callable[..., Any]
    """The step that writes the runs, without meeting; see `to_each`."""
    unpack: Callable[..., Any]
    """``unpack(run, peer, rank, threads, control, graph, state, work, front, turn)`` takes this
    thread's share of a run."""
    before: Step | None = None
    """A step before all else: what has to be known to measure."""
    complete: Step | None = None
    """A step after packing: what could not be written at once."""
    seal: Callable[..., Any] | None = None
    """``seal(run, peer, nbytes, threads, state, work)`` finishes a run and returns its length; by
    the first thread."""
    awaited: Step | None = None
    """A step between posting and unpacking."""
    taken: Step | None = None
    """The step after unpacking, without meeting: what is left to do for a thread."""
    after: Step | None = None
    """A step after all have unpacked, while the runs are still there."""
    in_order: bool = False
    """Whether threads meet after the run of each peer, which are taken in the order of devices."""


def to_each(pack_one: Callable[..., Any]) -> Step:
    """Return the step that packs peer by peer.

    ``pack_one(run, peer, rank, threads, graph, state, work, front)`` writes a thread's share.
    """

    @inner
    def pack(rank, threads, control, graph, state, work, front, turn):
        mail = work.mail
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if mail.lengths[peer] > 0:
                pack_one(outgoing(mail, peer), peer, rank, threads, graph, state, work, front)
        return turn

    return pack


def exchanged(message: Message) -> Section:
    """Return the section that sends the runs of a message, and takes those of the peers."""
    send, receive, expects = _sending(message), _receiving(message), message.expects
    before, after = message.before, message.after
    has_before, has_after = before is not None, after is not None

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        front[MESSAGE] += 1
        if has_before:
            turn = before(rank, threads, control, graph, state, work, front, turn)
            if turn < 0:
                return turn
        turn = send(rank, threads, control, graph, state, work, front, turn)
        if turn < 0:
            return turn
        turn = receive(rank, threads, control, graph, state, work, front, turn)
        if has_after and turn >= 0:
            turn = after(rank, threads, control, graph, state, work, front, turn)
        if rank == 0 and turn >= 0:
            mail = work.mail
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                if expects(peer, work, front):
                    release(mail, peer, front[MESSAGE])
        return turn

    return section


def _sending(message: Message) -> Step:
    """Return the step that makes room, packs and posts; it does not meet after posting."""
    measure, pack, complete, seal = message.measure, message.pack, message.complete, message.seal
    has_complete, has_seal = complete is not None, seal is not None

    @inner
    def send(rank, threads, control, graph, state, work, front, turn):
        mail = work.mail
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PACKAGE)
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                entries, nbytes = measure(peer, threads, state, work, front)
                make_room(control, mail, peer, front[MESSAGE], entries, HEAD + nbytes)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        pack(rank, threads, control, graph, state, work, front, turn)
        turn = finish(control, rank, threads, turn)
        if has_complete and turn >= 0:
            turn = complete(rank, threads, control, graph, state, work, front, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PUSH)
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                nbytes = mail.lengths[peer]
                if nbytes > 0:
                    if has_seal:
                        nbytes = seal(outgoing(mail, peer), peer, nbytes, threads, state, work)
                    post(mail, peer, front[MESSAGE], nbytes, mail.entries[peer])
        return turn

    return send


def _receiving(message: Message) -> Step:
    """Return the step that waits for runs and takes them."""
    expects, unpack, awaited, taken = (
        message.expects, message.unpack, message.awaited, message.taken,
    )  # fmt: skip
    is_awaited, is_taken = awaited is not None, taken is not None

    @inner
    def from_all(rank, threads, control, graph, state, work, front, turn):
        if is_awaited:
            turn = awaited(rank, threads, control, graph, state, work, front, turn)
            if turn < 0:
                return turn
        mail = work.mail
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if not expects(peer, work, front):
                continue
            if not arrived(control, rank, mail, peer, front[MESSAGE]) or stopped(control):
                break
            unpack(
                incoming(mail, peer), peer, rank, threads, control, graph, state, work, front, turn
            )
        if is_taken:
            taken(rank, threads, control, graph, state, work, front, turn)
        if rank == 0:
            trip(control, UNPACKAGE)
        return finish(control, rank, threads, turn)

    @inner
    def from_each(rank, threads, control, graph, state, work, front, turn):
        mail = work.mail
        for peer in range(mail.devices):
            if peer == mail.device or not expects(peer, work, front):
                continue
            prepare(control, rank, turn)
            if arrived(control, rank, mail, peer, front[MESSAGE]):
                unpack(
                    incoming(mail, peer), peer, rank, threads, control, graph, state, work, front,
                    turn,
                )  # fmt: skip
            if rank == 0:
                trip(control, UNPACKAGE)
            turn = finish(control, rank, threads, turn)
            if turn < 0:
                return turn
        return turn

    return from_each if message.in_order else from_all


def listed(list_for: Callable[..., Any], nbytes: Callable[..., Any]) -> Callable[..., Any]:
    """Return `measure` of a message with an entry for each of a list that both sides keep.

    ``list_for(mail, peer)`` is how long that is, ``nbytes(count)`` what so many entries take.
    """

    @inner
    def measure(peer, threads, state, work, front):
        count = list_for(work.mail, peer)
        if count == 0:
            return np.int64(NOTHING), np.int64(0)
        return np.int64(count), np.int64(nbytes(count))

    return measure
