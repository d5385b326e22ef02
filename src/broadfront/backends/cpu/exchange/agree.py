"""Numbers that all devices must know: the size of the frontier, totals, and shared values.

Every device puts up its own, waits for those of the others, and adds them in the order of devices,
so all come to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import trip
from broadfront.backends.cpu.device.mail import all_up, place_on_board, put_up
from broadfront.backends.cpu.exchange.blocks import CONVERGENCE
from broadfront.backends.cpu.operators.frontier import (
    AGREEMENT,
    ALL_EDGES,
    ALL_SIZE,
    EDGES,
    ITERATION,
    SIZE,
    UNEXPLORED,
    finish,
    prepare,
)
from broadfront.backends.cpu.operators.totals import no_terms, with_term
from broadfront.execution.plan import Shared
from broadfront.kernel import inner
from broadfront.pointers import as_kept

SHARED_FROM = 4
"""Words of the board before those of shared values: the frontier's numbers."""


def agreed(shared: Sequence[Shared] = ()) -> Callable[..., Any]:
    """Return the section in which all devices agree on the frontier and on shared values.

    A device may be iterations ahead of the others; they catch up here.
    """
    put_all, get_all = _nothing, _nothing_got
    for number, value in enumerate(shared):
        put_all = _then(put_all, _putting(value, number))
        get_all = _then_get(get_all, _getting(value, number))

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        mail = work.mail
        number = front[AGREEMENT] + 1
        front[AGREEMENT] = number
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, CONVERGENCE)
            place = place_on_board(mail, mail.device, number)
            mail.board[place] = front[SIZE]
            mail.board[place + 1] = front[EDGES]
            mail.board[place + 2] = front[ITERATION]
            mail.board[place + 3] = front[UNEXPLORED]
            put_all(mail, place, state)
            put_up(mail, number)
            if all_up(control, rank, mail, number):
                get_all(mail, number, state)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        size, edges = np.int64(0), np.int64(0)
        for device in range(mail.devices):
            place = place_on_board(mail, device, number)
            size += mail.board[place]
            edges += mail.board[place + 1]
            front[ITERATION] = max(front[ITERATION], mail.board[place + 2])
            front[UNEXPLORED] = min(front[UNEXPLORED], mail.board[place + 3])
        front[ALL_SIZE] = size
        front[ALL_EDGES] = edges
        return turn

    return section


@inner
def agree_on(rank, threads, control, mail, front, turn, one, two=0, three=0, four=0):
    """Put a few numbers of each device up, and wait for those of the others; a meeting."""
    number = front[AGREEMENT] + 1
    front[AGREEMENT] = number
    prepare(control, rank, turn)
    if rank == 0:
        trip(control, CONVERGENCE)
        place = place_on_board(mail, mail.device, number)
        mail.board[place] = one
        mail.board[place + 1] = two
        mail.board[place + 2] = three
        mail.board[place + 3] = four
        put_up(mail, number)
        all_up(control, rank, mail, number)
    return finish(control, rank, threads, turn)


@inner
def least(mail, front, word):
    """Return the least of a number that was just agreed on."""
    found = mail.board[place_on_board(mail, 0, front[AGREEMENT]) + word]
    for device in range(1, mail.devices):
        found = min(found, mail.board[place_on_board(mail, device, front[AGREEMENT]) + word])
    return found


@inner
def most(mail, front, word):
    """Return the greatest of a number that was just agreed on."""
    found = mail.board[place_on_board(mail, 0, front[AGREEMENT]) + word]
    for device in range(1, mail.devices):
        found = max(found, mail.board[place_on_board(mail, device, front[AGREEMENT]) + word])
    return found


@inner
def total(mail, front, word):
    """Return the sum of a number that was just agreed on."""
    found = np.int64(0)
    for device in range(mail.devices):
        found += mail.board[place_on_board(mail, device, front[AGREEMENT]) + word]
    return found


@inner
def _nothing(mail, place, state):
    pass


@inner
def _nothing_got(mail, number, state):
    pass


def _then(first: Callable[..., Any], second: Callable[..., Any]) -> Callable[..., Any]:
    @inner
    def both(mail, place, state):
        first(mail, place, state)
        second(mail, place, state)

    return both


def _then_get(first: Callable[..., Any], second: Callable[..., Any]) -> Callable[..., Any]:
    @inner
    def both(mail, number, state):
        first(mail, number, state)
        second(mail, number, state)

    return both


def _putting(value: Shared, number: int) -> Callable[..., Any]:
    at, element, word = value.place, value.element, SHARED_FROM + number
    if value.real:

        @inner
        def put_real(mail, place, state):
            mail.reals[place + word] = state[at][element]

        return put_real

    @inner
    def put(mail, place, state):
        mail.board[place + word] = np.int64(state[at][element])

    return put


def meeting(value: Shared) -> Callable[..., Any]:
    """Return the function that two devices' values of one kind meet by."""
    return {"sum": _plus, "min": _smaller, "max": _larger, "or": _either_bit}[value.combine]


def _getting(value: Shared, number: int) -> Callable[..., Any]:
    at, element, word, real = value.place, value.element, SHARED_FROM + number, value.real
    meet = meeting(value)
    if real:

        @inner
        def get_real(mail, number, state):
            total = mail.reals[place_on_board(mail, 0, number) + word]
            for device in range(1, mail.devices):
                total = meet(total, mail.reals[place_on_board(mail, device, number) + word])
            state[at][element] = total

        return get_real

    if value.combine == "sum":

        @inner
        def get_total(mail, number, state):
            total = no_terms(state[at])
            for device in range(mail.devices):
                term = mail.board[place_on_board(mail, device, number) + word]
                total = with_term(state[at], total, as_kept(state[at], term))
            state[at][element] = total

        return get_total

    @inner
    def get(mail, number, state):
        total = as_kept(state[at], mail.board[place_on_board(mail, 0, number) + word])
        for device in range(1, mail.devices):
            other = mail.board[place_on_board(mail, device, number) + word]
            total = meet(total, as_kept(state[at], other))
        state[at][element] = total

    return get


@inner
def _plus(left, right):
    return left + right


@inner
def _smaller(left, right):
    return min(left, right)


@inner
def _larger(left, right):
    return max(left, right)


@inner
def _either_bit(left, right):
    return left | right
