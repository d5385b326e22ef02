"""The record of a run: an entry per iteration, and totals. Always on, because it costs nothing.

Threads write nothing into it but rank 0 a row per iteration; where an iteration has several
operators, their arcs, atomics and times add up in one row. The memory counted is what the run asked
for, whatever an earlier one has left in the workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.devices import control
from broadfront.devices.growing import GROWTHS
from broadfront.devices.profile import MINIMAL, MemoryProfile, largest
from broadfront.devices.workspace import Workspace
from broadfront.operators.cpu import frontier
from broadfront.report.devices import DeviceRecord, one_after_the_other, summary

if TYPE_CHECKING:
    import pandas

Array = NDArray[Any]


@dataclass(frozen=True)
class Record:
    """What a run did, or several one after the other.

    Attributes
    ----------
    iterations
        How many there were; the arrays below have an entry for each of the first 65,536.
    frontier, edges, atomics, microseconds
        Per iteration: vertices it went from, arcs looked at, proposals settled by an atomic
        instruction (those of functors themselves do not count), time.
    ways
        Per iteration, a bit for each of `broadfront.operators.cpu.frontier.WAYS`; see `strategy`.
    seconds, compile_seconds, load_seconds
        Time on the wall; of compiling, and of loading what was compiled before, apart from it.
    barriers, kernel_calls, threads
        Meetings of all threads, how often Python called the compiled loop (once per run, whatever
        it does), and how many threads there were.
    bytes
        A row per run: memory of the program's fields, and of the rest that it asked for.
    """

    iterations: int
    frontier: Array
    edges: Array
    atomics: Array
    ways: Array
    microseconds: Array
    seconds: float
    compile_seconds: float
    load_seconds: float
    threads: int
    barriers: int
    kernel_calls: int
    bytes: Array
    devices: tuple[DeviceRecord, ...] = ()
    """What each of several devices did; empty where there was one."""
    growths: int = 0
    """How often a queue or a box had to grow."""
    profile: MemoryProfile = MINIMAL

    @property
    def edges_visited(self) -> int:
        """Arcs looked at in all."""
        return int(self.edges.sum())

    @property
    def pulled(self) -> Array:
        """Per iteration, whether vertices looked at their neighbours and not the other way."""
        pulled: Array = self.ways & frontier.PUSHING == 0
        return pulled

    @property
    def direction(self) -> Array:
        """Per iteration, ``"push"`` or ``"pull"``."""
        return np.where(self.pulled, "pull", "push")

    @property
    def strategy(self) -> Array:
        """Per iteration, how work was shared, as ``"by_degree"``; of several ways all, by ``+``."""
        kinds, which = np.unique(self.ways, return_inverse=True)
        return np.array([_ways_text(kind) for kind in kinds.tolist()], np.str_)[which]

    @property
    def answer_bytes(self) -> int:
        """Memory of the program's fields."""
        return int(self.bytes[:, 0].max())

    @property
    def workspace_bytes(self) -> int:
        """Memory that the run asked for beside the graph and the fields."""
        return int(self.bytes[:, 1].max())

    @property
    def peak_bytes(self) -> int:
        """Memory of the run beside the graph, at its most."""
        return int(self.bytes.sum(axis=1).max())

    def redundancy(self, one: Record) -> float:
        """Return the arcs looked at over those that `one`, a run on one device, looked at.

        Above 1 devices repeat work; below 1 they are spared some, as by an earlier pull.
        """
        here, there = self.edges_visited, one.edges_visited
        if there == 0:
            return 1.0 if here == 0 else float("inf")
        return here / there

    def memory_profile(self) -> MemoryProfile:
        """Return what was needed of memory that grows: ``memory=`` for runs like this one."""
        return self.profile

    def by_iteration(self) -> dict[str, Array]:
        """Return the columns of the record, an entry per iteration each."""
        return {
            "frontier": self.frontier,
            "edges": self.edges,
            "direction": self.direction,
            "strategy": self.strategy,
            "atomics": self.atomics,
            "microseconds": self.microseconds,
        }

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per iteration."""
        from broadfront.errors import require

        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame(self.by_iteration())

    def totals(self) -> dict[str, int | float]:
        """Return the totals as plain values."""
        return {
            "iterations": self.iterations,
            "edges_visited": self.edges_visited,
            "atomics": int(self.atomics.sum()),
            "seconds": self.seconds,
            "compile_seconds": self.compile_seconds,
            "load_seconds": self.load_seconds,
            "threads": self.threads,
            "barriers": self.barriers,
            "kernel_calls": self.kernel_calls,
            "answer_bytes": self.answer_bytes,
            "workspace_bytes": self.workspace_bytes,
            "peak_bytes": self.peak_bytes,
            "growths": self.growths,
            **(summary(self.devices) if self.devices else {"devices": 1, "bytes_sent": 0}),
        }


def _ways_text(ways: int) -> str:
    return "+".join(name for bit, name in enumerate(frontier.WAYS) if ways >> bit & 1)


def recorded(
    workspace: Workspace,
    work: frontier.Work,
    iterations: int,
    threads: int,
    clock: Clock,
    answer_bytes: int,
    profile: MemoryProfile,
) -> Record:
    """Return the record of the run that has just ended in `workspace`, and leave its rows empty."""
    rows = min(iterations, frontier.RECORD_ROWS)
    written = work.record[: rows * frontier.RECORD_COLUMNS]
    table = written.reshape(rows, frontier.RECORD_COLUMNS).copy()
    written[:] = 0
    held = [answer_bytes, workspace.asked_bytes + work.growing_bytes + written.nbytes]
    return Record(
        iterations,
        table[:, frontier.R_FRONTIER],
        table[:, frontier.R_EDGES],
        table[:, frontier.R_ATOMICS],
        table[:, frontier.R_WAYS],
        (table[:, frontier.R_END] - table[:, frontier.R_BEGIN]) / 1000,
        clock.seconds,
        clock.compile_seconds,
        clock.load_seconds,
        threads,
        int(workspace.team.control[0, control.BARRIERS]),
        1,
        np.array([held], np.int64),
        (),
        int(work.account[GROWTHS]),
        profile,
    )


def joined(records: Sequence[Record]) -> Record:
    """Return one record of several runs, one after the other; an empty one of none."""
    if not records:
        none = np.empty(0, np.int64)
        bytes_ = np.zeros((1, 2), np.int64)
        return Record(0, none, none, none, none, none / 1000, 0.0, 0.0, 0.0, 0, 0, 0, bytes_)
    together: dict[str, Any] = {}
    for name in (field.name for field in fields(Record)):
        values = [getattr(record, name) for record in records]
        if isinstance(values[0], np.ndarray):
            together[name] = np.concatenate(values)
        elif name == "devices":
            together[name] = one_after_the_other([value for value in values if value])
        elif name == "profile":
            together[name] = largest(values)
        else:
            together[name] = max(values) if name == "threads" else sum(values)
    return Record(**together)
