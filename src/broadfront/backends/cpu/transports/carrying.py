"""The carrier of a pipe: compiled code that moves runs and numbers through sockets.

For every peer there is a socket. What goes through it is a row of packets: an envelope of four
words, and after some a body. A packet says that a run is there, with the run as its body; that one
was taken; that numbers were put up, with a device's part of the board; or that the peer is through
with this run of the program, and why. Nothing here waits: what does not go through now goes
through at the next call, however little of a packet that was.

All state is in an array of words, one block for the device and one for each peer. Only the first
thread of a device calls the carrier, and Python when the loop is over.

Invariant: packets arrive in the order in which they were sent, and nothing is read beyond the end
of a run of the program.
"""

from __future__ import annotations

import socket

import numpy as np
from numba import types

from broadfront import atomics
from broadfront.backends.cpu.device.control import (
    FIRST,
    LINE,
    LOST,
    OUT_OF_MEMORY,
    RUNNING,
    STOP,
    STOPPED_BY,
    WANTED,
    WORDS,
)
from broadfront.backends.cpu.device.growing import allocated
from broadfront.backends.cpu.device.mail import BOARD_WORDS, LENGTH
from broadfront.kernel import called_by_address, inner
from broadfront.pointers import at, shifted

RUN, TAKEN, NUMBERS, END = range(1, 5)
"""Kinds of packets: a run, that one was taken, numbers put up, and the end."""
ENVELOPE = 4
"""Words of an envelope: kind, number, and two that depend on the kind."""

(
    DEVICE, DEVICES, POSTED_AT, TAKEN_AT, AGREED_AT, BOXES_AT, BOARD_AT, REALS_AT, CONTROL_AT,
    ENDING, REASON, BY, NEEDED,
) = range(13)  # fmt: skip
"""Words of a device: addresses, whether it is through with the run, why, who stopped it, and how
many bytes it wanted."""
HEAD_WORDS = 16
(
    SOCKET, OUT_AT, OUT_LEFT, BODY_AT, BODY_LEFT, SENT_RUN, SENT_TAKEN, SENT_NUMBERS, SENT_END,
    IN_AT, IN_LEFT, TO_AT, TO_LEFT, READING, ENDED, GONE, WRITTEN, READ,
) = range(18)  # fmt: skip
"""Words of a peer: its socket; where the rest of an envelope and of a body is, and how much; what
was sent last; where envelope and body that come go, and how much is missing; whether an envelope is
whole; whether the peer is through, or gone; and bytes of runs sent and received since ever."""
OUT, IN = 20, 24
"""Where envelopes are."""
OUT_BODY = 28
IN_BODY = OUT_BODY + 2 * BOARD_WORDS
PEER_WORDS = IN_BODY + 2 * BOARD_WORDS

NOW = socket.MSG_DONTWAIT | getattr(socket, "MSG_NOSIGNAL", 0)
LIKE_WORDS = np.zeros(1, np.int64)

_send = types.ExternalFunction("send", types.intp(types.int32, types.intp, types.intp, types.int32))
_receive = types.ExternalFunction(
    "recv", types.intp(types.int32, types.intp, types.intp, types.int32)
)


def words_for(devices: int) -> int:
    """Return how many words the carrier of one of so many devices needs."""
    return HEAD_WORDS + devices * PEER_WORDS


@called_by_address
def carry(address):
    """Send and receive what can be sent and received now."""
    words = at(address, LIKE_WORDS)
    for peer in range(words[DEVICES]):
        if peer != words[DEVICE]:
            place = HEAD_WORDS + peer * PEER_WORDS
            link = shifted(words, place)
            _push(words, link, address + 8 * place, peer)
            _pull(words, link, address + 8 * place, peer)
    return np.int64(0)


# ---------------------------------------------------------------------- out


@inner
def _push(words, link, address, peer):
    """Send the rest of a packet, and others after it, as far as that goes."""
    while link[GONE] == 0:
        if link[OUT_LEFT] > 0:
            moved = _send(np.int32(link[SOCKET]), link[OUT_AT], link[OUT_LEFT], np.int32(NOW))
            if moved <= 0:
                return
            link[OUT_AT] += moved
            link[OUT_LEFT] -= moved
        elif link[BODY_LEFT] > 0:
            moved = _send(np.int32(link[SOCKET]), link[BODY_AT], link[BODY_LEFT], np.int32(NOW))
            if moved <= 0:
                return
            link[BODY_AT] += moved
            link[BODY_LEFT] -= moved
        elif not _next_packet(words, link, address, peer):
            return


