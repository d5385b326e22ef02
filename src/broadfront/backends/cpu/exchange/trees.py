"""Trees of all devices meet: what follows when each has linked the edges of its own part.

A vertex and its copies elsewhere are one, so the trees that hold them are one set. A copy that no
edge was linked to is alone and of no interest. Of all others a device tells the owner the number of
the tree, and the owner pairs that with the number of its own tree, dropping pairs it has seen: most
are those of the largest trees. The first device gets the pairs of all, unites the trees, and tells
every device the smallest id in the set of each of its trees; see `joined`. That is three messages,
whatever the graph.

Invariant: the outcome depends on the edges alone. The smallest id of a set is that of a vertex on
the device that owns it, whatever the order of numbers and pairs. Where positions are not in the
order of ids, the field holds at each root the smallest id of the tree until the end.
"""

from __future__ import annotations

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import nanoseconds
from broadfront.backends.cpu.device.growing import EXCHANGED
from broadfront.backends.cpu.device.mail import incoming
from broadfront.backends.cpu.exchange.frame import (
    NOTHING,
    Message,
    Section,
    exchanged,
    from_ghosts,
    to_each,
)
from broadfront.backends.cpu.exchange.joined import (
    again_answered,
    answered,
    ids_answered,
    number_of,
    root_of,
    settled,
)
from broadfront.backends.cpu.exchange.places import ghosts_of, shared_with
from broadfront.backends.cpu.exchange.runs import COUNT, HEAD, head_of
from broadfront.backends.cpu.operators.frontier import finish, prepare, share
from broadfront.backends.cpu.operators.unite import (
    AGAIN,
    INSIDE,
    LARGEST,
    NUMBERED,
    TABLE,
    UniteCrossing,
)
from broadfront.kernel import inlined, inner
from broadfront.pointers import at, shifted

TAKEN = -1
"""What stands at a root between its being taken and its getting a number."""
BORDER = 64
"""Vertices per peer that look over the border early."""


@inlined
def forest_of(state, work):
    """Return the forest of a device, apart from the field since that holds ids in the end."""
    return work.trees.forest


@inner
def begin_copies(rank, threads, work):
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
    inside = (forest[vertex] == told[LARGEST]) | (vertex == told[LARGEST])
    return inside != (told[INSIDE] == 1)


# ---------------------------------------------------------------------- numbers


@inner
def _give_number(vertex, trees):
    """Give the tree of a vertex a number if it has none."""
    forest = trees.forest
    root = root_of(forest, vertex)
    if forest[root] == root and atomics.compare_and_swap(forest, root, root, TAKEN):
        number = atomics.add(trees.told, NUMBERED, 1)
        trees.roots[number] = root
        forest[root] = -1 - number


@inner
def _number_copies(rank, threads, work):
    """Give numbers to the trees of copies that are not alone."""
    mail, trees = work.mail, work.trees
    start = mail.ghost_starts[0]
    first, last = share(mail.ghost_starts[mail.devices] - start, rank, threads)
    for entry in range(start + first, start + last):
        vertex = np.int64(mail.ghosts[entry])
        if trees.forest[vertex] != vertex:
            _give_number(vertex, trees)


@inner
def _number_under_copies(rank, threads, graph, work):
    """Give numbers to the trees that have a copy for a root."""
    forest = work.trees.forest
    first, last = share(graph.owned, rank, threads)
    for entry in range(first, last):
        vertex = np.int64(graph.members[entry])
        root = np.int64(forest[vertex])
        if root >= 0 and graph.owner[root] != graph.device:
            _give_number(vertex, work.trees)


@inner
def _none_under_copies(rank, threads, graph, work):
    """Do nothing: where positions are dense, copies come last."""


@inner
def _number_largest(work):
    """Give a number to the tree that was passed over if others have copies of its vertices."""
    mail, trees = work.mail, work.trees
    if trees.told[LARGEST] < 0 or trees.told[INSIDE] == 1:
        return
    largest = root_of(trees.forest, trees.told[LARGEST])
    for entry in range(mail.shared_starts[mail.devices]):
        if root_of(trees.forest, np.int64(mail.shared[entry])) == largest:
            _give_number(largest, trees)
            return


