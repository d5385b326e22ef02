"""Trees of all devices, united: what follows when each has linked the edges of its own part.

A vertex and its copies elsewhere are one, so the trees that hold them are one set. Every device
numbers its trees that hold a copy or a vertex that others have copies of. It tells the owner of
each copy the number of the tree, in the order of the list that both sides keep; the owner pairs
that with the number of its own tree and drops pairs it has seen, of which there are few others.
The first device gets all pairs, and the smallest id of each tree; it unites them, and tells every
device the smallest id of the set of each of its trees. That is three messages, whatever the graph.

Invariant: the outcome depends on the edges alone. The smallest id of a set is that of a root on the
device that owns it, whatever the order of numbers and pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.devices.control import CURSORS, LINE, nanoseconds, trip
from broadfront.devices.mail import (
    COUNT,
    EXCHANGED,
    FORM,
    HEADER,
    address_of,
    arrived,
    box,
    emptied,
    reserve,
    room,
    send,
    take,
)
from broadfront.execution.exchange.blocks import CONVERGENCE, PACKAGE, PUSH, UNPACKAGE
from broadfront.execution.exchange.places import ghosts_of, padded, shared_with
from broadfront.kernel import inlined, inner
from broadfront.operators.cpu.frontier import MESSAGE, TAIL, finish, prepare, share
from broadfront.operators.cpu.unite import AGAIN, INSIDE, LARGEST, TABLE, UniteCrossing
from broadfront.pointers import at, shifted

NUMBERED = -1
"""What stands at a root between its being taken and its getting a number."""
BORDER = 64
"""Vertices per peer that look over the border early."""


@inlined
def forest_of(state, work):
    """Return the forest of a device, apart from the field since that holds ids in the end."""
    return work.trees.forest


@inner
def begin(rank, threads, work):
    """Make each copy of another device's vertex a tree of its own."""
    mail, forest = work.mail, work.trees.forest
    start = mail.ghost_starts[0]
    first, last = share(mail.ghost_starts[mail.devices] - start, rank, threads)
    for entry in range(start + first, start + last):
        forest[mail.ghosts[entry]] = mail.ghosts[entry]


@inner
def samples(work):
    """Return how many vertices look over the border early."""
    return BORDER * work.mail.devices


@inner
def sample(number, work):
    """Return one of the vertices that a peer has copies of, or -1."""
    mail = work.mail
    peer = number // BORDER
    count = shared_with(mail, peer)
    if count == 0:
        return np.int64(-1)
    return np.int64(mail.shared[mail.shared_starts[peer] + number % BORDER * count // BORDER])


@inlined
def passes_over(vertex, forest, told):
    """Tell whether a vertex is in the largest tree, or not in it where those inside are linked.

    While others link, its root may come to hang under another; it is inside all the same.
    """
    inside = forest[vertex] == told[LARGEST] or vertex == told[LARGEST]
    return inside != (told[INSIDE] == 1)


# ---------------------------------------------------------------------- numbers and pairs


@inlined
def _root(forest, vertex):
    above = np.int64(forest[vertex])
    if above < 0:
        return vertex
    while True:
        higher = np.int64(forest[above])
        if higher < 0 or higher == above:
            return above
        above = higher


@inlined
def _number(forest, vertex):
    """Return the number of a vertex's tree, -1 if it has none."""
    return max(np.int64(-1), -1 - np.int64(forest[_root(forest, vertex)]))


@inner
def _give_number(vertex, trees, control, turn):
    forest = trees.forest
    root = _root(forest, vertex)
    if forest[root] == root and atomics.compare_and_swap(forest, root, root, NUMBERED):
        number = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), 1)
        trees.roots[number] = root
        forest[root] = -1 - number


@inner
def _give_numbers(rank, threads, work, control, turn):
    """Give numbers to this thread's share of the trees of copies, and of what others copy."""
    mail = work.mail
    start = mail.ghost_starts[0]
    first, last = share(mail.ghost_starts[mail.devices] - start, rank, threads)
    for entry in range(start + first, start + last):
        _give_number(np.int64(mail.ghosts[entry]), work.trees, control, turn)
    first, last = share(mail.shared_starts[mail.devices], rank, threads)
    for entry in range(first, last):
        _give_number(np.int64(mail.shared[entry]), work.trees, control, turn)


@inner
def _tell_numbers(rank, threads, work):
    """Write the numbers of copies' trees for their owners."""
    mail, forest = work.mail, work.trees.forest
    for peer in range(mail.devices):
        count, start = ghosts_of(mail, peer), mail.ghost_starts[peer]
        column = at(address_of(mail, mail.device, peer) + 8 * HEADER, forest)
        first, last = share(count, rank, threads)
        for entry in range(first, last):
            column[entry] = _number(forest, np.int64(mail.ghosts[start + entry]))


