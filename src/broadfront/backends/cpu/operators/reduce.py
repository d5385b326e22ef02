"""Reductions: for every vertex, or those of the frontier, what neighbours offer, combined.

Where an offer depends on the neighbour alone, all vertices write theirs into one array first, and
what is combined is read from there: row by row, or tile by tile (see `tiles`), where each thread
gathers the totals of a stripe of vertices in its own cache, and then applies them.

Invariant: each total is combined by one thread, in an order that depends on the graph alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.device.control import (
    claim,
    keep_pace,
    poll,
    rows_until,
    stopped,
)
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.operators.compute import blocks_of_vertices, dense
from broadfront.backends.cpu.operators.frontier import BLOCK, WORK, finish, prepare
from broadfront.backends.cpu.operators.over_frontier import each_of_frontier
from broadfront.backends.cpu.operators.tiles import Tiles
from broadfront.backends.cpu.operators.totals import totals_of
from broadfront.functors import compile_functor
from broadfront.kernel import inlined, inner
from broadfront.operators.describe import Reduce
from broadfront.operators.monoid import Monoid
from broadfront.pointers import any_element, as_element, as_offer, shifted
from broadfront.swaps import alike

Array = NDArray[Any]
Section = Callable[..., Any]

ROOM = 64
"""Between the totals of two threads; the first slot of it takes what only fills up tiles."""
GRAIN = 64
"""Vertices of a frontier that a thread takes at a time: some may have many neighbours."""
POLLED = 16
"""Tiles after which a thread looks whether the run is to stop."""
PACED = 1 << 17
"""Words of a tile, an even number, after which it asks whether to look after mapped arrays."""


class Offers(NamedTuple):
    """What vertices offer, each array as real numbers and as integers, in the same memory."""

    real: Array
    whole: Array
    real_totals: Array
    """For each thread the totals of a stripe."""
    whole_totals: Array
    partials: Array
    """The sums of each stripe."""
    tiles: Any
    """`Tiles`, or an empty tuple."""


def new_offers(workspace: Workspace, size: int, count: int, tiles: Tiles | None) -> Offers:
    """Return the memory for reductions whose offers depend on the neighbour alone."""
    offers = workspace.array("offers", size, np.float64)
    if tiles is None:
        return Offers(offers, offers.view(np.int64), offers, offers.view(np.int64), offers, ())
    totals = workspace.array("totals", count * ((1 << tiles.bits) + ROOM), np.float64)
    partials = workspace.array("stripe sums", 2 * tiles.stripes, np.float64)
    return Offers(
        offers, offers.view(np.int64), totals, totals.view(np.int64), partials, tiles
    )  # fmt: skip


def reduce(
    operator: Reduce,
    places: tuple[int, ...],
    identity: int,
    large: bool,
    crossing: Callable[[Section], Section] | None = None,
) -> Section:
    """Return the section of a `Reduce`; `places` are those of its sums, and of its `identity`.

    On many devices `crossing` makes the section that brings offers to copies.
    """
    if isinstance(operator.combine, Monoid):
        meeting = _by_monoid(operator.combine)
    else:
        meeting = {"sum": _plus, "min": _smaller, "max": _larger}[operator.combine]
    if operator.over == "frontier":
        return each_of_frontier(_row_of(operator, meeting, identity), (), GRAIN)
    if not operator.of_neighbor:
        return _by_edges(operator, meeting, places, identity)
    whole = isinstance(operator.identity, int)
    offers, totals = (_whole, _whole_totals) if whole else (_real, _real_totals)
    if operator.in_tiles(large):
        combined = _by_tiles(operator, meeting, places, identity, offers, totals)
    else:
        combined = _by_rows(operator, meeting, places, identity, offers)
    return _offered(operator, offers, combined, crossing(offers) if crossing else _stay)


@inner
def _stay(rank, threads, control, graph, state, in_state, work, front, turn):
    return turn


@inlined
def _plus(left, right):
    return left + right


@inlined
def _smaller(left, right):
    return min(left, right)


@inlined
def _larger(left, right):
    return max(left, right)


def _by_monoid(monoid: Monoid) -> Section:
    function = compile_functor(monoid.function)

    @inlined
    def meet(left, right):
        return alike(left, function(left, right))

    return meet


@inner
def _real(work):
    return work.offers.real


@inner
def _whole(work):
    return work.offers.whole


@inner
def _real_totals(work):
    return work.offers.real_totals


@inner
def _whole_totals(work):
    return work.offers.whole_totals


# ---------------------------------------------------------------------- by rows


def _row_of(operator: Reduce, meeting: Section, identity: int) -> Section:
    """Return a function that asks for offers at the edges of a vertex, and applies them.

    It returns what was applied, and how many edges there are.
    """
    offer, apply = compile_functor(operator.functor), compile_functor(operator.apply)

    @inner
    def at_vertex(vertex, graph, state, in_state):
        targets, offsets = graph.in_targets, graph.in_offsets
        begin, end = np.int64(offsets[vertex]), np.int64(offsets[vertex + 1])
        total = graph.numbers.identities[identity]
        for edge in range(begin, end):
            offered = offer(np.int64(targets[edge]), vertex, edge, in_state)
            total = meeting(total, as_offer(total, offered))
        return apply(vertex, total, state), end - begin

    return at_vertex


def _by_edges(
    operator: Reduce, meeting: Section, places: tuple[int, ...], identity: int
) -> Section:
    """Return a section that asks for an offer at every edge."""
    at_vertex = _row_of(operator, meeting, identity)
    begin_totals, add, store, publish = totals_of(places)

    @inner
    def block_of_rows(block, rank, control, graph, state, in_state, work):
        totals, visited = begin_totals(state), np.int64(0)
        first, last = block * BLOCK, min(graph.owned, (block + 1) * BLOCK)
        while first < last:
            until = rows_until(control, graph.in_offsets, first, last)
            for place in range(first, until):
                answer, looked = at_vertex(np.int64(graph.members[place]), graph, state, in_state)
                totals = add(totals, answer, state)
                visited += looked
            keep_pace(control)
            first = until
        return totals, visited

    return dense(blocks_of_vertices, block_of_rows, store, publish)


def _offered(operator: Reduce, offers_of: Section, combined: Section, brought: Section) -> Section:
    """Return a section in which every vertex makes its offer, and then `combined` runs."""
    offer = compile_functor(operator.functor)

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        prepare(control, rank, turn)
        offers, count = offers_of(work), graph.owned
        while True:
            begin = claim(control, WORK + turn % 3, rank, BLOCK)
            if begin >= count:
                break
            for place in range(begin, min(count, begin + BLOCK)):
                vertex = np.int64(graph.members[place])
                offered = offer(vertex, state)
                offers[vertex] = as_element(offers, as_offer(any_element(offers), offered))
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        turn = brought(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        return combined(rank, threads, control, graph, state, in_state, work, front, turn)

    return section


def _by_rows(
    operator: Reduce,
    meeting: Section,
    places: tuple[int, ...],
    identity: int,
    offers_of: Section,
) -> Section:
    """Return a section that combines what was offered row by row."""
    apply = compile_functor(operator.apply)
    begin_totals, add, store, publish = totals_of(places)

    @inner
    def block_of_rows(block, rank, control, graph, state, in_state, work):
        totals, start = begin_totals(state), graph.numbers.identities[identity]
        first, last = block * BLOCK, min(graph.owned, (block + 1) * BLOCK)
        targets, offsets, visited = graph.in_targets, graph.in_offsets, np.int64(0)
        offers = offers_of(work)
        while first < last:
            until = rows_until(control, offsets, first, last)
            for place in range(first, until):
                vertex = np.int64(graph.members[place])
                begin, end = np.int64(offsets[vertex]), np.int64(offsets[vertex + 1])
                visited += end - begin
                total = start
                for edge in range(begin, end):
                    total = meeting(total, offers[targets[edge]])
                totals = add(totals, apply(vertex, total, state), state)
            keep_pace(control)
            first = until
        return totals, visited

    return dense(blocks_of_vertices, block_of_rows, store, publish)


# ---------------------------------------------------------------------- by tiles


def _by_tiles(
    operator: Reduce,
    meeting: Section,
    places: tuple[int, ...],
    identity: int,
    offers_of: Section,
    totals_in: Section,
) -> Section:
    """Return a section that combines what was offered tile by tile."""
    apply = compile_functor(operator.apply)
    begin_totals, add, store, publish = totals_of(places)

    @inner
    def tile(pairs, begin, end, offers, gathered):
        for place in range(begin, end, 2):
            one, two = pairs[place], pairs[place + 1]
            first = offers[np.int64((one >> np.uint64(16)) & np.uint64(0xFFFF))]
            second = offers[np.int64(one >> np.uint64(48))]
            third = offers[np.int64((two >> np.uint64(16)) & np.uint64(0xFFFF))]
            fourth = offers[np.int64(two >> np.uint64(48))]
            here = np.int64(one & np.uint64(0xFFFF))
            gathered[here] = meeting(gathered[here], first)
            here = np.int64((one >> np.uint64(32)) & np.uint64(0xFFFF))
            gathered[here] = meeting(gathered[here], second)
            here = np.int64(two & np.uint64(0xFFFF))
            gathered[here] = meeting(gathered[here], third)
            here = np.int64((two >> np.uint64(32)) & np.uint64(0xFFFF))
            gathered[here] = meeting(gathered[here], fourth)

    @inner
    def stripe_of_tiles(stripe, rank, control, graph, state, in_state, work):
        tiles, offers = work.offers.tiles, offers_of(work)
        bits, stripes = tiles.bits, tiles.stripes
        gathered = shifted(totals_in(work), rank * ((1 << bits) + ROOM))
        first = stripe << bits
        count, start = min(graph.owned - first, 1 << bits), graph.numbers.identities[identity]
        for place in range(count):
            gathered[place] = start
        for source in range(stripes):
            if source % POLLED == 0:
                if rank == 0:
                    poll(control)
                if stopped(control):
                    break
            number = stripe * stripes + source
            begin, last = np.int64(tiles.starts[number]), np.int64(tiles.starts[number + 1])
            while begin < last:
                end = min(last, begin + PACED)
                tile(tiles.pairs, begin, end, shifted(offers, source << bits), gathered)
                keep_pace(control)
                begin = end
        totals = begin_totals(state)
        for place in range(count):
            totals = add(totals, apply(first + place, gathered[place], state), state)
        return totals, tiles.arcs[stripe]

    return dense(_stripes, stripe_of_tiles, store, publish)


@inner
def _stripes(graph, work):
    bits = work.offers.tiles.bits
    return (graph.owned + (1 << bits) - 1) >> bits, work.offers.partials
