"""Receiving and sending: proposals for vertices that another device owns.

A message has, for each copy that has improved, what the vertex is called at its owner, the value of
the copy and, where it is asked for, who proposed it. The owner combines the value like any other
proposal; if it improves the vertex, that is work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.asynchronous import mailbox, termination, worklist
from broadfront.backends.cpu.asynchronous.desk import POSTED, RECEIVED, REFUSED, disturb
from broadfront.backends.cpu.asynchronous.rules import Rules
from broadfront.backends.cpu.device.control import trip
from broadfront.backends.cpu.exchange.blocks import PACKAGE, UNPACKAGE
from broadfront.kernel import inlined, inner


def receiving(rules: Rules) -> Callable[..., Any]:
    """Return the compiled function that takes all messages that are there."""
    note, source_place = rules.note, rules.source_place
    combine = rules.combine
    bucket_of, by_value = rules.order
    found, named = rules.places.found, source_place >= 0

    @inlined
    def accept(vertex, value, state, desk):
        """Take a proposal; return whether it changed anything that matters."""
        words = desk.words
        if not combine(vertex, value, state):
            words[REFUSED] += 1
            return False
        if by_value or not worklist.is_pending(desk.pending, vertex):
            worklist.set_pending(desk.pending, vertex)
            bucket = bucket_of(vertex, state, desk.per_width, worklist.next_round(words))
            worklist.push(vertex, bucket, words, desk.ring)
        return True

    @inner
    def receive(control, state, desk):
        """Take all messages; return how many."""
        links, words = desk.mail, desk.words
        rings, board = links.rings, links.board
        messages = np.int64(0)
        for step in range(1, links.devices):
            peer = (links.device + step) % links.devices
            link = peer * links.devices + links.device
            while True:
                number = mailbox.next_message(rings, link)
                if number < 0:
                    break
                termination.be_active(board, links.device)
                first = mailbox.first_entry(rings, link, number)
                length = mailbox.length_of(rings, link, number)
                for entry in range(first, first + length):
                    vertex = found(rings.keys[entry], peer, links)
                    if accept(vertex, rings.values[entry], state, desk) and named:
                        note(state, vertex, rings.sources[entry])
                words[RECEIVED] += length
                trip(control, UNPACKAGE)
                disturb(control, words)
                termination.count_taken(board, links.device)
                mailbox.release(rings, link, number)
                messages += 1
        return messages

    return receive


def _emptying(rules: Rules) -> Callable[..., Any]:
    """Return the function that takes from a copy what is sent, where that counts once."""
    place, neutral = rules.place, rules.neutral

    @inlined
    def empty(vertex, state):
        state[place][vertex] = neutral

    @inlined
    def leave(vertex, state):
        pass

    return empty if rules.adds_up else leave


def sending(rules: Rules) -> Callable[..., Any]:
    """Return the compiled function that sends what is in the outbox."""
    place, source_place, empty = rules.place, rules.source_place, _emptying(rules)
    name_for, named = rules.places.name_for, rules.source_place >= 0

    @inner
    def pack(control, peer, link, number, state, desk):
        """Fill a message for a peer, and post it."""
        links, out = desk.mail, state[place]
        rings, outbox = links.rings, links.outbox
        first = mailbox.first_entry(rings, link, number)
        length = min(outbox.counts[peer], rings.capacities[link])
        for entry in range(first, first + length):
            vertex = mailbox.take_out(peer, outbox, links.ghost_starts)
            worklist.clear_pending(desk.pending, vertex)
            rings.keys[entry] = name_for(vertex, peer, links)
            rings.values[entry] = out[vertex]
            empty(vertex, state)
            if named:
                rings.sources[entry] = state[source_place][vertex]
        trip(control, PACKAGE)
        desk.words[POSTED] += 1
        outbox.messages[peer] += 1
        outbox.entries[peer] += length
        termination.count_sent(links.board, links.device)
        disturb(control, desk.words)
        mailbox.post(rings, link, number, length)

    @inner
    def send(control, state, desk, at_once):
        """Send to whoever has taken all, or much, or `at_once`; return what is left for later."""
        links = desk.mail
        rings, outbox = links.rings, links.outbox
        left = np.int64(0)
        for peer in range(links.devices):
            link = links.device * links.devices + peer
            while outbox.counts[peer] > 0:
                much = outbox.counts[peer] >= rings.capacities[link]
                if not (much or at_once or mailbox.all_taken(rings, link)):
                    break
                number = mailbox.free_slot(rings, link)
                if number < 0:
                    break
                pack(control, peer, link, number, state, desk)
            left += outbox.counts[peer]
        return left

    return send