# ---------------------------------------------------------------------- messages to owners


@inner
def _count(rank, threads, work):
    """Count the copies that have something to tell, for each owner."""
    mail, forest = work.mail, work.trees.forest
    for peer in range(mail.devices):
        start, found = mail.ghost_starts[peer], np.int64(0)
        first, last = share(ghosts_of(mail, peer), rank, threads)
        for entry in range(start + first, start + last):
            found += np.int64(forest[mail.ghosts[entry]] != mail.ghosts[entry])
        mail.counts[rank * mail.devices + peer] = found


@inner
def _write(run, peer, rank, threads, graph, state, work, front):
    """Write which copies have something to tell, and the numbers of their trees."""
    mail, forest = work.mail, work.trees.forest
    start, column = mail.ghost_starts[peer], at(run + HEAD, forest)
    first, last = share(ghosts_of(mail, peer), rank, threads)
    place = np.int64(0)
    for thread in range(rank):
        place += 2 * mail.counts[thread * mail.devices + peer]
    for entry in range(first, last):
        vertex = np.int64(mail.ghosts[start + entry])
        if forest[vertex] != vertex:
            column[place] = entry
            column[place + 1] = number_of(forest, vertex)
            place += 2


@inner
def _number_told(run, peer, rank, threads, control, graph, state, work, front, turn):
    """Give numbers to the own trees that a message speaks of."""
    mail, column = work.mail, at(run + HEAD, work.trees.forest)
    first, last = share(head_of(run, mail)[COUNT], rank, threads)
    for entry in range(first, last):
        place = mail.shared_starts[peer] + np.int64(column[2 * entry])
        _give_number(np.int64(mail.shared[place]), work.trees)


@inner
def _pair(run, peer, rank, threads, work):
    """Pair a peer's trees with own ones, as a message says."""
    mail, trees = work.mail, work.trees
    forest, seen = trees.forest, shifted(trees.seen, 2 * TABLE * rank)
    column = at(run + HEAD, forest)
    first, last = share(head_of(run, mail)[COUNT], rank, threads)
    begin = 2 * (mail.shared_starts[peer] + first)
    pairs, place = trees.pairs, begin
    for slot in range(2 * TABLE):
        seen[slot] = -1
    for entry in range(first, last):
        theirs = np.int64(column[2 * entry + 1])
        shared = mail.shared[mail.shared_starts[peer] + np.int64(column[2 * entry])]
        own = number_of(forest, np.int64(shared))
        slot = 2 * ((31 * theirs + own) & (TABLE - 1))
        if seen[slot] != theirs or seen[slot + 1] != own:
            seen[slot] = theirs
            seen[slot + 1] = own
            pairs[place] = theirs
            pairs[place + 1] = own
            place += 2
    mail.counts[rank * mail.devices + peer] = (place - begin) // 2
    mail.counts[(threads + rank) * mail.devices + peer] = begin


@inner
def _pair_all(rank, threads, control, graph, state, work, front, turn):
    """Pair the trees that all peers have told of, when all own ones have numbers."""
    mail = work.mail
    prepare(control, rank, turn)
    for peer in range(mail.devices):
        mail.counts[rank * mail.devices + peer] = 0
        if shared_with(mail, peer) > 0:
            _pair(incoming(mail, peer), peer, rank, threads, work)
    return finish(control, rank, threads, turn)


@inner
def _count_all(rank, threads, control, graph, state, work, front, turn):
    prepare(control, rank, turn)
    _count(rank, threads, work)
    return finish(control, rank, threads, turn)


def _told(item: int) -> Section:
    """Return the section that tells owners the trees of copies, and pairs what peers tell."""

    @inner
    def measure(peer, threads, state, work, front):
        mail, total = work.mail, np.int64(0)
        if ghosts_of(mail, peer) == 0:
            return np.int64(NOTHING), np.int64(0)
        for thread in range(threads):
            total += mail.counts[thread * mail.devices + peer]
        return total, 2 * total * item

    return exchanged(
        Message(
            from_ghosts, measure, to_each(_write), _number_told, before=_count_all, after=_pair_all
        )
    )


