"""Trees of all devices, united by the first of them.

Every device writes the smallest id of each of its numbered trees, and pairs of a peer's tree and
its own that are one, into a message for the first device; that joins them, and answers each with
the smallest id of the set of each of its trees. The message of the first device itself stays in the
box for oneself, which is memory that grows as needed; the sets are kept behind it.

Invariant: what stands for a tree is the tree above it, or -1 less the smallest id of the set.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import trip
from broadfront.backends.cpu.device.mail import (
    COUNT,
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
from broadfront.backends.cpu.exchange.blocks import CONVERGENCE
from broadfront.backends.cpu.exchange.places import padded
from broadfront.backends.cpu.operators.unite import AGAIN, INSIDE, LARGEST, NUMBERED
from broadfront.kernel import inlined, inner
from broadfront.pointers import at, shifted


@inlined
def ids_at(mail, sender, receiver):
    """Return where a message has the ids of trees, after the numbers of pairs by peer."""
    return address_of(mail, sender, receiver) + 8 * (HEADER + mail.devices)


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


def settling(item: int, least: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that has all trees united.

    `item` is the size of a vertex id, ``least(root, state)`` the smallest id in a tree.
    """

    @inner
    def fits(control, mail, receiver, nbytes):
        reserve(control, mail, receiver, nbytes)
        return room(mail, mail.device, receiver) >= nbytes + 8 * HEADER

    @inner
    def write(control, threads, state, work):
        """Write trees and pairs for the first device; return how many bytes, 0 if too many."""
        mail, trees = work.mail, work.trees
        count, total = trees.told[NUMBERED], np.int64(0)
        for entry in range(threads * mail.devices):
            total += mail.counts[entry]
        nbytes = 8 * mail.devices + (count + 1 + 2 * total) * item
        if not fits(control, mail, 0, nbytes):
            return np.int64(0)
        words, column = box(mail, mail.device, 0), at(ids_at(mail, mail.device, 0), trees.forest)
        words[COUNT] = count
        largest = trees.told[LARGEST]
        words[FORM] = -1
        if trees.told[INSIDE] == 0 and largest >= 0:
            words[FORM] = number_of(trees.forest, largest)
        for number in range(count):
            column[number] = least(np.int64(trees.roots[number]), state)
        place = count
        for peer in range(mail.devices):
            words[HEADER + peer] = 0
            for thread in range(threads):
                found = mail.counts[thread * mail.devices + peer]
                start = mail.counts[(threads + thread) * mail.devices + peer]
                words[HEADER + peer] += found
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
            size = 8 * mail.devices + (count + 1) * item
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
    def settle(control, threads, state, work, number):
        """Have the first device unite all trees; messages `number` and the next."""
        mail, told = work.mail, work.trees.told
        trip(control, CONVERGENCE)
        if mail.device != 0 and not emptied(control, 0, mail, 0, number):
            return
        nbytes = write(control, threads, state, work)
        if nbytes == 0:
            return
        if mail.device == 0:
            unite(control, work, number, nbytes)
        else:
            send(mail, 0, number, nbytes + 24, work.trees.told[NUMBERED])
            if not arrived(control, 0, mail, 0, number + 1):
                return
        told[AGAIN] = box(mail, 0, mail.device)[FORM]

    return settle
