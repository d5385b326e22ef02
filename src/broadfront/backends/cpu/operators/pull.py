"""Pull: every vertex that wants proposals looks among its incoming neighbours for the frontier.

Threads claim words of 64 vertices of the bitmap of those that want; a vertex stops looking as soon
as it is content. Nothing is written that another thread writes, so nothing is atomic.

References
----------
Beamer, Asanović, Patterson: Direction-optimizing breadth-first search (SC 2012).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import PAGE_SHIFT, claim, keep_pace
from broadfront.backends.cpu.operators.combine import Combine
from broadfront.backends.cpu.operators.frontier import WORK
from broadfront.bits import count_ones, trailing_zeros
from broadfront.kernel import inner
from broadfront.pointers import as_element, prefetch

WORDS_PER_TURN = 16


def pull(
    propose: Callable[..., Any],
    wanted: Callable[..., Any],
    combine: Combine,
    note: Callable[..., Any],
) -> Callable[..., Any]:
    """Return the compiled pull of one iteration."""
    better, plainly = combine.better, combine.plainly

    @inner
    def look(vertex, offsets, targets, bits, state, out):
        """Return whether a vertex improved, and how many arcs it looked at."""
        improved = False
        first, last = np.int64(offsets[vertex]), np.int64(offsets[vertex + 1])
        for edge in range(first, last):
            source = np.int64(targets[edge])
            if (bits[source >> 6] >> np.uint64(source & 63)) & np.uint64(1):
                proposal = as_element(out, propose(source, vertex, edge, state))
                if better(proposal, out[vertex]):
                    out[vertex] = plainly(proposal, out[vertex])
                    note(state, vertex, source)
                    improved = True
                if not wanted(vertex, state):
                    return improved, edge - first + 1
        return improved, last - first

    @inner
    def sweep(word, left, offsets, targets, bits, state, out):
        """Serve vertices of a word; return who improved, who wants no more, and arcs looked at."""
        one, found, content = np.uint64(1), np.uint64(0), np.uint64(0)
        visited = np.int64(0)
        while left != 0:
            bit = trailing_zeros(left)
            left &= left - one
            vertex = np.int64((np.uint64(word) << np.uint64(6)) | bit)
            improved, looked = look(vertex, offsets, targets, bits, state, out)
            visited += looked
            if improved:
                found |= one << bit
                if not wanted(vertex, state):
                    content |= one << bit
        return found, content, visited

    @inner
    def run(rank, control, graph, state, out, bits, wanting, following, words, turn):
        offsets, targets = graph.in_offsets, graph.in_targets
        size, visited = np.int64(0), np.int64(0)
        most = np.int64(1) << control[PAGE_SHIFT]
        while True:
            begin = claim(control, WORK + turn % 3, rank, WORDS_PER_TURN)
            if begin >= words:
                return size, visited
            asked = np.int64(offsets[begin << 6])
            for word in range(begin, min(words, begin + WORDS_PER_TURN)):
                foresee(word + 1, offsets, targets, wanting)
                left, improved = wanting[word], np.uint64(0)
                last = np.int64(offsets[min((word + 1) << 6, graph.num_vertices)])
                together = last - np.int64(offsets[word << 6]) <= most
                while left != 0:
                    some = left if together else left & (~left + np.uint64(1))
                    found, content, looked = sweep(word, some, offsets, targets, bits, state, out)
                    left &= ~some
                    improved |= found
                    wanting[word] &= ~content
                    visited += looked
                    if not together:
                        keep_pace(control)
                if last - asked > most:
                    asked = last
                    keep_pace(control)
                following[word] = improved
                size += np.int64(count_ones(improved))

    return run


@inner
def foresee(word, offsets, targets, wanting):
    """Ask for the lists of a word's vertices, while those of the word before are searched."""
    left = wanting[word]
    while left != 0:
        bit = trailing_zeros(left)
        left &= left - np.uint64(1)
        prefetch(targets, offsets[np.int64((np.uint64(word) << np.uint64(6)) | bit)])
