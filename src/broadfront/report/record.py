"""The record of a run: a row per iteration, and totals. Always on, because it costs nothing.

It is the same for every back end; each fills it from what it has written down in its own way. Where
an iteration has several operators, their edges, atomics and times add up in one row. After 8,192
iterations a row covers several, more the further the run gets, and adds them up. The memory counted
is what the run asked for, whatever an earlier one has left.

Invariant: totals are exact for any number of iterations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.devices.profile import MINIMAL, MemoryProfile, largest
from broadfront.report.asynchronous import WorkRecord, added
from broadfront.report.devices import DeviceRecord, one_after_the_other, summary
from broadfront.report.ways import PUSHING, WAYS
from broadfront.sizes import size_text

if TYPE_CHECKING:
    import pandas

Array = NDArray[Any]


@dataclass(frozen=True, repr=False)
class Record:
    """What a run did, or several one after the other.

    Attributes
    ----------
    iterations
        How many there were.
    spans
        Per row, how many iterations it covers: 1 for the first 8,192 of a run, then more. The
        arrays below have an entry per row.
    frontier, edges, atomics, microseconds
        Vertices it went from, edges traversed, proposals settled by an atomic instruction (those of
        functors themselves do not count), time; of several iterations added up.
    ways
        A bit for each of `broadfront.report.ways.WAYS`; see `strategy`.
    seconds, compile_seconds, load_seconds, prepare_seconds
        Time on the wall; apart from it that of compiling, of loading what was compiled before, and
        of building what is kept for later runs: partitions, incoming arcs, tiles.
    barriers, kernel_calls, threads
        Meetings of all threads, how often Python called the compiled loop (once per run, and
        again where a search has to wait for incoming arcs), and how many threads there were.
    bytes
        A row per run: memory of the program's fields, and of the rest that it asked for.
    order_bytes
        Bytes of the graph's copy in the order of degrees, where one device ran on that; else 0.
    """

    iterations: int
    spans: Array
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
    prepare_seconds: float = 0.0
    partitioner: str = ""
    """Who split the graph among several devices; empty where there was one."""
    execution: str = "bsp"
    """Whether devices went from iteration to iteration together, or asynchronously, and how."""
    work: WorkRecord | None = None
    """Work items and messages of an asynchronous run, which has no iterations, and one row."""
    why: str = ""
    """Why it was run so; empty where that was asked for, and where there was one device."""
    order_bytes: int = 0

    @property
    def edges_visited(self) -> int:
        """Edges traversed, total."""
        return int(self.edges.sum())

    @property
    def begins(self) -> Array:
        """Per row, its first iteration."""
        begins: Array = np.cumsum(self.spans) - self.spans
        return begins

    @property
    def coarse(self) -> bool:
        """Whether some rows cover several iterations."""
        return len(self.spans) < self.iterations

    @property
    def pulled(self) -> Array:
        """Per row, whether vertices looked at their neighbours and not the other way."""
        pulled: Array = self.ways & PUSHING == 0
        return pulled

    @property
    def direction(self) -> Array:
        """Per row, ``"push"`` or ``"pull"``."""
        return np.where(self.pulled, "pull", "push")

    @property
    def strategy(self) -> Array:
        """Per row, how work was shared, as ``"by_degree"``; of several ways all, by ``+``."""
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

    @property
    def course(self) -> str:
        """How far it went, in words: iterations or, asynchronously, work items."""
        if self.work is None:
            return f"{self.iterations:,} iterations"
        return (
            f"{self.execution}: {self.work.served:,} vertices served, "
            f"{int(self.work.useless.sum()):,} for nothing, "
            f"{int(self.work.messages.sum()):,} messages"
        )

    def redundancy(self, one: Record) -> float:
        """Return the edges traversed over those that `one`, a run on one device, traversed.

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
        """Return the columns of the record, an entry per row each.

        `iteration` is the first that a row covers, `iterations` how many.
        """
        return {
            "iteration": self.begins,
            "iterations": self.spans,
            "frontier": self.frontier,
            "edges": self.edges,
            "direction": self.direction,
            "strategy": self.strategy,
            "atomics": self.atomics,
            "microseconds": self.microseconds,
        }

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per iteration or, beyond 8,192, per several."""
        from broadfront.errors import require

        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame(self.by_iteration())

    def totals(self) -> dict[str, Any]:
        """Return the totals as plain values."""
        return {
            "iterations": self.iterations,
            "edges_visited": self.edges_visited,
            "atomics": int(self.atomics.sum()),
            "seconds": self.seconds,
            "compile_seconds": self.compile_seconds,
            "load_seconds": self.load_seconds,
            "prepare_seconds": self.prepare_seconds,
            "threads": self.threads,
            "barriers": self.barriers,
            "kernel_calls": self.kernel_calls,
            "answer_bytes": self.answer_bytes,
            "workspace_bytes": self.workspace_bytes,
            "peak_bytes": self.peak_bytes,
            "growths": self.growths,
            "order_bytes": self.order_bytes,
            "execution": self.execution,
            "why": self.why,
            **({} if self.work is None else self.work.totals()),
            **(summary(self.devices) if self.devices else {"devices": 1, "bytes_sent": 0}),
        }

    def lines(self) -> list[str]:
        """Return where it ran, how long, and what was sent, a line each."""
        sent, where = [], ""
        if self.devices:
            told = self.totals()
            sent = [f"{told['vertices_sent']:,} vertices sent between devices in "
                    f"{told['bytes_sent']:,} bytes"]  # fmt: skip
            where = f"{len(self.devices)} devices by {self.partitioner}, "
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        compiling = f", and {self.compile_seconds:.1f} s compiling" if self.compile_seconds else ""
        if self.order_bytes:
            sent = [f"vertices by degree, in {size_text(self.order_bytes)} beside the graph"]
        return [*sent, f"{self.seconds * 1e3:,.2f} ms on {where}{threads}{compiling}"]

    def __repr__(self) -> str:
        lines = [f"{self.course}, {self.edges_visited:,} edges traversed"]
        if self.why and self.work is not None:
            lines.append(f"asynchronously: {self.why}")
        if self.coarse:
            lines.append(f"{len(self.spans):,} rows, of which some cover several iterations, "
                         f"up to {self.spans.max():,}")  # fmt: skip
        return "\n  ".join([*lines, *self.lines()])


def _ways_text(ways: int) -> str:
    return "+".join(name for bit, name in enumerate(WAYS) if ways >> bit & 1)


def joined(records: Sequence[Record]) -> Record:
    """Return one record of several runs, one after the other; an empty one of none."""
    if not records:
        none = np.empty(0, np.int64)
        bytes_ = np.zeros((1, 2), np.int64)
        return Record(0, none, none, none, none, none, none / 1000, 0.0, 0.0, 0.0, 0, 0, 0, bytes_)
    together: dict[str, Any] = {}
    for name in (field.name for field in fields(Record)):
        values = [getattr(record, name) for record in records]
        if isinstance(values[0], np.ndarray):
            together[name] = np.concatenate(values)
        elif name == "devices":
            together[name] = one_after_the_other([value for value in values if value])
        elif name == "profile":
            together[name] = largest(values)
        elif name == "partitioner":
            together[name] = values[0]
        elif name == "work":
            together[name] = added([value for value in values if value is not None])
        elif name in ("execution", "why"):
            together[name] = ", then ".join(filter(None, dict.fromkeys(values)))
        else:
            largest_of = name in ("threads", "order_bytes")
            together[name] = max(values) if largest_of else sum(values)
    return Record(**together)
