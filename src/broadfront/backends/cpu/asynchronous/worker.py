"""The fused worker: receive, choose, process, split, send and count, in one compiled loop.

Each device runs it on one thread, and never waits for another: no barrier, no Python. A step

    receives    messages, each entry combined into the owner's value; who improves has work,
    chooses     the lowest buckets, if they are not far beyond the lowest of all devices,
    processes   a chunk of them: a proposal for each edge, combined at once; who improves has work,
    splits      that is work of this device, or a copy of another's vertex, for the outbox,
    sends       what is in the outbox, to whoever has taken all before, or when there is much,
    counts      and, with nothing to do, looks whether it is over.

The unfused worker is the same step, called by Python once per batch.

Invariant: only this thread touches the fields of the device, so a value and its recorded source are
always those of one proposal.

References
----------
Ben-Nun, Sutton, Pai, Pingali: Groute, an asynchronous multi-GPU programming model for irregular
computations (PPoPP 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.asynchronous import termination, worklist
from broadfront.backends.cpu.asynchronous.desk import (
    BEGAN,
    ENDED,
    IDLE,
    IDLE_SINCE,
    SPINS,
    STAGE,
    STEPS,
    WAITS,
    disturb,
)
from broadfront.backends.cpu.asynchronous.messages import receiving, sending
from broadfront.backends.cpu.asynchronous.rules import Rules
from broadfront.backends.cpu.asynchronous.serving import processing
from broadfront.backends.cpu.device.control import (
    FIRST,
    HASTY,
    PATIENCE,
    YIELDS,
    assemble,
    idle,
    nanoseconds,
    poll,
    stopped,
    trip,
)
from broadfront.backends.cpu.exchange.blocks import KERNEL
from broadfront.backends.cpu.field_io import gather_results, scatter_initial
from broadfront.backends.cpu.operators.buckets import NONE_LEFT, empty_ring
from broadfront.kernel import inner, kernel
from broadfront.pointers import makers, reaching_back

NEW, GOING, OVER, STOPPED = range(4)
LOOK_EVERY = 16
"""Steps between two looks at the clock."""
CHUNK = 512
"""Vertices and edges that a step goes through, if there are so many."""


def stepping(rules: Rules) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the compiled functions `begin`, before the first step, and `step`."""
    receive, send, process = receiving(rules), sending(rules), processing(rules)
    spread, recover = worklist.rearranged(rules.order.bucket_of)
    bucket_of, is_ghost = rules.order.bucket_of, rules.is_ghost

    @inner
    def begin(graph, state, desk):
        """Put the vertices to start from into their buckets."""
        words = desk.words
        words[BEGAN] = nanoseconds()
        empty_ring(0, np.int64(desk.blocks), desk.ring)
        for word in range(worklist.pending_words(graph.num_vertices)):
            desk.pending[word] = 0
        for entry in range(desk.starting):
            vertex = np.int64(desk.queue[entry])
            worklist.set_pending(desk.pending, vertex)
            bucket = bucket_of(vertex, state, desk.per_width, np.int64(0))
            worklist.push(vertex, bucket, words, desk.ring)

    @inner
    def look(graph, state, desk):
        """Return the lowest bucket there is, after all that the pool has lost was found again."""
        words, ring = desk.words, desk.ring
        lowest = worklist.lowest_bucket(words, ring)
        if lowest == NONE_LEFT and worklist.has_lost(ring):
            recover(
                graph, state, desk.pending, is_ghost, np.int64(desk.blocks), desk.per_width, words,
                ring,
            )  # fmt: skip
            lowest = worklist.lowest_bucket(words, ring)
        return lowest

    @inner
    def serve(graph, state, desk, lowest, least):
        """Serve a chunk of the lowest buckets within the band; return how much that was."""
        words, ring = desk.words, desk.ring
        done = np.int64(0)
        while lowest != NONE_LEFT and lowest - least <= desk.band and done < CHUNK:
            worklist.move_base(words, lowest)
            if ring.tops[worklist.NEAREST] <= lowest:
                spread(state, desk.pending, desk.per_width, words, ring)
            else:
                done += process(graph, state, desk, lowest)
            lowest = worklist.lowest_bucket(words, ring)
        return done

    @inner
    def rest(control, desk, has_work):
        """Wait a little, with nothing to do now; return whether it is over."""
        links, words = desk.mail, desk.words
        if not has_work:
            disturb(control, words)
            termination.be_passive(links.board, links.device)
            if termination.is_over(links.board, links.devices):
                return True
        else:
            words[WAITS] += 1
        if words[SPINS] == 0:
            words[IDLE_SINCE] = nanoseconds()
            if control[PATIENCE] == HASTY:  # others need the core: sleep, which ends soon
                words[SPINS] = HASTY + YIELDS
        words[SPINS] = idle(control, words[SPINS])
        return False

    @inner
    def step(control, graph, state, desk):
        """Do one step; return whether to go on."""
        words = desk.words
        words[STEPS] += 1
        if words[STEPS] & (LOOK_EVERY - 1) == 0 or words[SPINS] != 0:
            poll(control)
        trip(control, KERNEL)
        if stopped(control):
            return np.int64(STOPPED)
        disturb(control, words)
        messages = receive(control, state, desk)
        lowest = look(graph, state, desk)
        links = desk.mail
        least = worklist.publish(links.board, links.device, links.devices, words, lowest)
        done = serve(graph, state, desk, lowest, least)
        left = send(control, state, desk, done < CHUNK)
        if done > 0 or messages > 0:
            if words[SPINS] != 0:
                words[IDLE] += nanoseconds() - words[IDLE_SINCE]
                words[SPINS] = 0
            return np.int64(GOING)
        over = rest(control, desk, lowest != NONE_LEFT or left > 0)
        return np.int64(OVER if over else GOING)

    return begin, step


def worker(rules: Rules) -> Any:
    """Return the compiled worker: it does so many steps, and tells whether there are more to do."""
    begin, step = stepping(rules)
    pointer, pointers = makers()

    def broadfront_worker(rank, threads, control, graph, state, desk, steps):
        words = desk.words
        around = reaching_back(pointer(control), FIRST)
        rows, fields, lines = pointers(graph), pointers(state), pointers(desk)
        if words[STAGE] == NEW:
            if not assemble(around, rank):
                return np.int64(STOPPED)
            turn = scatter_initial(
                np.int64(0), np.int64(1), around, rows, fields, fields, lines, lines.words,
                np.int64(0),
            )  # fmt: skip
            if turn < 0:
                return np.int64(STOPPED)
            begin(rows, fields, lines)
            words[STAGE] = GOING
        answer = np.int64(GOING)
        while steps > 0 and answer == GOING:
            answer = step(around, rows, fields, lines)
            steps -= 1
        if answer == OVER:
            words[ENDED] = nanoseconds()
            if words[SPINS] != 0:
                words[IDLE] += words[ENDED] - words[IDLE_SINCE]
            gather_results(
                np.int64(0), np.int64(1), around, rows, fields, fields, lines, lines.words,
                np.int64(0),
            )  # fmt: skip
        return answer

    return kernel(broadfront_worker)
