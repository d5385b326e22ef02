"""While a frontier is small, the first thread of a device runs on alone and the others wait.

A meeting of all threads costs more than a small frontier is worth. All threads see the same
numbers, so all know without a word when the first goes on alone: after one barrier the others wait
at the next, however many iterations it takes. Then they take over its description of the frontier.

What is small depends on the company: where other programs use the cores, a thread that is waited
for may not be running at all. The first thread compares how long an edge takes when it is alone and
when all take part, over a few iterations. While all together are not quicker, it runs larger
frontiers alone, too, and tries again after a while, which is longer each time.

Invariant: the first thread goes on only when all others wait, since they still read what it has
left at the last meeting; they read its description before they wait again.
"""

from __future__ import annotations

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import (
    BROKEN,
    FIRST,
    LIMIT,
    OWN_EDGES,
    OWN_TIME,
    PENALTY,
    STOP,
    TEAM_EDGES,
    TEAM_TIME,
    TRIED,
    barrier,
    limit_met,
    nanoseconds,
)
from broadfront.backends.cpu.operators.frontier import CLOCK, FRONT_WORDS, SMALL, TIMES, TURN
from broadfront.kernel import inner
from broadfront.pointers import shifted

FEW, MANY = 512, 1 << 15
"""A frontier with fewer edges is one thread's work, usually and where it is better alone; it stays
so until there are twice as many."""
QUICKER, AS_QUICK = -1, 2
"""How much longer than one thread all may take, in sixteenths: they must be quicker, or about as
quick where each has vertices of its own, which it would lose to the one that goes on alone."""
TRIAL = 16
"""Iterations of all threads after which they are compared with one."""
AGAIN = 3
"""Iterations after which one thread has been measured again."""
SHORT, LONG = 64, 1 << 14
"""Iterations for which the limit stays at `MANY`: at first, and at most."""


@inner
def begin_solos(control, rank, front):
    """Set what is small to what it is usually; a phase begins."""
    front[SMALL] = FEW
    if rank == 0:
        control[LIMIT] = FEW
        front[CLOCK] = nanoseconds()


@inner
def judge(control, slack):
    """Compare the time that an edge takes all threads with that of one; set what is small.

    All threads may take `slack` sixteenths longer than expected of one.
    One thread may have been measured on its first few edges only, which take long. If it comes to
    the comparison, it is measured again.
    """
    enough = control[TRIED] >= TRIAL
    expected = control[TEAM_EDGES] * control[OWN_TIME] // max(1, control[OWN_EDGES])
    if control[OWN_EDGES] == 0 or not (enough or control[TEAM_TIME] > 4 * expected + 200_000):
        return
    if control[OWN_EDGES] < control[TEAM_EDGES] >> 3 and control[TEAM_TIME] > expected >> 1:
        control[OWN_TIME], control[OWN_EDGES] = 0, 0
        control[PENALTY] = max(control[PENALTY], np.int64(AGAIN))
        control[LIMIT] = MANY
        return
    if control[TEAM_TIME] > expected + slack * (expected >> 4):
        control[PENALTY] = min(2 * control[PENALTY] + SHORT, np.int64(LONG))
        control[LIMIT] = MANY
    else:
        control[PENALTY] >>= 1
    control[TRIED], control[TEAM_TIME], control[TEAM_EDGES] = 0, 0, 0


@inner
def look_around(control, rank, front, turn, edges, began, slack=QUICKER):
    """After an iteration of all threads: learn what is small, and what it is to be."""
    front[SMALL] = limit_met(control, turn)
    if rank == 0 and edges < MANY:
        control[TRIED] += 1
        control[TEAM_TIME] += front[CLOCK] - began
        control[TEAM_EDGES] += edges
        judge(control, slack)


@inner
def stays_small(control, front, edges, served):
    """Tell the first thread, after iterations of its own, whether it goes on alone."""
    if control[OWN_EDGES] > 1 << 20:
        control[OWN_EDGES] >>= 1
        control[OWN_TIME] >>= 1
    if front[SMALL] == MANY and served > control[PENALTY]:
        front[SMALL] = FEW
        control[LIMIT] = FEW
    return edges < 2 * front[SMALL]


@inner
def solo_times(control, front):
    """Return after how many iterations of its own the first thread asks `stays_small`."""
    return control[PENALTY] + 1 if front[SMALL] == MANY else np.int64(1) << 60


@inner
def count_own(control, front, edges, began):
    """Count the edges that the first thread has traversed alone since `began`."""
    control[OWN_TIME] += front[CLOCK] - began
    control[OWN_EDGES] += edges


@inner
def go_alone(control, threads):
    """Wait, as the first thread, until all others wait for it."""
    barrier(control, 0, threads)


@inner
def hand_over(control, threads, work, front, turn, times):
    """Tell the waiting threads where the first one is; they go on from there."""
    front[TURN], front[TIMES] = turn, times
    slot = shifted(work.fronts, threads * FRONT_WORDS)
    for word in range(FRONT_WORDS):
        slot[word] = front[word]
    barrier(control, 0, threads)


@inner
def take_over(control, rank, threads, work, front, turn):
    """Wait for the first thread, and go on from where it is; return turn and times."""
    barrier(control, rank, threads)
    barrier(control, rank, threads)
    if atomics.load(control, control[FIRST] + STOP) == BROKEN:
        return -turn - 1, np.int64(0)
    slot = shifted(work.fronts, threads * FRONT_WORDS)
    for word in range(FRONT_WORDS):
        front[word] = slot[word]
    return front[TURN], front[TIMES]
