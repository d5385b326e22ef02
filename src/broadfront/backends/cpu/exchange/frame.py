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
    incoming,
    make_room,
    outgoing,
    post,
    release,
)
from broadfront.backends.cpu.exchange.blocks import PACKAGE, PUSH, UNPACKAGE
from broadfront.backends.cpu.exchange.places import ghosts_of, shared_with
from broadfront.backends.cpu.exchange.runs import COUNT, HEAD, head_of
from broadfront.backends.cpu.operators.frontier import MESSAGE, finish, prepare
from broadfront.kernel import inlined, inner

Section = Callable[..., Any]

NOTHING = -1
"""What is to go to a peer that gets no run, not even an empty one."""


@inner
def _no_section(rank, threads, control, graph, state, in_state, work, front, turn):
    return turn


@inlined
def _as_it_is(run, peer, nbytes, threads, state, work):
    return nbytes


@inlined
def from_owners(peer, work, front):
    """Tell whether a run comes from a peer, where they go from owners to ghosts."""
    return ghosts_of(work.mail, peer) > 0


@inlined
def from_ghosts(peer, work, front):
    """Tell whether a run comes from a peer, where they go from ghosts to owners."""
    return shared_with(work.mail, peer) > 0


class Message(NamedTuple):
    """What is a message's own: compiled functions, most of which may be left out.

    Those called sections are; they meet before they return.
    """

    expects: Callable[..., Any]
    """``expects(peer, work, front)`` tells whether a run comes from a peer."""
    measure: Callable[..., Any]
    """``measure(peer, threads, state, work, front)`` returns how many entries go to a peer, or
    `NOTHING`, and how many bytes behind the head that can take; by the first thread."""
    pack: Callable[..., Any]
    """The section that writes the runs, without meeting; see `to_each`."""
    unpack: Callable[..., Any]
    """``unpack(run, peer, rank, threads, control, graph, state, work, front, turn)`` takes this
    thread's share of a run."""
    before: Section = _no_section
    """A section before all else: what has to be known to measure."""
    complete: Section = _no_section
    """A section after packing: what could not be written at once."""
    seal: Callable[..., Any] = _as_it_is
    """``seal(run, peer, nbytes, threads, state, work)`` finishes a run and returns its length; by
    the first thread."""
    awaited: Section = _no_section
    """A section between posting and unpacking."""
    taken: Section = _no_section
    """The section after unpacking, without meeting: what is left to do for a thread."""
    after: Section = _no_section
    """A section after all have unpacked, while the runs are still there."""
    in_order: bool = False
    """Whether threads meet after the run of each peer, which are taken in the order of devices."""


def to_each(pack_one: Callable[..., Any]) -> Section:
    """Return the section that packs peer by peer.

    ``pack_one(run, peer, rank, threads, graph, state, work, front)`` writes a thread's share.
    """

    @inner
    def pack(rank, threads, control, graph, state, in_state, work, front, turn):
        mail = work.mail
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if mail.lengths[peer] > 0:
                pack_one(outgoing(mail, peer), peer, rank, threads, graph, state, work, front)
        return turn

    return pack


def exchanged(message: Message) -> Section:
    """Return the section that sends the runs of a message, and takes those of the peers."""
    send, receive = _sending(message), _receiving(message)
    before, after, expects = message.before, message.after, message.expects

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        front[MESSAGE] += 1
        number = front[MESSAGE]
        turn = before(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        turn = send(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        turn = receive(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        turn = after(rank, threads, control, graph, state, in_state, work, front, turn)
        if rank == 0 and turn >= 0:
            mail = work.mail
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                if expects(peer, work, front):
                    release(mail, peer, number)
        return turn

    return section


def _sending(message: Message) -> Section:
    """Return the section that makes room, packs and posts; it does not meet after posting."""
    measure, pack, complete, seal = message.measure, message.pack, message.complete, message.seal

    @inner
    def make_all_room(threads, control, state, work, front):
        mail = work.mail
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            entries, nbytes = measure(peer, threads, state, work, front)
            mail.entries[peer], mail.lengths[peer] = entries, 0
            if entries != NOTHING:
                make_room(control, mail, peer, front[MESSAGE], HEAD + nbytes)
                if mail.lengths[peer] > 0:
                    head_of(outgoing(mail, peer), mail)[COUNT] = entries

    @inner
    def post_all(threads, state, work, front):
        mail = work.mail
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if mail.lengths[peer] > 0:
                nbytes = seal(outgoing(mail, peer), peer, mail.lengths[peer], threads, state, work)
                post(mail, peer, front[MESSAGE], nbytes, mail.entries[peer])

    @inner
    def send(rank, threads, control, graph, state, in_state, work, front, turn):
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PACKAGE)
            make_all_room(threads, control, state, work, front)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        pack(rank, threads, control, graph, state, in_state, work, front, turn)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        turn = complete(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PUSH)
            post_all(threads, state, work, front)
        return turn

    return send


def _receiving(message: Message) -> Section:
    """Return the section that waits for runs and takes them."""
    expects, unpack, awaited, taken = (
        message.expects, message.unpack, message.awaited, message.taken,
    )  # fmt: skip

    @inner
    def from_all(rank, threads, control, graph, state, in_state, work, front, turn):
        turn = awaited(rank, threads, control, graph, state, in_state, work, front, turn)
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
        taken(rank, threads, control, graph, state, in_state, work, front, turn)
        if rank == 0:
            trip(control, UNPACKAGE)
        return finish(control, rank, threads, turn)

    @inner
    def from_each(rank, threads, control, graph, state, in_state, work, front, turn):
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