# ---------------------------------------------------------------------- the meeting


def uniting(place: int, item: int, relabelled: bool) -> UniteCrossing:
    """Return what a `Unite` into the field at `place` needs; `item` is the size of a vertex id."""
    number_under_copies = _none_under_copies if relabelled else _number_under_copies

    @inlined
    def least(root, state):
        """Return the smallest id in the tree of a root."""
        return np.int64(state[place][root]) if relabelled else root

    tell, settle = _told(item), settled(item, least)

    @inner
    def begin(rank, threads, graph, state, work):
        begin_copies(rank, threads, work)
        if relabelled:
            first, last = share(graph.owned, rank, threads)
            for vertex in range(first, last):
                state[place][vertex] = state.ids[vertex]

    @inner
    def find_least(rank, threads, graph, state, work):
        """Find the smallest id in each tree; all vertices hang directly under their roots."""
        forest, into = work.trees.forest, state[place]
        first, last = share(graph.owned, rank, threads)
        for vertex in range(first, last):
            root = np.int64(forest[vertex])
            if root >= 0 and into[vertex] < into[root]:
                atomics.minimum(into, root, into[vertex])

    @inner
    def label(rank, threads, graph, state, work):
        """Put the smallest id of its set into the field of each vertex."""
        forest, into = work.trees.forest, state[place]
        smallest = ids_answered(work.mail, forest)
        first, last = share(graph.owned, rank, threads)
        for entry in range(first, last):
            vertex = np.int64(graph.members[entry])
            root = np.int64(forest[vertex])
            above = root if root < 0 else np.int64(forest[root])
            # Both are read: which one is wanted is often a wrong guess, and costs more.
            told = np.int64(smallest[max(np.int64(0), -1 - above)])
            own = least(max(np.int64(0), root), state)
            into[vertex] = told if above < 0 else own

    @inner
    def act(rank, threads, control, graph, state, work, front, turn):
        """Do as the first device has answered: label vertices, or make ready to meet again."""
        trees = work.trees
        count = trees.told[NUMBERED]
        prepare(control, rank, turn)
        if rank == 0:
            trees.told[AGAIN] = again_answered(work.mail)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if trees.told[AGAIN] == 1:
            _restore(rank, threads, trees, count)
        else:
            label(rank, threads, graph, state, work)
        return finish(control, rank, threads, turn)

    answer = answered(item, act)

    @inner
    def number(rank, threads, control, graph, state, work, front, turn):
        """Give numbers to all trees that others have to do with."""
        prepare(control, rank, turn)
        _number_copies(rank, threads, work)
        number_under_copies(rank, threads, graph, work)
        if relabelled:
            find_least(rank, threads, graph, state, work)
        if rank == 0:
            _number_largest(work)
        return finish(control, rank, threads, turn)

    @inner
    def meet(rank, threads, control, graph, state, in_state, work, front, turn):
        began = nanoseconds()
        turn = number(rank, threads, control, graph, state, work, front, turn)
        if turn >= 0:
            turn = tell(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn >= 0:
            turn = settle(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn >= 0:
            turn = answer(rank, threads, control, graph, state, in_state, work, front, turn)
        if rank == 0:
            work.mail.account[EXCHANGED] += nanoseconds() - began
        return turn

    return UniteCrossing(forest_of, begin, samples, sample, passes_over, meet)


@inner
def _restore(rank, threads, trees, count):
    """Make roots of numbered trees roots like others, and turn to the vertices passed over."""
    forest, told = trees.forest, trees.told
    if rank == 0:
        told[INSIDE] = 1
        told[NUMBERED] = 0
        if told[LARGEST] >= 0:
            told[LARGEST] = root_of(forest, told[LARGEST])
    first, last = share(count, rank, threads)
    for number in range(first, last):
        forest[trees.roots[number]] = trees.roots[number]