@inner
def _pair(peer, rank, threads, work):
    """Pair a peer's trees with this device's own where they share a vertex."""
    mail, trees = work.mail, work.trees
    forest, seen = trees.forest, shifted(trees.seen, 2 * TABLE * rank)
    start = mail.shared_starts[peer]
    first, last = share(shared_with(mail, peer), rank, threads)
    column = at(address_of(mail, peer, mail.device) + 8 * HEADER, forest)
    pairs = shifted(trees.pairs, 2 * (start + first))
    count = np.int64(0)
    for slot in range(2 * TABLE):
        seen[slot] = -1
    for entry in range(first, last):
        theirs = np.int64(column[entry])
        own = _number(forest, np.int64(mail.shared[start + entry]))
        slot = 2 * ((31 * theirs + own) & (TABLE - 1))
        if seen[slot] != theirs or seen[slot + 1] != own:
            seen[slot] = theirs
            seen[slot + 1] = own
            pairs[2 * count] = theirs
            pairs[2 * count + 1] = own
            count += 1
    mail.counts[rank * mail.devices + peer] = count


# ---------------------------------------------------------------------- the first device


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


def uniting(place: int, item: int) -> UniteCrossing:
    """Return what a `Unite` into the field at `place` needs; `item` is the size of a vertex id."""

    @inlined
    def ids_at(mail, sender, receiver):
        """Return where a message has the ids of trees, after the numbers of pairs by peer."""
        return address_of(mail, sender, receiver) + 8 * (HEADER + mail.devices)

    @inner
    def fits(control, mail, receiver, nbytes):
        reserve(control, mail, receiver, nbytes)
        return room(mail, mail.device, receiver) >= nbytes + 8 * HEADER

    @inner
    def write(control, threads, state, work, count):
        """Write trees and pairs for the first device; return how many bytes, 0 if too many."""
        mail, trees = work.mail, work.trees
        total = np.int64(0)
        for entry in range(threads * mail.devices):
            total += mail.counts[entry]
        nbytes = 8 * mail.devices + (count + 2 * total) * item
        if not fits(control, mail, 0, nbytes):
            return np.int64(0)
        words, column = box(mail, mail.device, 0), at(ids_at(mail, mail.device, 0), trees.forest)
        words[COUNT] = count
        largest = trees.told[LARGEST]
        words[FORM] = -1
        if trees.told[INSIDE] == 0 and largest >= 0:
            words[FORM] = _number(trees.forest, largest)
        for number in range(count):
            column[number] = state.ids[trees.roots[number]]
        place = count
        for peer in range(mail.devices):
            words[HEADER + peer] = 0
            for thread in range(threads):
                found = mail.counts[thread * mail.devices + peer]
                words[HEADER + peer] += found
                first, _ = share(shared_with(mail, peer), thread, threads)
                start = 2 * (mail.shared_starts[peer] + first)
                for entry in range(2 * found):
                    column[place + entry] = trees.pairs[start + entry]
                place += 2 * found
        return nbytes

    @inner
    def join_all(mail, trees, bases, up):
        """Join the trees of all pairs; return whether the largest trees are in several sets."""
        largest = np.int64(-1)
        again = np.int64(0)
        for device in range(mail.devices):
            words, column = box(mail, device, 0), at(ids_at(mail, device, 0), trees.forest)
            place = words[COUNT]
            for peer in range(mail.devices):
                for _ in range(words[HEADER + peer]):
                    _join(up, bases[peer] + np.int64(column[place]),
                          bases[device] + np.int64(column[place + 1]))  # fmt: skip
                    place += 2
        for device in range(mail.devices):
            number = box(mail, device, 0)[FORM]
            if number >= 0:
                top = _top(up, bases[device] + number)
                again |= np.int64(largest >= 0 and top != largest)
                largest = top
        return again

    @inner
    def unite(control, work, number, nbytes):
        """Unite the trees of all devices, and tell each what has become of its own."""
        mail, trees = work.mail, work.trees
        total = np.int64(0)
        for device in range(mail.devices):
            if device > 0 and not arrived(control, 0, mail, device, number):
                return
            total += box(mail, device, 0)[COUNT]
        if not fits(control, mail, 0, padded(nbytes) + 8 * (mail.devices + 1 + total)):
            return
        # The box for oneself is memory that grows as needed; behind the own message is free.
        bases = at(address_of(mail, 0, 0) + 8 * HEADER + padded(nbytes), mail.boxes)
        up = shifted(bases, mail.devices + 1)
        bases[0] = 0
        for device in range(mail.devices):
            count, column = box(mail, device, 0)[COUNT], at(ids_at(mail, device, 0), trees.forest)
            bases[device + 1] = bases[device] + count
            for tree in range(count):
                up[bases[device] + tree] = -1 - np.int64(column[tree])
        again = join_all(mail, trees, bases, up)
        for device in range(mail.devices):
            count = bases[device + 1] - bases[device]
            size = 8 * mail.devices + count * item
            if device > 0:
                take(mail, device, number)
                if not (
                    emptied(control, 0, mail, device, number + 1)
                    and fits(control, mail, device, size)
                ):
                    return
            column = at(ids_at(mail, 0, device), trees.forest)
            for tree in range(count):
                column[tree] = -1 - up[_top(up, bases[device] + tree)]
            box(mail, 0, device)[FORM] = again
            if device > 0:
                send(mail, device, number + 1, count * item + 8, count)

    @inner
    def settle(control, threads, state, work, count, number):
        """Have the first device unite all trees; messages `number` and the next."""
        mail, told = work.mail, work.trees.told
        trip(control, CONVERGENCE)
        if mail.device != 0 and not emptied(control, 0, mail, 0, number):
            return
        nbytes = write(control, threads, state, work, count)
        if nbytes == 0:
            return
        if mail.device == 0:
            unite(control, work, number, nbytes)
        else:
            send(mail, 0, number, nbytes + 24, count)
            if not arrived(control, 0, mail, 0, number + 1):
                return
        told[AGAIN] = box(mail, 0, mail.device)[FORM]

    @inner
    def label(rank, threads, graph, state, work):
        """Put the smallest id of its set into the field of each vertex."""
        forest, into = work.trees.forest, state[place]
        smallest = at(ids_at(work.mail, 0, work.mail.device), forest)
        first, last = share(graph.owned, rank, threads)
        for entry in range(first, last):
            vertex = np.int64(graph.members[entry])
            root = np.int64(forest[vertex])
            above = root if root < 0 else np.int64(forest[root])
            if above < 0:
                into[vertex] = smallest[-1 - above]
            else:
                into[vertex] = state.ids[root]

    @inner
    def restore(rank, threads, trees, count):
        """Make roots of numbered trees roots like others, and turn to the vertices passed over."""
        forest, told = trees.forest, trees.told
        if rank == 0 and told[LARGEST] >= 0:
            told[LARGEST] = _root(forest, told[LARGEST])
        if rank == 0:
            told[INSIDE] = 1
        first, last = share(count, rank, threads)
        for number in range(first, last):
            forest[trees.roots[number]] = trees.roots[number]

    return UniteCrossing(
        forest_of, begin, samples, sample, passes_over, _meeting(item, settle, label, restore)
    )


