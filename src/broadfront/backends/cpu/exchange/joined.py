"""Trees of all devices, united by the first of them.

Every device sends the first one the smallest id of each of its numbered trees, and pairs of a
peer's tree and its own that are one; the first device joins them, and answers each with the
smallest id of the set of each of its trees. What the first device would send itself is written
where it keeps memory that grows as needed; the sets are kept behind it.

Invariant: what stands for a tree is the tree above it, or -1 less the smallest id of the set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import trip
from broadfront.backends.cpu.device.mail import incoming, outgoing, reserve
from broadfront.backends.cpu.exchange.blocks import CONVERGENCE
from broadfront.backends.cpu.exchange.frame import NOTHING, Message, Section, exchanged
from broadfront.backends.cpu.exchange.runs import COUNT, FORM, HEAD, head_of, padded
from broadfront.backends.cpu.operators.frontier import finish, prepare
from broadfront.backends.cpu.operators.unite import AGAIN, INSIDE, LARGEST, NUMBERED
from broadfront.kernel import inlined, inner
from broadfront.pointers import at, shifted


@inlined
def _run_of(mail, device):
    """Return the run of a device at the first one, which has its own in the box for itself."""
    return incoming(mail, device)


@inlined
def _numbers_in(run, mail):
    """Return where a run to the first device has the numbers of its pairs, by peer."""
    return at(run + HEAD, mail.boxes)


@inlined
def _ids_in(run, mail, forest):
    """Return where a run has the ids of trees, and then pairs, after the numbers of pairs."""
    return at(run + (HEAD + 8 * mail.devices), forest)


@inlined
def ids_answered(mail, forest):
    """Return where the answer of the first device has the ids of sets."""
    return at(incoming(mail, 0) + HEAD, forest)


@inlined
def again_answered(mail):
    """Return whether the first device has answered that trees must meet again."""
    return head_of(incoming(mail, 0), mail)[FORM]


@inlined
def root_of(forest, vertex):
    """Return the root of a vertex's tree, numbered or not."""
    above = np.int64(forest[vertex])
    if above < 0:
        return vertex
    while True:
        higher = np.int64(forest[above])
        if higher < 0 or higher == above:
            return above
        above = higher


@inlined
def number_of(forest, vertex):
    """Return the number of a vertex's tree, -1 if it has none."""
    return max(np.int64(-1), -1 - np.int64(forest[root_of(forest, vertex)]))


@inlined
def _top(up, tree):
    """Return the tree above all in a tree's set, halving the way to it."""
    while up[tree] >= 0:
        above = up[tree]
        if up[above] >= 0:
            up[tree] = up[above]
        tree = above
    return tree


@inner
def _join(up, one, other):
    one, other = _top(up, one), _top(up, other)
    if one != other:
        if up[one] < up[other]:  # the smaller id stays above, and ids are kept as -1 less the id
            one, other = other, one
        up[other] = one


# ---------------------------------------------------------------------- to the first device


def settled(item: int, least: Callable[..., Any]) -> Section:
    """Return the section after which the first device has united all trees.

    `item` is the size of a vertex id, ``least(root, state)`` the smallest id in a tree.
    """
    write = _writing(item, least)

    @inner
    def before(rank, threads, control, graph, state, work, front, turn):
        mail = work.mail
        if rank == 0:
            trip(control, CONVERGENCE)
            nbytes = _bytes_to_first(threads, work, item)
            if mail.device == 0 and reserve(control, mail, 0, HEAD + nbytes):
                write(outgoing(mail, 0), threads, state, work)
        return turn

    @inner
    def measure(peer, threads, state, work, front):
        if peer != 0:
            return np.int64(NOTHING), np.int64(0)
        return work.trees.told[NUMBERED], _bytes_to_first(threads, work, item)

    @inner
    def pack(rank, threads, control, graph, state, work, front, turn):
        if rank == 0 and work.mail.lengths[0] > 0:
            write(outgoing(work.mail, 0), threads, state, work)
        return turn

    @inner
    def after(rank, threads, control, graph, state, work, front, turn):
        prepare(control, rank, turn)
        if rank == 0 and work.mail.device == 0:
            _unite(control, threads, work, item)
        return finish(control, rank, threads, turn)

    return exchanged(Message(_by_first, measure, pack, _left_there, before=before, after=after))


@inner
def _by_first(peer, work, front):
    return work.mail.device == 0


@inner
def _left_there(run, peer, rank, threads, control, graph, state, work, front, turn):
    """Leave a run where it is until all have come."""


