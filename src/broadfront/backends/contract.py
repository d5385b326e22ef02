"""What a back end offers: a run that is compiled, given memory, begun, launched and waited for.

`execution.run` says what is to run, as a `Job`; a back end makes a `Run` of it, and `carry_out` is
the course of every run on every back end:

1. ``compile``: the sections of the program become what the back end launches.
2. ``allocate``: fields, what operators work in, what devices exchange by; given back in the end.
3. ``initialise``: fields get their first values, and devices their shares of the frontier.
4. ``launch`` and ``wait``: until all is over; ``iterations`` may be asked meanwhile.
5. ``record`` and ``collect``: what happened, and the values of all vertices in one array each.

What a program means, what it reads and writes, what must cross between devices, and what is refused
is decided above, in `execution`, and the same for all. Nothing outside a back end's folder imports
from it; what must be known of one is asked through `backends.registry`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.clock import Allowance, Clock
from broadfront.devices.choose import Device
from broadfront.devices.profile import MINIMAL, MemoryProfile
from broadfront.execution.answer import Answer
from broadfront.execution.asynchronous.settings import Async
from broadfront.execution.fields import answered
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.partition.partition import Partition
from broadfront.progress import following
from broadfront.report.record import Record

Array = NDArray[Any]

GIVEN, FILLED, AT_SOURCE = range(3)
"""What the rows of a field are at the start: as given, filled, or filled but for the source."""


class Job(NamedTuple):
    """What is to run: a program, on what, from where, and within which limits."""

    program: Program
    graph: Graph
    frontier: ArrayLike = ()
    init: Mapping[str, Any] = {}
    parameters: Mapping[str, float] = {}
    threads: int | None = None
    """Of a single device; None stands for as many as pay."""
    devices: Sequence[Device] = ()
    partition: Partition | None = None
    """None where one device has the graph as it is."""
    relabel: bool | None = None
    asynchronous: Async | None = None
    memory: MemoryProfile = MINIMAL
    memory_limit: int | None = None
    time_limit: float | None = None
    checked: bool = False
    clock: Clock | None = None
    """Runs since before the graph was split for this run."""
    fault: tuple[int, int, int] | None = None
    """Makes a device fail, for tests: its number, a block of the loop, and after how often."""
    jitter: int = 0
    """The seed of random delays, for tests; 0 for none."""


class Rows(NamedTuple):
    """Runs of a program from many sources: a row of every field for each."""

    sources: NDArray[np.int64]
    arrays: Mapping[str, Array]
    begins: tuple[int, ...]
    first: tuple[Array, ...]
    """For each field the values at the sources."""


class Run(Protocol):
    """One run on a back end."""

    program: Program
    """Its dtypes settled."""

    def compile(self) -> None:
        """Make of the program's sections what is launched; refuse what cannot be."""

    def allocate(self, kept: ExitStack) -> None:
        """Get all memory of the run; `kept` gives back in the end what is only lent."""

    def initialise(self) -> None:
        """Give fields their first values, and devices their frontiers, or see to it."""

    def launch(self, time_limit: float | None) -> None:
        """Make ready for `wait`, within so many seconds."""

    def wait(self) -> bool:
        """Wait, or work, until the devices are done; tell whether to launch again."""

    def iterations(self) -> int:
        """Return how many iterations there were so far, from any thread."""

    def interrupt(self) -> None:
        """Have the devices stop as soon as they can, from any thread."""

    def record(self) -> Record:
        """Return the record of the run that has ended."""

    def collect(self) -> tuple[Mapping[str, Array], NDArray[np.int64]]:
        """Return the arrays of all fields, and the positions left in the frontier, in order."""


class Backend(Protocol):
    """What a module of a back end has at its top level."""

    def check(self, where: Mapping[str, Any], asynchronous: Async | None) -> None:
        """Refuse options of `run` that say where and how it runs, and have no meaning here."""

    def may_go_without_meeting(self) -> bool:
        """Tell whether several devices may run asynchronously where that is left open."""

    def prepared(self, job: Job) -> Run:
        """Return a run of a job, its arguments checked."""

    def rows_at_once(self, graph: Graph, rows: int, threads: int | None) -> int:
        """Return how many rows run at once, each by itself; 0 if each should have all threads."""

    def run_rows(self, job: Job, given: Rows, count: int) -> Record:
        """Run the rows, so many at once, into their arrays; return the record of all."""

    def worth_a_layout(self, graph: Graph) -> bool:
        """Tell whether sums over neighbours gain from a layout of the graph made for them."""

    def worth_an_order(self, program: Program, graph: Graph, rows: int) -> bool:
        """Tell whether so many rows gain from vertices in another order, by these alone."""


def carry_out(run: Run, time_limit: float | None = None) -> Answer:
    """Take a run from its beginning to its end."""
    with Allowance(time_limit) as left, ExitStack() as kept:
        run.compile()
        run.allocate(kept)
        run.initialise()
        again = True
        while again:
            run.launch(left())
            with following(run.program.name, run.iterations, run.interrupt):
                again = run.wait()
        record = run.record()
        fields, frontier = run.collect()
    return Answer(answered(run.program, fields), frontier, record)
