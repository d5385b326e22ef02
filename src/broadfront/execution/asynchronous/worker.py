"""The fused worker: receive, choose, process, split, send and count, in one compiled loop.

Each device runs it on one thread, and never waits for another: no barrier, no Python. A step

    receives    messages, each entry combined into the owner's value; who improves has work,
    chooses     the lowest bucket, if it is not too far beyond the lowest of all devices,
    processes   a block of it: a proposal for each edge, combined at once; who improves has work,
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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.devices.control import FIRST, assemble, idle, nanoseconds, poll, stopped, trip
from broadfront.execution.asynchronous import mailbox, termination, worklist
from broadfront.execution.asynchronous.worklist import Order
from broadfront.execution.exchange.blocks import KERNEL
from broadfront.execution.exchange.places import Places
from broadfront.execution.luggage import taken_home, unpacked
from broadfront.functors import compile_functor
from broadfront.kernel import inlined, inner, kernel
from broadfront.operators.cpu.buckets import BLOCK, NONE_LEFT, WINDOW, empty_ring, give_back
from broadfront.operators.cpu.combine import combining
from broadfront.operators.describe import Advance, Field
from broadfront.pointers import as_element, makers, prefetch, reaching_back

Array = NDArray[Any]

WORDS = 32
(EDGES, RECEIVED, REFUSED, IDLE, STEPS, BEGAN, ENDED, SPINS, IDLE_SINCE, STAGE, JITTER, WAITS) = (
    range(8, 20)
)
"""Words of a device after those of its worklist: edges traversed, entries received, those that were
no better, nanoseconds idle, steps, when it began and ended, how long it has been idle, whether it
has begun, random numbers of delays for tests, and how often it waited for lower buckets."""
NEW, GOING, OVER, STOPPED = range(4)
LOOK_EVERY = 16
"""Steps between two looks at the clock."""


class Links(NamedTuple):
    """What one device knows of the others."""

    device: int
    devices: int
    rings: mailbox.Rings
    outbox: mailbox.Outbox
    board: Array
    ghost_starts: Array
    shared_starts: Array
    shared: Array
    owner: Any
    luggage: Any


class Desk(NamedTuple):
    """What one device works with, beside its fields and its part of the graph."""

    words: Array
    pending: Array
    """Per vertex, whether it is to be served or, of a copy, to be sent."""
    ring: Any
    blocks: int
    per_width: float
    band: int
    queue: Array
    """Where it starts."""
    starting: int
    mail: Links


class Rules(NamedTuple):
    """What one `Advance` does, as compiled functions."""

    propose: Callable[..., Any]
    wanted: Callable[..., Any]
    better: Callable[..., Any]
    merge: Callable[..., Any]
    note: Callable[..., Any]
    """``note(state, vertex, source)`` keeps the id of the source where that is asked for."""
    place: int
    source_place: int
    """Where the state has the field, and that of the sources; negative if nobody asks."""
    order: Order
    places: Places
    is_ghost: Callable[..., Any]


@inlined
def _anyone(vertex, state):
    return True


@inlined
def _comes_after_owned(vertex, graph):
    return vertex >= graph.owned


@inlined
def _belongs_elsewhere(vertex, graph):
    return graph.owner[vertex] != graph.device


@inlined
def _forget(state, vertex, source):
    pass


def rules_of(
    operator: Advance,
    fields: dict[str, Field],
    names: tuple[str, ...],
    places: Places,
    relabelled: bool,
    priority: bool,
) -> Rules:
    """Return what an `Advance` does; `names` are those of the state, dtypes are settled."""
    field, place = fields[operator.into], names.index(operator.into)
    source_place = -1 if operator.record_source is None else names.index(operator.record_source)

    @inlined
    def note(state, vertex, source):
        state[source_place][vertex] = source

    combine = combining(field)
    return Rules(
        compile_functor(operator.functor),
        _anyone if operator.cond is None else compile_functor(operator.cond),
        combine.better, combine.plainly, _forget if source_place < 0 else note, place, source_place,
        worklist.order_by(operator, field, place, priority), places,
        _comes_after_owned if relabelled else _belongs_elsewhere,
    )  # fmt: skip


@inner
def disturb(control, words):
    """Wait for a random while, where a test has asked for it."""
    if words[JITTER] != 0:
        seed = words[JITTER]
        seed ^= seed << 13
        seed ^= (seed >> 7) & 0x1FFFFFFFFFFFFFF
        seed ^= seed << 17
        words[JITTER] = seed
        if seed & 3 == 0:
            idle(control, (seed >> 8) & 2047)


def receiving(rules: Rules) -> Callable[..., Any]:
    """Return the compiled function that takes all messages that are there."""
    better, merge, note, place, source_place = rules[2:7]
    bucket_of, by_value = rules.order
    found, named = rules.places.found, source_place >= 0

    @inlined
    def accept(vertex, value, state, desk):
        """Take a proposal; return whether it was better than what is there."""
        out, words = state[place], desk.words
        if not better(value, out[vertex]):
            words[REFUSED] += 1
            return False
        again = desk.pending[vertex] != 0
        before = bucket_of(vertex, state, desk.per_width, np.int64(0))
        out[vertex] = merge(value, out[vertex])
        bucket = bucket_of(vertex, state, desk.per_width, worklist.next_round(words))
        if not again or (by_value and bucket < before):
            desk.pending[vertex] = 1
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
                disturb(control, words)
                termination.count_taken(board, links.device)
                mailbox.release(rings, link, number)
                messages += 1
        return messages

    return receive


def sending(rules: Rules) -> Callable[..., Any]:
    """Return the compiled function that sends what is in the outbox."""
    place, source_place = rules.place, rules.source_place
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
            desk.pending[vertex] = 0
            rings.keys[entry] = name_for(vertex, peer, links)
            rings.values[entry] = out[vertex]
            if named:
                rings.sources[entry] = state[source_place][vertex]
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


def processing(rules: Rules) -> Callable[..., Any]:
    """Return the compiled function that serves one block of a bucket."""
    propose, wanted, better, merge, note, place = rules[:6]
    bucket_of, by_value = rules.order
    is_ghost, owner_of = rules.is_ghost, rules.places.owner_of
    named = rules.source_place >= 0

    @inlined
    def improved(neighbor, graph, state, desk, again, before):
        """Note that a vertex has improved: work of this device or, of a copy, another's."""
        links = desk.mail
        if is_ghost(neighbor, graph):
            if not again:
                desk.pending[neighbor] = 1
                peer = owner_of(neighbor, links)
                mailbox.put_out(neighbor, peer, links.outbox, links.ghost_starts)
            return
        bucket = bucket_of(neighbor, state, desk.per_width, worklist.next_round(desk.words))
        if not again or (by_value and bucket < before):
            desk.pending[neighbor] = 1
            worklist.push(neighbor, bucket, desk.words, desk.ring)

    @inner
    def walk(source, graph, state, desk):
        """Propose along the edges of a vertex."""
        out, targets, pending = state[place], graph.targets, desk.pending
        first, last = np.int64(graph.offsets[source]), np.int64(graph.offsets[source + 1])
        desk.words[EDGES] += last - first
        for edge in range(first, last):
            neighbor = np.int64(targets[edge])
            if edge + 16 < last:
                prefetch(out, targets[edge + 16])
            if not wanted(neighbor, state):
                continue
            proposal = as_element(out, propose(source, neighbor, edge, state))
            present = out[neighbor]
            if better(proposal, present):
                again = pending[neighbor] != 0
                before = bucket_of(neighbor, state, desk.per_width, np.int64(0))
                out[neighbor] = merge(proposal, present)
                if named:
                    note(state, neighbor, state.ids[source])
                improved(neighbor, graph, state, desk, again, before)

    @inner
    def process(graph, state, desk, lowest):
        """Serve a block of the lowest bucket."""
        ring, words, pending = desk.ring, desk.words, desk.pending
        out, offsets, targets = state[place], graph.offsets, graph.targets
        final = np.int64(offsets[graph.num_vertices]) - 1
        block, size = worklist.take_block(lowest & (WINDOW - 1), ring)
        base = block * BLOCK
        words[worklist.SERVED] = lowest
        for step in range(size):
            source = np.int64(ring.pool[base + step])
            if step + 12 < size:
                prefetch(offsets, ring.pool[base + step + 12])
                prefetch(pending, ring.pool[base + step + 12])
            if step + 6 < size:
                prefetch(targets, offsets[ring.pool[base + step + 6]])
            if step + 3 < size and final >= 0:
                ahead = np.int64(offsets[ring.pool[base + step + 3]])
                prefetch(out, targets[min(final, ahead)])
            if pending[source] == 0:
                words[worklist.USELESS] += 1
                continue
            pending[source] = 0
            walk(source, graph, state, desk)
        words[worklist.CONSUMED] += size
        give_back(block, ring)

    return process


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
        for vertex in range(graph.num_vertices):
            desk.pending[vertex] = 0
        lowest = np.int64(NONE_LEFT)
        for entry in range(desk.starting):
            vertex = np.int64(desk.queue[entry])
            lowest = min(lowest, bucket_of(vertex, state, desk.per_width, np.int64(0)))
        for entry in range(desk.starting):
            vertex = np.int64(desk.queue[entry])
            desk.pending[vertex] = 1
            bucket = bucket_of(vertex, state, desk.per_width, np.int64(0))
            worklist.push(vertex, bucket, words, desk.ring)
            if entry == 0:
                words[worklist.BASE] = lowest

    @inner
    def choose(graph, state, desk):
        """Return the bucket to serve, and the lowest there is; the first may be none."""
        links, words, ring = desk.mail, desk.words, desk.ring
        lowest = worklist.lowest_bucket(words, ring)
        if lowest == NONE_LEFT and worklist.has_lost(ring):
            recover(
                graph, state, desk.pending, is_ghost, np.int64(desk.blocks), desk.per_width, words,
                ring,
            )  # fmt: skip
            lowest = worklist.lowest_bucket(words, ring)
        least = worklist.publish(links.board, links.device, links.devices, words, lowest)
        if lowest == NONE_LEFT or lowest - least > desk.band:
            return np.int64(NONE_LEFT), lowest
        worklist.move_base(words, lowest, least)
        if ring.tops[worklist.NEAREST] <= lowest:
            spread(state, desk.pending, desk.per_width, words, ring)
            lowest = worklist.lowest_bucket(words, ring)
        return lowest, lowest

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
        bucket, lowest = choose(graph, state, desk)
        if bucket != NONE_LEFT:
            process(graph, state, desk, bucket)
        left = send(control, state, desk, bucket == NONE_LEFT)
        if bucket != NONE_LEFT or messages > 0:
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
        around, rows, fields = reaching_back(pointer(control), FIRST), pointers(graph), pointers(state)
        lines = pointers(desk)
        if words[STAGE] == NEW:
            if not assemble(around, rank):
                return np.int64(STOPPED)
            turn = unpacked(
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
            taken_home(
                np.int64(0), np.int64(1), around, rows, fields, fields, lines, lines.words,
                np.int64(0),
            )  # fmt: skip
        return answer

    return kernel(broadfront_worker)
