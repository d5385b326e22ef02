"""What the threads of a team share while a program runs: barrier, work cursors, stop, deadline.

All of it is one small array of 64-bit integers, each word on a cache line of its own. The arrays of
several teams that run together lie one after the other and share the stop and the beginning, which
are those of the first; `FIRST` tells how far back it is. The first
thread of a team polls: it compares the clock with the deadline, and now and then lets Python look
for signals; what a handler raises is kept, and raised when all have left. A stop is decided once
per barrier and read by everyone from the same slot, so that all threads leave together.

Barriers spin briefly, then yield the core: with more threads than free cores a spinning barrier
makes everything several times slower.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device.call import call
from broadfront.kernel import inner
from broadfront.pages import zeros
from broadfront.pointers import shifted

LINE = 8
"""Words in a cache line."""
(
    ARRIVED, PHASE, STOP, DEADLINE, NEXT_LOOK, DECISION, BARRIERS, BEGUN, FIRST, HERE, GATHERING,
    CURSORS,
) = (LINE * place for place in (0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12))  # fmt: skip
"""Places in the control array; `DECISION` takes two lines, `CURSORS` is the first of many."""
FAULT, FAULT_COUNT, STOPPED_BY, WANTED, PATIENCE, ONE_WAY, CROWDED = (
    FIRST + place for place in range(1, 8)
)
"""A block at which to fail and after how many times, who stopped the run, bytes wanted, how often
to look before giving up the core, whether there are no incoming arcs yet, and whether somebody else
computes on the cores."""
ACTING = HERE + 1
"""How many devices further on is the one that a thread works for, where it takes turns."""
WATCH, WATCHED, PAGE_SHIFT = (BEGUN + place for place in range(1, 4))
"""The address of what looks after mapped arrays, or 0 where nobody has to, with that of what it is
called with (`broadfront.backends.cpu.device.pace`), and two to which power arcs come in with a page
that is touched: a thread asks whether to look when it has come to another."""
SMALL_PAGE, ALL_ARCS = 14, 62
"""The largest shift of small pages, and that by which everything is one page: in memory."""
RAISED = STOP + 1
"""Three words for the error of a signal handler: its type, value and traceback, as Python has them
in C. They are on the line of `STOP`, and written when it is."""
LIMIT, PENALTY, OWN_TIME, OWN_EDGES, TEAM_TIME, TEAM_EDGES, TRIED = (
    BARRIERS + place for place in range(1, 8)
)
"""What the first thread keeps for `solo`, which says what they are."""
CURSOR_COUNT = 32
WORDS = CURSORS + LINE * CURSOR_COUNT

(
    RUNNING, INTERRUPTED, OUT_OF_TIME, BROKEN, OUT_OF_MEMORY, FAULTED, INCOMING_WANTED, LOST,
) = range(8)  # fmt: skip
NEVER = 1 << 62
PATIENT, HASTY = 4000, 50
"""Looks before a waiting thread gives up its core: where all have one, and where some have none."""
YIELDS = 1000
"""Times it gives the core up before it sleeps, until it has lost the core for `LOST` nanoseconds at
once: somebody else computes there. Where threads share cores it is mostly one of them, and only
`LOST_AMONG_MANY` tell of others. A thread that has slept gets a core soon, one that has given it
up may wait for long. The longer it has waited, the longer it sleeps, up to a millisecond."""
LOST, LOST_AMONG_MANY = 300_000, 3_000_000
LOOK_EVERY_NANOSECONDS = 20_000_000
NO_MORE = 1 << 60

_MONOTONIC = 6 if sys.platform == "darwin" else 1
_sched_yield = types.ExternalFunction("sched_yield", types.int32())
_sleep_microseconds = types.ExternalFunction("usleep", types.int32(types.uint32))
_clock_gettime = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, types.CPointer(types.int64))
)
_hold_python = types.ExternalFunction("PyGILState_Ensure", types.int32())
_release_python = types.ExternalFunction("PyGILState_Release", types.void(types.int32))
_check_signals = types.ExternalFunction("PyErr_CheckSignals", types.int32())
_clear_error = types.ExternalFunction("PyErr_Clear", types.void())
_words = types.CPointer(types.int64)
_fetch_error = types.ExternalFunction("PyErr_Fetch", types.void(_words, _words, _words))


def raise_kept(control: NDArray[np.int64]) -> None:
    """Raise what a signal handler raised while the loop of one of these teams ran, if it did."""
    for device in range(len(control)):
        if control.item(device, RAISED) != 0:
            words = control[device]
            error = [ctypes.c_void_p(int(words[RAISED + place]) or None) for place in range(3)]
            words[RAISED : RAISED + 3] = 0
            ctypes.pythonapi.PyErr_Restore(*error)


def interrupt(control: NDArray[np.int64]) -> None:
    """Stop a loop from outside, unless it is stopped already."""
    if control[0, STOP] == RUNNING:
        control[0, STOP] = INTERRUPTED


def new_control(teams: int = 1) -> NDArray[np.int64]:
    """Return a row of control words for each of several teams that run together."""
    return zeros(teams * WORDS, np.int64).reshape(teams, WORDS)


@intrinsic
def _pause(typing_context: Any) -> Any:
    """Tell the processor that this is a waiting loop."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        machine = str(builder.module.triple)
        nothing, number = ir.VoidType(), ir.IntType(32)
        if machine.startswith(("x86_64", "i686", "amd64")):
            kind = ir.FunctionType(nothing, [])
            name, values = "llvm.x86.sse2.pause", []
        else:
            kind = ir.FunctionType(nothing, [number])
            name, values = "llvm.aarch64.hint", [number(1)]
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _clock(typing_context: Any) -> Any:
    """Return the nanoseconds of a clock that never goes back."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        both = cgutils.alloca_once(builder, ir.ArrayType(word, 2))
        first = builder.bitcast(both, word.as_pointer())
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), word.as_pointer()])
        function = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(function, [ir.Constant(ir.IntType(32), _MONOTONIC), first])
        seconds = builder.load(first)
        rest = builder.load(builder.gep(first, [ir.Constant(word, 1)]))
        return builder.add(builder.mul(seconds, ir.Constant(word, 10**9)), rest)

    return types.int64(), generate


@inner
def nanoseconds():
    """Return the nanoseconds of a clock that never goes back."""
    return _clock()


@inner
def stopped(control):
    """Tell whether the run is to stop, whatever the reason."""
    return atomics.load(control, control[FIRST] + STOP) != RUNNING


@inner
def stop(control, reason):
    """Stop all teams of a run; the first reason stays, with who gave it."""
    if atomics.compare_and_swap(control, control[FIRST] + STOP, RUNNING, reason):
        control[control[FIRST] + STOPPED_BY] = -control[FIRST] // WORDS


@inner
def trip(control, block):
    """Fail at a block of the loop if a test has asked for it."""
    if control[FAULT] == block:
        control[FAULT_COUNT] -= 1
        if control[FAULT_COUNT] < 0:
            stop(control, FAULTED)


@inner
def assemble(control, rank):
    """Wait for the first thread of all to begin; return False if it never will.

    It may not: Ctrl-C can reach Python after the others were sent off. The deadline counts from
    here, when all compiling is over.
    """
    first = control[FIRST]
    if rank == 0:
        control[DEADLINE] += _clock()
    if rank == 0 and first == 0:
        atomics.store(control, BEGUN, 1)
    while atomics.load(control, first + BEGUN) == 0:
        if stopped(control):
            return False
        _sched_yield()
    return True


@inner
def idle(control, spins):
    """Wait a little: a pause at first, then the core for somebody else; return spins and one."""
    beyond = spins - control[PATIENCE]
    if beyond < 0:
        _pause()
    elif beyond < YIELDS:
        began = _clock()
        _sched_yield()
        lost = LOST if control[PATIENCE] == PATIENT else LOST_AMONG_MANY
        if _clock() - began > lost or control[CROWDED] != 0:
            control[CROWDED] = 1
            return spins + YIELDS
    else:
        sleeps = min(beyond % YIELDS, 128)
        _sleep_microseconds(np.uint32(1 + (sleeps * sleeps >> 4)))
    return spins + 1


@inner
def barrier(control, rank, threads):
    """Wait until every thread of the team is here, or until one has failed and never will be."""
    if rank == 0:
        control[BARRIERS] += 1
    if threads == 1:
        return
    phase = atomics.load(control, PHASE)
    if atomics.arrive(control, ARRIVED) == threads - 1:
        atomics.store(control, ARRIVED, 0)
        atomics.store(control, PHASE, phase + 1)
        return
    spins = 0
    while atomics.load(control, PHASE) == phase:
        spins = idle(control, spins)
        if spins > control[PATIENCE] and atomics.load(control, control[FIRST] + STOP) == BROKEN:
            return


@inner
def gathered(control, rank, threads):
    """Wait for everyone where some may not come because the run was stopped; tell whether all did.

    It counts for itself, so that whoever is left waiting here leaves no trace at the barriers.
    """
    if threads == 1:
        return True
    gathering = atomics.load(control, GATHERING)
    if atomics.arrive(control, HERE) == threads - 1:
        atomics.store(control, HERE, 0)
        atomics.store(control, GATHERING, gathering + 1)
        return True
    spins = 0
    while atomics.load(control, GATHERING) == gathering:
        spins = idle(control, spins)
        if stopped(control):
            return atomics.load(control, GATHERING) != gathering
    return True


@inner
def keep_pace(control):
    """Look after mapped arrays where that is to be done."""
    watch = atomics.load(control, WATCH)
    if watch != 0:
        call(watch, control[WATCHED])


@inner
def keep_pace_in(control, page, last):
    """Do as `keep_pace` after a row that ends in another page than the one before; return it."""
    here = last >> control[PAGE_SHIFT]
    if here != page:
        keep_pace(control)
    return here


@inner
def in_memory(control):
    """Tell whether all arcs are there: nobody need `keep_pace`."""
    return control[PAGE_SHIFT] == ALL_ARCS


@inner
def in_large_pages(control):
    """Tell whether large pages of mapped arrays come in whole."""
    return (control[PAGE_SHIFT] > SMALL_PAGE) & (control[PAGE_SHIFT] < ALL_ARCS)


@inner
def rows_until(control, offsets, first, last):
    """Return how far to go through rows in order before `keep_pace`; in memory, to the end."""
    if in_memory(control):
        return last
    limit, end = np.int64(offsets[first]) + (np.int64(1) << control[PAGE_SHIFT]), first + 1
    while end < last and np.int64(offsets[end + 1]) <= limit:
        end += 1
    return end


@inner
def poll(control):
    """Look at the clock, and now and then for Ctrl-C; only the first thread of a team does."""
    poll_at(control, _clock())


@inner
def poll_at(control, now):
    """Do as `poll` at a time that the caller knows."""
    keep_pace(control)
    if now > control[DEADLINE]:
        stop(control, OUT_OF_TIME)
    if now > control[NEXT_LOOK]:
        control[NEXT_LOOK] = now + LOOK_EVERY_NANOSECONDS
        held = _hold_python()
        if _check_signals() != 0:
            if control[RAISED] == 0:
                _fetch_error(
                    shifted(control, RAISED), shifted(control, RAISED + 1),
                    shifted(control, RAISED + 2),
                )  # fmt: skip
            else:
                _clear_error()
            stop(control, INTERRUPTED)
        _release_python(held)


@inner
def meet(control, rank, threads, turn):
    """Wait for everyone, and return whether all go on; `turn` counts the meetings of a loop."""
    slot = DECISION + LINE * (turn & 1)
    if rank == 0:
        poll(control)
        atomics.store(control, slot, atomics.load(control, control[FIRST] + STOP))
        atomics.store(control, slot + 1, control[LIMIT])
    barrier(control, rank, threads)
    if atomics.load(control, control[FIRST] + STOP) == BROKEN:
        return False
    return atomics.load(control, slot) == RUNNING


@inner
def limit_met(control, turn):
    """Return what all threads know of `LIMIT` since the last meeting before `turn`."""
    return atomics.load(control, DECISION + LINE * ((turn - 1) & 1) + 1)


@inner
def claim(control, cursor, rank, count):
    """Return the first of the next `count` pieces of work; `NO_MORE` once the run is to stop."""
    if rank == 0:
        poll(control)
    else:
        keep_pace(control)
    if stopped(control):
        return NO_MORE
    return atomics.add(control, CURSORS + LINE * cursor, count)


@inner
def claim_piece(control, cursor, rank, count, near):
    """Return one of `count` pieces of work, 64 at most: the first from `near` on that is left.

    The cursor is a bitmap of those taken; `NO_MORE` once all are, or the run is to stop.
    """
    if rank == 0:
        poll(control)
    else:
        keep_pace(control)
    if stopped(control):
        return NO_MORE
    taken = atomics.load(control, CURSORS + LINE * cursor)
    for step in range(count):
        piece = near + step - (count if near + step >= count else 0)
        bit = np.int64(1) << piece
        if taken & bit == 0:
            taken = atomics.bitwise_or(control, CURSORS + LINE * cursor, bit)
            if taken & bit == 0:
                return piece
    return NO_MORE


@inner
def rewind(control, cursor):
    """Set a cursor back; no thread may be using it."""
    atomics.store(control, CURSORS + LINE * cursor, 0)
