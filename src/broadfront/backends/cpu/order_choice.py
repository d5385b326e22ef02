"""Whether a run on one device has the graph as it is, or in the order of degrees.

The order (`broadfront.partition.by_degree`) costs more than many runs take. So time is counted
that runs have taken which would have gained from it. When what it would have saved has probably
passed what it costs, it is made, and the runs after that have it. Whatever comes then, both
together cost at most about twice what the better one of them costs: the rule of those who rent
before they buy. If it does not pay for a program after all, that program runs on the graph as it
is again. What counts is the quickest of the last runs, as other load only adds to it; and now and
then, more and more seldom, a run goes the way that was slower, in case that was chance.

Not made are orders for small graphs, for graphs whose degrees are much alike or whose ids have
locality, for mapped graphs, under a memory limit, where memory or time are short, or where
``BROADFRONT_KEEP`` is less than 1. ``relabel=True`` asks for it at once, ``relabel=False`` never.

Invariant: equal calls of a program whose answer depends on the order of edges, in its last bits,
have the same order. So for such programs the call alone decides.

References
----------
Karlin, Manasse, Rudolph, Sleator: Competitive snoopy caching (Algorithmica 1988), for when to buy.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import replace

from broadfront import keeping
from broadfront import threads as thread_settings
from broadfront.backends.contract import Job, Rows, Run
from broadfront.backends.cpu import batch
from broadfront.backends.cpu.alone import RunAlone, thread_count
from broadfront.backends.cpu.memory.need import Case
from broadfront.backends.cpu.relabelled import RelabelledRows, RelabelledRun
from broadfront.clock import Clock, preparing, time_left
from broadfront.devices.profile import FIXED
from broadfront.errors import OutOfMemoryError
from broadfront.execution.program import Program
from broadfront.execution.relabelling import Relabelling, relabelling
from broadfront.graph.csr import Graph
from broadfront.partition import by_degree
from broadfront.partition.groups import degrees_differ
from broadfront.report.record import Record

SECONDS_PER_ARC = 1e-8
"""What an arc of the order costs a thread, about, and one with a weight half as much again."""
SAVED = 0.35
"""How much of the time in a loop the order saves, about."""
LITTLE = 0.05
"""What it saves of a run at least, so that the next few are looked at."""
BEGINNING, PER_VALUE, PER_VERTEX = 2e-4, 5e-10, 1e-9
"""Seconds that it takes to put an answer back: at all, for a value, and more for a vertex."""
COUNTS = 8
"""A run counts that went from every so many vertices at least."""
LATELY, ENOUGH, FIRST_GAP = 15, 5, 16
"""Runs that are compared, runs that are enough to, and after how many the slower way has a turn."""
ROWS_ENOUGH, EXACT_ROWS_ENOUGH = 8, 64
"""Rows of one call that are worth the order: of sums level by level, and of single fields."""


class Comparison:
    """The seconds of the last runs of a program, on the graph as it is and in the order."""

    def __init__(self) -> None:
        self._times = (deque[float](maxlen=LATELY), deque[float](maxlen=LATELY))
        self._gap = self._left = FIRST_GAP

    def note(self, seconds: float, in_order: bool) -> None:
        """Note a run."""
        self._times[in_order].append(seconds)

    @property
    def is_lost(self) -> bool:
        """Whether the order has not paid."""
        before, after = self._times
        return min(len(before), len(after)) >= ENOUGH and min(after) > min(before)

    def takes_turn(self) -> bool:
        """Tell whether it is the turn of the slower way, and count the turn."""
        if min(map(len, self._times)) < ENOUGH:
            return False
        self._left -= 1
        if self._left >= 0:
            return False
        self._gap *= 2
        self._left = self._gap
        return True


class Ledger:
    """What runs on a graph have taken."""

    def __init__(self) -> None:
        self._saved = 0.0
        self._refused = False
        self._cases: dict[str, Comparison] = defaultdict(Comparison)
        self._unlikely: dict[str, int] = {}

    def note(self, record: Record, job: Job, meaning: Relabelling) -> None:
        """Note a run of a job, if it went over much of the graph."""
        if record.frontier.sum() * COUNTS < job.graph.num_vertices:
            return
        self._cases[job.program.name].note(record.seconds, record.order_bytes > 0)
        if record.order_bytes == 0:
            saved = SAVED * record.seconds - _putting_back(job, meaning)
            self._saved += max(0.0, saved)
            self._unlikely[job.program.name] = FIRST_GAP if saved < LITTLE * record.seconds else 0

    def wants(self, job: Job) -> bool:
        """Tell whether a run that has not lost should have the order, which may be there or not."""
        graph = job.graph
        case = self._cases[job.program.name]
        if not case.is_lost and case.takes_turn():
            return False
        if by_degree.is_there(graph):
            return True
        costs = _seconds(graph, thread_count(graph, job.threads))
        left = time_left()
        if self._refused or self._saved < costs or (left is not None and left < 4 * costs):
            return False
        return keeping.factor() >= 1 and 2 * by_degree.bytes_of(graph) < keeping.free_memory()

    def leaves_out(self, program: Program) -> bool:
        """Tell whether the order has not paid for a program, or hardly can, and has no turn yet."""
        unlikely = self._unlikely.get(program.name, 0)
        if unlikely > 0:
            self._unlikely[program.name] = unlikely - 1
            return True
        case = self._cases[program.name]
        return case.is_lost and not case.takes_turn()

    def spend(self, seconds: float) -> None:
        """Note how long rows have taken that would have gained."""
        self._saved += SAVED * seconds

    def refuse(self) -> None:
        """Remember that there was no memory for the order."""
        self._refused = True


def considered(job: Job) -> Run | None:
    """Return a run on one device that has the order of degrees, or may come to; None for others."""
    if job.relabel is None and _ledger(job.graph).leaves_out(job.program):
        return None
    meaning = _meaning_of(job)
    if meaning is None or any(job.init.get(name) is not None for name in meaning.united):
        return None
    ledger, clock = _ledger(job.graph), Clock()
    if job.relabel and not _fits(job):
        return None
    if job.relabel or ledger.wants(job):
        order = _order(job, ledger)
        if order is not None:
            return RelabelledRun(
                job._replace(clock=clock, memory_limit=_left(job, order)), order, meaning,
                lambda record: ledger.note(record, job, meaning),
            )  # fmt: skip
    return None if job.relabel else _Counted(job, meaning, ledger)


def run_rows(job: Job, given: Rows, count: int) -> Record:
    """Run rows by themselves, on the graph as it is or in the order of degrees."""
    meaning = None if job.memory_limit is not None else _meaning_of(job)
    if meaning is None:
        return batch.run_rows(job, given, count)
    ledger, clock = _ledger(job.graph), Clock()
    order = _order(job, ledger) if job.relabel or ledger.wants(job) else None
    if order is None:
        record = batch.run_rows(job, given, count)
        ledger.spend(record.seconds)
        return record
    with thread_settings.limit(count):
        rows = RelabelledRows(given, job.program, order, meaning)
    record = batch.run_rows(job._replace(graph=order.graph, clock=clock), rows.placed, count)
    with thread_settings.limit(count):
        rows.put_back()
    return replace(record, seconds=clock.run_seconds, order_bytes=order.nbytes)


def _meaning_of(job: Job) -> Relabelling | None:
    """Return how a program runs with vertices numbered anew; None if it shall not, or may not.

    Without a word on it a program may whose answer does not tell.
    """
    graph = job.graph
    if job.relabel is False or job.checked or graph.mapped:
        return None
    if not (degrees_differ(graph) if job.relabel else by_degree.pays(graph)):
        return None
    meaning = relabelling(job.program, graph)
    if meaning is None or job.relabel:
        return meaning
    return meaning if meaning.exact and job.memory_limit is None else None


def worth_an_order(program: Program, graph: Graph, rows: int) -> bool:
    """Tell whether so many rows gain from the order, by the call alone."""
    if rows < ROWS_ENOUGH or not by_degree.pays(graph):
        return False
    meaning = relabelling(program, graph)
    return meaning is not None and (rows >= EXACT_ROWS_ENOUGH or not meaning.exact)


class _Counted(RunAlone):
    """A run on the graph as it is, which would gain from the order."""

    def __init__(self, job: Job, meaning: Relabelling, ledger: Ledger) -> None:
        super().__init__(job)
        self._noted = lambda record: ledger.note(record, job, meaning)

    def record(self) -> Record:
        """Return the record of the run, and note how long it took."""
        record = super().record()
        self._noted(record)
        return record


def _ledger(graph: Graph) -> Ledger:
    ledger: Ledger = graph.kept("order ledger", lambda: (Ledger(),))[0]
    return ledger


def _order(job: Job, ledger: Ledger) -> by_degree.ByDegree | None:
    """Return the order of a graph, made if it is not there; None without memory for it."""
    graph = job.graph
    try:
        with preparing(), thread_settings.limit(thread_count(graph, job.threads)):
            return by_degree.by_degree(graph)
    except (MemoryError, OutOfMemoryError):
        if job.relabel:
            raise
        ledger.refuse()
        return None


def _left(job: Job, order: by_degree.ByDegree) -> int | None:
    """Return what a memory limit leaves to a run beside the graph as it is."""
    if job.memory_limit is None:
        return None
    return job.memory_limit - job.graph.nbytes - order.ids.nbytes - order.places.nbytes


def _fits(job: Job) -> bool:
    """Tell whether a run with the order is sure to stay within the memory limit."""
    if job.memory_limit is None:
        return True
    graph = job.graph
    program = job.program.on(graph.targets.dtype)
    threads = thread_count(graph, job.threads)
    case = Case(program, graph, graph.num_vertices, threads, FIXED)
    answer = sum(field.storage.itemsize * field.places(graph.num_vertices, graph.num_arcs)
                 for field in program.fields.values())  # fmt: skip
    most = case.bytes_at_first(at_most=True)[0] + by_degree.bytes_of(graph) + answer
    return most <= job.memory_limit


def _seconds(graph: Graph, threads: int) -> float:
    """Return about how long the order takes to make."""
    arcs = graph.num_arcs * (1.5 if graph.weighted else 1.0)
    return SECONDS_PER_ARC * arcs * (2 if graph.directed else 1) / threads


def _putting_back(job: Job, meaning: Relabelling) -> float:
    """Return about how long it takes to put the answer back into the order of ids."""
    fields = [name for name, field in job.program.fields.items() if field.per_vertex]
    named = len(meaning.recorded | meaning.united)
    each = PER_VALUE * (len(fields) - named) + (PER_VALUE + PER_VERTEX) * named
    return BEGINNING + each * job.graph.num_vertices