# ---------------------------------------------------------------------- the meeting


def _meeting(
    item: int,
    settle: Callable[..., Any],
    label: Callable[..., Any],
    restore: Callable[..., Any],
) -> Callable[..., Any]:
    @inner
    def numbered(rank, threads, control, work, front, turn):
        """Give trees numbers; return the turn after, and how many there are."""
        mail = work.mail
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PACKAGE)
            for peer in range(mail.devices):
                count = ghosts_of(mail, peer)
                if count > 0 and emptied(control, rank, mail, peer, front[MESSAGE]):
                    reserve(control, mail, peer, count * item)
        _give_numbers(rank, threads, work, control, turn)
        after = finish(control, rank, threads, turn)
        return after, atomics.load(control, CURSORS + LINE * (TAIL + turn % 3))

    @inner
    def paired(rank, threads, control, work, number, turn):
        """Tell owners the trees of copies, and pair the trees that peers tell with own ones."""
        mail = work.mail
        prepare(control, rank, turn)
        _tell_numbers(rank, threads, work)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PUSH)
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                count = ghosts_of(mail, peer)
                if count > 0:
                    send(mail, peer, number, count * item, count)
        mail.counts[rank * mail.devices + mail.device] = 0
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            mail.counts[rank * mail.devices + peer] = 0
            if shared_with(mail, peer) > 0 and arrived(control, rank, mail, peer, number):
                _pair(peer, rank, threads, work)
        if rank == 0:
            trip(control, UNPACKAGE)
        turn = finish(control, rank, threads, turn)
        if rank == 0 and turn >= 0:
            for peer in range(mail.devices):
                if shared_with(mail, peer) > 0:
                    take(mail, peer, number)
        return turn

    @inner
    def meet(rank, threads, control, graph, state, in_state, work, front, turn):
        mail, trees, began = work.mail, work.trees, nanoseconds()
        number = front[MESSAGE] + 1
        front[MESSAGE] += 3
        turn, count = numbered(rank, threads, control, work, front, turn)
        if turn >= 0:
            turn = paired(rank, threads, control, work, number, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            settle(control, threads, state, work, count, number + 1)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if trees.told[AGAIN] == 1:
            restore(rank, threads, trees, count)
        else:
            label(rank, threads, graph, state, work)
        turn = finish(control, rank, threads, turn)
        if rank == 0:
            if turn >= 0 and mail.device != 0:
                take(mail, 0, number + 2)
            mail.account[EXCHANGED] += nanoseconds() - began
        return turn

    return meet