@inner
def _bytes_to_first(threads, work, item):
    """Return the bytes that trees and pairs take behind the head of a run."""
    mail, pairs = work.mail, np.int64(0)
    for entry in range(threads * mail.devices):
        pairs += mail.counts[entry]
    return padded(8 * mail.devices + (work.trees.told[NUMBERED] + 2 * pairs) * item)


def _writing(item: int, least: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that writes a device's trees and pairs."""

    @inner
    def write(run, threads, state, work):
        mail, trees = work.mail, work.trees
        words, numbers = head_of(run, mail), _numbers_in(run, mail)
        column, count = _ids_in(run, mail, trees.forest), trees.told[NUMBERED]
        largest = trees.told[LARGEST]
        words[COUNT], words[FORM] = count, -1
        if trees.told[INSIDE] == 0 and largest >= 0:
            words[FORM] = number_of(trees.forest, largest)
        for number in range(count):
            column[number] = least(np.int64(trees.roots[number]), state)
        place = count
        for peer in range(mail.devices):
            numbers[peer] = 0
            for thread in range(threads):
                found = mail.counts[thread * mail.devices + peer]
                start = mail.counts[(threads + thread) * mail.devices + peer]
                numbers[peer] += found
                for entry in range(2 * found):
                    column[place + entry] = trees.pairs[start + entry]
                place += 2 * found

    return write


# ---------------------------------------------------------------------- at the first device


@inner
def _bases_at(threads, work, item):
    """Return where the first tree of each device is among all, with the sets after it."""
    behind = HEAD + _bytes_to_first(threads, work, item)
    return at(outgoing(work.mail, 0) + behind, work.mail.boxes)


@inner
def _unite(control, threads, work, item):
    """Unite the trees of all devices, and note whether they must meet again."""
    mail, trees, total = work.mail, work.trees, np.int64(0)
    for device in range(mail.devices):
        total += head_of(_run_of(mail, device), mail)[COUNT]
    behind = HEAD + _bytes_to_first(threads, work, item)
    if not reserve(control, mail, 0, behind + 8 * (mail.devices + 1 + total)):
        return
    bases = _bases_at(threads, work, item)
    up = shifted(bases, mail.devices + 1)
    bases[0] = 0
    for device in range(mail.devices):
        run = _run_of(mail, device)
        count, column = head_of(run, mail)[COUNT], _ids_in(run, mail, trees.forest)
        bases[device + 1] = bases[device] + count
        for tree in range(count):
            up[bases[device] + tree] = -1 - np.int64(column[tree])
    trees.told[AGAIN] = _join_all(mail, trees, bases, up)


@inner
def _join_all(mail, trees, bases, up):
    """Join the trees of all pairs; return whether the largest trees are in several sets."""
    largest = np.int64(-1)
    again = np.int64(0)
    for device in range(mail.devices):
        run = _run_of(mail, device)
        numbers, column = _numbers_in(run, mail), _ids_in(run, mail, trees.forest)
        place = head_of(run, mail)[COUNT]
        for peer in range(mail.devices):
            for _ in range(numbers[peer]):
                _join(up, bases[peer] + np.int64(column[place]),
                      bases[device] + np.int64(column[place + 1]))  # fmt: skip
                place += 2
    for device in range(mail.devices):
        number = head_of(_run_of(mail, device), mail)[FORM]
        if number >= 0:
            top = _top(up, bases[device] + number)
            again |= np.int64(largest >= 0 and top != largest)
            largest = top
    return again


# ---------------------------------------------------------------------- back to all devices


def answered(item: int, act: Section) -> Section:
    """Return the section in which the first device tells all what has become of their trees.

    `act` is the section that does as the answer says, while that is there.
    """

    @inner
    def measure(peer, threads, state, work, front):
        if work.mail.device != 0:
            return np.int64(NOTHING), np.int64(0)
        bases = _bases_at(threads, work, item)
        count = bases[peer + 1] - bases[peer]
        return count, padded((count + 1) * item)

    @inner
    def write(run, device, threads, work):
        trees, bases = work.trees, _bases_at(threads, work, item)
        up, column = shifted(bases, work.mail.devices + 1), at(run + HEAD, trees.forest)
        head_of(run, work.mail)[FORM] = trees.told[AGAIN]
        for tree in range(bases[device + 1] - bases[device]):
            column[tree] = -1 - up[_top(up, bases[device] + tree)]

    @inner
    def pack(rank, threads, control, graph, state, work, front, turn):
        mail = work.mail
        if rank == 0 and mail.device == 0:
            for device in range(mail.devices):
                if device == 0 or mail.lengths[device] > 0:
                    write(outgoing(mail, device), device, threads, work)
        return turn

    return exchanged(Message(_from_first, measure, pack, _left_there, after=act))


@inner
def _from_first(peer, work, front):
    return work.mail.device != 0 and peer == 0
