"""The fused worker: receive, choose, process, split, send and count, in one compiled loop.

No device ever waits for another: no barrier, no Python. A step of a device

    receives    messages, each entry combined into the owner's value; who improves has work,
    chooses     the lowest buckets, if they are not far beyond the lowest of all devices,
    processes   a chunk of them: a proposal for each edge, combined at once; who improves has work,
    splits      that is work of this device, or a copy of another's vertex, for the outbox,
    sends       what is in the outbox, to whoever has taken all before, or when there is much,
    counts      and, with nothing to do, looks whether it is over.

There is a thread for each device or, if there are fewer cores, for each core: then it does a step
of one of its devices after the other (`roster`). The unfused worker is the same, called by Python
once per round.

Invariant: only one thread touches the fields of a device, so a value and its recorded source are
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
    POSTED,
    RESTING,
    SERVING,
    SPINS,
    STAGE,
    STEPS,
    TALKING,
    WAITS,
    disturb,
)
from broadfront.backends.cpu.asynchronous.log import begin_log, end_row, note_time
from broadfront.backends.cpu.asynchronous.messages import receiving, sending
from broadfront.backends.cpu.asynchronous.roster import enlist, enlisted
from broadfront.backends.cpu.asynchronous.rules import Rules
from broadfront.backends.cpu.asynchronous.serving import processing
from broadfront.backends.cpu.device.control import (
    ACTING,
    FIRST,
    HASTY,
    PATIENCE,
    YIELDS,
    assemble,
    idle,
    nanoseconds,
    poll_at,
    stopped,
    trip,
)
from broadfront.backends.cpu.exchange.blocks import KERNEL
from broadfront.backends.cpu.field_io import gather_results, scatter_initial
from broadfront.backends.cpu.operators.buckets import NONE_LEFT, empty_ring
from broadfront.kernel import inner, kernel
from broadfront.pointers import makers, reaching_back

NEW, GOING, OVER, STOPPED, WAITING = range(5)
LOOK_EVERY = 16
"""Steps between two looks at the clock."""
LONG_REST = 300_000
"""Nanoseconds after which a thread with nothing to do sleeps: who it waits for may need its core,
and giving the core up for a moment need not do; where Python calls, looks are slow, too."""
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
        begin_log(words)
        words[worklist.UNSENT], words[worklist.FURTHEST] = NONE_LEFT, -NONE_LEFT
        words[worklist.BAND] = max(desk.least_band, min(worklist.FIRST_BAND, desk.most_band))
        empty_ring(0, np.int64(desk.blocks), desk.ring)
        for word in range(worklist.pending_words(graph.num_vertices)):
            desk.pending[word] = 0
            desk.served[word] = 0
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
    def serve(graph, state, desk, lowest, others):
        """Serve a chunk of the lowest buckets within the band.

        Return how much that was, and the lowest bucket that is left.
        """
        words, ring = desk.words, desk.ring
        done, most = np.int64(0), others + words[worklist.BAND]
        while lowest <= most and lowest != NONE_LEFT and done < CHUNK:
            worklist.move_base(words, lowest)
            if ring.tops[worklist.NEAREST] <= lowest:
                spread(state, desk.pending, desk.per_width, words, ring)
            else:
                done += process(graph, state, desk, lowest)
            lowest = worklist.lowest_bucket(words, ring)
        worklist.adapt_band(words, desk.least_band, desk.most_band)
        return done, lowest

    @inner
    def rest(control, desk, has_work, now):
        """Have nothing to do now; return whether it is over."""
        links, words = desk.mail, desk.words
        if words[IDLE_SINCE] == 0:
            words[IDLE_SINCE] = now
        if has_work:
            words[WAITS] += 1
            return np.int64(WAITING)
        disturb(control, words)
        termination.be_passive(links.board, links.device)
        return np.int64(OVER if termination.is_over(links.board, links.devices) else WAITING)

    @inner
    def step(control, graph, state, desk):
        """Do one step; return whether to go on."""
        words, now = desk.words, nanoseconds()
        words[STEPS] += 1
        if words[STEPS] & (LOOK_EVERY - 1) == 0 or words[IDLE_SINCE] != 0:
            poll_at(control, now)
        trip(control, KERNEL)
        if stopped(control):
            return np.int64(STOPPED)
        disturb(control, words)
        links = desk.mail
        board, device = links.board, links.device
        others = worklist.lowest_of_others(board, device, links.devices)
        messages = receive(control, state, desk)
        lowest = look(graph, state, desk)
        worklist.publish(board, device, words, lowest)
        worklist.know_threshold(words, min(lowest, others))
        posted, received = words[POSTED], nanoseconds() if messages > 0 else now
        done, lowest = serve(graph, state, desk, lowest, others)
        served = nanoseconds() if done > 0 else received
        left = send(control, state, desk, done < CHUNK)
        if left == 0:
            words[worklist.UNSENT] = NONE_LEFT
        worklist.publish(board, device, words, lowest)
        if done == 0 and messages == 0:
            return rest(control, desk, lowest != NONE_LEFT or left > 0, now)
        stop_idling(words, now)
        sent = nanoseconds() if words[POSTED] != posted else served
        words[SERVING] += served - received
        words[TALKING] += received - now + sent - served
        note_time(desk, sent)
        return np.int64(GOING)

    return begin, step


@inner
def stop_idling(words, now):
    """Count the time for which a device had nothing to do, if it had."""
    if words[IDLE_SINCE] != 0:
        words[IDLE] += now - words[IDLE_SINCE]
        words[IDLE_SINCE] = 0


@inner
def rest_longer(around, words):
    """Wait a little: a thread that has waited for long, or that others need the core of, sleeps."""
    spins, now = words[SPINS], nanoseconds()
    if spins == 0:
        words[RESTING] = now
    if around[PATIENCE] == HASTY or now - words[RESTING] > LONG_REST:
        spins = max(spins, around[PATIENCE] + YIELDS)
    words[SPINS] = idle(around, spins)


def turns(rules: Rules) -> Callable[..., Any]:
    """Return the compiled function that does a step of each device of a thread."""
    begin, step = stepping(rules)

    @inner
    def start(control, graph, state, desk, rank):
        """Fill the fields of a device, and find its first work."""
        turn = np.int64(0)
        if assemble(control, rank):
            turn = scatter_initial(
                np.int64(0), np.int64(1), control, graph, state, state, desk, desk.words, turn
            )
            if turn >= 0:
                begin(graph, state, desk)
                return np.int64(GOING)
        return np.int64(STOPPED)

    @inner
    def end(control, graph, state, desk):
        """Bring home what a device has found."""
        now = nanoseconds()
        stop_idling(desk.words, now)
        desk.words[ENDED] = now
        end_row(desk, now)
        gather_results(
            np.int64(0), np.int64(1), control, graph, state, state, desk, desk.words, np.int64(0)
        )

    @inner
    def take_turns(own, rank, first, devices, threads, roster):
        """Do a step of each device; return `GOING` if any did anything, or what all came to."""
        around = own[0]
        result = np.int64(OVER)
        for device in range(first, devices, threads):
            control, graph, state, desk = enlisted(roster, device, own)
            stage = desk.words[STAGE]
            if stage == OVER:
                continue
            around[ACTING] = device - first
            if stage == NEW:
                answer = start(control, graph, state, desk, rank)
            else:
                answer = step(control, graph, state, desk)
            if answer == STOPPED:
                return answer
            if answer == OVER:
                end(control, graph, state, desk)
            elif answer == GOING or result == OVER:
                result = answer
            if answer != WAITING:
                desk.words[STAGE] = answer
        return result

    return take_turns


def worker(rules: Rules) -> Any:
    """Return the compiled worker: it does so many rounds, and tells whether there are more to do.

    Without any round it only puts its device into the roster.
    """
    take_turns = turns(rules)
    pointer, pointers = makers()

    def broadfront_worker(rank, threads, control, graph, state, desk, rounds):
        lines = pointers(desk)
        own = (reaching_back(pointer(control), FIRST), pointers(graph), pointers(state), lines)
        first, devices, roster = np.int64(lines.mail.device), lines.mail.devices, lines.roster
        enlist(roster, first, own)
        around, words = own[0], lines.words
        answer = np.int64(GOING)
        while rounds > 0 and answer == GOING:
            answer = take_turns(own, rank, first, devices, lines.threads, roster)
            if answer == WAITING:
                rest_longer(around, words)
                answer = np.int64(GOING)
            else:
                words[SPINS] = 0
            rounds -= 1
        return answer

    return kernel(broadfront_worker)
