"""The record of a run: an entry per iteration, and totals. Always on, because it costs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.devices import control
from broadfront.devices.workspace import Workspace
from broadfront.operators.cpu import frontier

if TYPE_CHECKING:
    import pandas

Array = NDArray[Any]


@dataclass(frozen=True)
class Record:
    """What a run did.

    Attributes
    ----------
    iterations
        How many there were; the arrays below have an entry for each of the first 65,536.
    frontier, edges, pulled, microseconds
        Per iteration: vertices, arcs looked at, direction, time.
    seconds, compile_seconds
        Time on the wall, and of compiling apart from it.
    barriers, kernel_calls, threads
        Meetings of all threads, compiled calls from Python, and how many threads there were.
    workspace_bytes
        Memory held beside the graph and the answer.
    """

    iterations: int
    frontier: Array
    edges: Array
    pulled: Array
    microseconds: Array
    seconds: float
    compile_seconds: float
    threads: int
    barriers: int
    kernel_calls: int
    workspace_bytes: int

    @property
    def edges_visited(self) -> int:
        """Arcs looked at in all."""
        return int(self.edges.sum())

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per iteration."""
        from broadfront.errors import require

        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame(
            {
                "frontier": self.frontier,
                "edges": self.edges,
                "direction": np.where(self.pulled, "pull", "push"),
                "microseconds": self.microseconds,
            }
        )

    def totals(self) -> dict[str, int | float]:
        """Return the totals as plain values."""
        return {
            "iterations": self.iterations,
            "edges_visited": self.edges_visited,
            "seconds": self.seconds,
            "compile_seconds": self.compile_seconds,
            "threads": self.threads,
            "barriers": self.barriers,
            "kernel_calls": self.kernel_calls,
            "workspace_bytes": self.workspace_bytes,
        }


def recorded(
    workspace: Workspace,
    work: frontier.Work,
    iterations: int,
    threads: int,
    clock: Clock,
) -> Record:
    """Return the record of the run that has just ended in `workspace`."""
    rows = min(iterations, frontier.RECORD_ROWS)
    columns = frontier.RECORD_COLUMNS
    table = work.record[: rows * columns].reshape(rows, columns).copy()
    nanoseconds = table[:, frontier.R_END] - table[:, frontier.R_BEGIN]
    return Record(
        iterations,
        table[:, frontier.R_FRONTIER],
        table[:, frontier.R_EDGES],
        table[:, frontier.R_PULLING].astype(bool),
        nanoseconds / 1000,
        clock.seconds,
        clock.compile_seconds,
        threads,
        int(workspace.team.control[0, control.BARRIERS]),
        1,
        workspace.nbytes,
    )