@inner
def _next_packet(words, link, address, peer):
    """Begin the next packet, if there is something to tell."""
    device, devices = words[DEVICE], words[DEVICES]
    taken = atomics.load(at(words[TAKEN_AT], LIKE_WORDS), (peer * devices + device) * LINE)
    posted, place = at(words[POSTED_AT], LIKE_WORDS), (device * devices + peer) * LINE
    run = atomics.load(posted, place)
    numbers = atomics.load(at(words[AGREED_AT], LIKE_WORDS), device * LINE)
    envelope = shifted(link, OUT)
    if taken > link[SENT_TAKEN]:
        link[SENT_TAKEN] = taken
        envelope[0], envelope[1] = TAKEN, taken
    elif run > link[SENT_RUN]:
        link[SENT_RUN] = run
        envelope[0], envelope[1] = RUN, run
        envelope[2] = posted[place + LENGTH]
        link[BODY_AT] = at(words[BOXES_AT], LIKE_WORDS)[2 * (device * devices + peer)]
        link[BODY_LEFT] = envelope[2]
        link[WRITTEN] += envelope[2]
    elif numbers > link[SENT_NUMBERS]:
        link[SENT_NUMBERS] = numbers
        envelope[0], envelope[1] = NUMBERS, numbers
        _copy_board(words, shifted(link, OUT_BODY), device, numbers, True)
        link[BODY_AT], link[BODY_LEFT] = address + 8 * OUT_BODY, 16 * BOARD_WORDS
    elif words[ENDING] == 1 and link[SENT_END] == 0:
        link[SENT_END] = 1
        envelope[0], envelope[1] = END, words[REASON]
        envelope[2], envelope[3] = words[BY], words[NEEDED]
    else:
        return False
    link[OUT_AT], link[OUT_LEFT] = address + 8 * OUT, 8 * ENVELOPE
    return True


@inner
def _copy_board(words, stage, device, number, out):
    """Copy a device's part of the board out to a packet, or in from one."""
    place = ((number & 1) * words[DEVICES] + device) * BOARD_WORDS
    board = shifted(at(words[BOARD_AT], LIKE_WORDS), place)
    reals = shifted(at(words[REALS_AT], LIKE_WORDS), place)  # as the bits that they are
    for word in range(BOARD_WORDS):
        if out:
            stage[word], stage[BOARD_WORDS + word] = board[word], reals[word]
        else:
            board[word], reals[word] = stage[word], stage[BOARD_WORDS + word]


# ---------------------------------------------------------------------- in


@inner
def _pull(words, link, address, peer):
    """Receive the rest of a packet, and others after it, as far as they have come."""
    while link[GONE] == 0 and link[ENDED] == 0:
        if link[IN_LEFT] > 0:
            moved = _receive(np.int32(link[SOCKET]), link[IN_AT], link[IN_LEFT], np.int32(NOW))
            if moved <= 0:
                _nothing_came(words, link, peer, moved)
                return
            link[IN_AT] += moved
            link[IN_LEFT] -= moved
            if link[IN_LEFT] == 0 and not _make_place(words, link, address, peer):
                return
        elif link[TO_LEFT] > 0:
            moved = _receive(np.int32(link[SOCKET]), link[TO_AT], link[TO_LEFT], np.int32(NOW))
            if moved <= 0:
                _nothing_came(words, link, peer, moved)
                return
            link[TO_AT] += moved
            link[TO_LEFT] -= moved
        else:
            _deliver(words, link, peer)
            link[IN_AT], link[IN_LEFT] = address + 8 * IN, 8 * ENVELOPE


@inner
def _nothing_came(words, link, peer, moved):
    """Notice a peer that is gone: what it has sent ends."""
    if moved == 0:
        link[GONE] = 1
        _stop(words, LOST, peer, 0)


@inner
def _make_place(words, link, address, peer):
    """Say where the body of a packet goes; return whether there is memory for it."""
    envelope = shifted(link, IN)
    link[TO_LEFT] = 0
    if envelope[0] == NUMBERS:
        link[TO_AT], link[TO_LEFT] = address + 8 * IN_BODY, 16 * BOARD_WORDS
    elif envelope[0] == RUN:
        boxes, pair = at(words[BOXES_AT], LIKE_WORDS), peer * words[DEVICES] + words[DEVICE]
        if not allocated(boxes, pair, envelope[2]):
            link[GONE] = 1
            _stop(words, OUT_OF_MEMORY, words[DEVICE], envelope[2])
            return False
        link[TO_AT], link[TO_LEFT] = boxes[2 * pair], envelope[2]
    return True


@inner
def _deliver(words, link, peer):
    """Raise the flag of what has come."""
    device, devices, envelope = words[DEVICE], words[DEVICES], shifted(link, IN)
    kind, number = envelope[0], envelope[1]
    if kind == RUN:
        link[READ] += envelope[2]
        atomics.store(at(words[POSTED_AT], LIKE_WORDS), (peer * devices + device) * LINE, number)
    elif kind == TAKEN:
        atomics.store(at(words[TAKEN_AT], LIKE_WORDS), (device * devices + peer) * LINE, number)
    elif kind == NUMBERS:
        _copy_board(words, shifted(link, IN_BODY), peer, number, False)
        atomics.store(at(words[AGREED_AT], LIKE_WORDS), peer * LINE, number)
    elif kind == END:
        link[ENDED] = 1
        if number != RUNNING:
            _stop(words, number, envelope[2], envelope[3])


@inner
def _stop(words, reason, by, wanted):
    """Stop the run here for what has happened at another device."""
    control = at(words[CONTROL_AT], LIKE_WORDS)
    if atomics.compare_and_swap(control, control[FIRST] + STOP, RUNNING, reason):
        control[control[FIRST] + STOPPED_BY] = by
        control[control[FIRST] + by * WORDS + WANTED] = wanted
