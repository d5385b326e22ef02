"""Measuring: every way once unmeasured and checked, then all in turn; then once more, counting.

The answer of the operators is checked by its serial verifier, those of other models against it, and
searches of Graph500 by the rules of the benchmark. Only calls are timed, compiling apart. Bytes are
counted in a run of its own, on one thread, whose loops are compiled to count.

Invariant: `Study.findings` is whole at any time, so a study that is stopped has what it measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from broadfront import threads
from broadfront.characterize import searches
from broadfront.characterize.cases import Case, degree_specs, skew_specs, tree
from broadfront.characterize.findings import COUNTED, DERIVED, Facts, Findings, Row, Step
from broadfront.characterize.ways import (
    FROM_A_SOURCE,
    ITERATIONS,
    MODELS,
    OPERATORS,
    PRIMITIVES,
    WAYS,
    Outcome,
)
from broadfront.clock import Clock
from broadfront.errors import OptionError, VerificationError
from broadfront.given import is_one_of, listed, whole
from broadfront.graph.csr import Graph
from broadfront.graph.generate import generate
from broadfront.graph.read import read
from broadfront.graph500.index import index_edges
from broadfront.report.record import Record
from broadfront.report.table import seconds_text
from broadfront.report.teps import edges_reached
from broadfront.scaling.measure import others_at_work
from broadfront.traffic import counting

Tell = Callable[[str], None]
GRAPHS = ("kron:13", "rgg:13", "grid:90x90")
CLOSE = (1e-6, 1e-15)
"""Relative and absolute: ranks of large graphs are tiny."""
SWEPT = {"tree": ("bfs", "sssp"), "degree": ("bfs",), "skew": ("bfs", "pagerank")}
"""The primitives of studies on graphs made for them."""


@dataclass(frozen=True)
class Settings:
    """What is run.

    Attributes
    ----------
    graphs
        Files or generated graphs, or `Graph` objects.
    primitives
        Of `PRIMITIVES`.
    threads
        Of each run; None for as many as there are cores.
    repeats
        How often each run is timed.
    traffic
        Whether bytes are counted, which compiles every loop once more.
    sweeps
        Whether trees, degrees and skews are studied, too.
    scale
        Graphs of the sweeps have 2^scale vertices.
    """

    graphs: Sequence[str | Graph] = GRAPHS
    primitives: Sequence[str] = PRIMITIVES
    threads: int | None = None
    repeats: int = 5
    traffic: bool = True
    sweeps: bool = True
    scale: int = 12

    def __post_init__(self) -> None:
        for name, least in (("repeats", 1), ("scale", 7)):
            if whole(getattr(self, name), name) < least:
                raise OptionError(f"{name}={getattr(self, name)}: expected {least} or more")
        listed(self.primitives, "primitives")
        listed(self.graphs, "graphs")
        for name in self.primitives:
            if not is_one_of(name, PRIMITIVES):
                raise OptionError(f"primitive {name!r}: unknown; known: {' '.join(PRIMITIVES)}")
        if not self.graphs:
            raise OptionError("graphs: expected one or more")

    def plain(self) -> dict[str, Any]:
        """Return the settings as values that JSON has."""
        told = {**vars(self), "graphs": list(map(name_of, self.graphs))}
        told["primitives"] = list(self.primitives)
        return {**told, "threads": self.threads or threads.count()}


def name_of(graph: str | Graph) -> str:
    """Return what a graph is called."""
    return graph.origin.name if isinstance(graph, Graph) else graph


def study(*, tell: Tell | None = None, **settings: Any) -> Findings:
    """Measure what the models and the searches do on this machine.

    Parameters
    ----------
    tell
        Called with a line whenever there is news.
    settings
        What to run: `broadfront.characterize.Settings`.

    Returns
    -------
    Findings
        After Ctrl-C those so far, with `stopped` true.
    """
    made = Study(Settings(**settings), tell or (lambda line: None))
    try:
        made.run()
    except KeyboardInterrupt:
        assert made.findings.stopped
    return made.findings


class Study:
    """Runs a study into `findings`."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        self.findings = Findings(settings.plain(), notes=others_at_work())
        self._settings, self._tell = settings, tell
        self._options = {"threads": settings.threads or threads.count()}

    def run(self) -> None:
        """Measure everything."""
        try:
            with threads.limit(self._options["threads"]):
                for given in self._settings.graphs:
                    self._on_graph(given)
                if self._settings.sweeps:
                    self._sweep()
        except KeyboardInterrupt:
            self.findings.stopped = True
            raise

    def _on_graph(self, given: str | Graph) -> None:
        self._tell(f"{name_of(given)}: loading")
        case = Case(name_of(given), given if isinstance(given, Graph) else read(given))
        for primitive in self._settings.primitives:
            self._models(Row("models", case.name, primitive, ""), case, self._settings.traffic)
        if "bfs" in self._settings.primitives:
            self._searches(case)

    def _sweep(self) -> None:
        """Run on graphs that differ in one thing alone."""
        scale = self._settings.scale
        wanted = {study: [name for name in names if name in self._settings.primitives]
                  for study, names in SWEPT.items()}  # fmt: skip
        if wanted["tree"]:
            levels = scale // 2 + 1
            case = Case(f"tree of {levels} levels", tree(levels))
            for primitive in wanted["tree"]:
                self._models(Row("tree", case.name, primitive, ""), case)
        for family, spec, degree in degree_specs(scale) if wanted["degree"] else ():
            row = Row("degree", spec, "bfs", "", family, degree)
            self._models(row, Case(spec, generate(spec)))
        for spec, ratio in skew_specs(scale) if wanted["skew"] else ():
            case = Case(spec, generate(spec))
            for primitive in wanted["skew"]:
                self._models(Row("skew", spec, primitive, "", "R-MAT", ratio), case)

    def _models(self, empty: Row, case: Case, traffic: bool = False) -> None:
        """Add a row for each model, and facts of the graph by the first."""
        ways = WAYS[empty.primitive]
        outcomes = {name: way(case.graph, case.source, **self._options)
                    for name, way in ways.items()}  # fmt: skip
        check(case.name, empty.primitive, outcomes)
        trials: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(self._settings.repeats):
            for name, way in ways.items():
                clock = Clock()
                outcomes[name] = way(case.graph, case.source, **self._options)
                trials[name].append(clock.seconds)
        own = outcomes[OPERATORS]
        if empty.study == "models" and all(one.graph != case.name for one in self.findings.graphs):
            self.findings.graphs.append(facts_of(case))
        credited = _credited(case, empty.primitive, own)
        found = []
        for name in ways:
            row = replace(empty, way=name, trials=tuple(trials[name]), edges_reached=credited)
            row = replace(row, **_counted(outcomes[name].record, row, case.graph))
            if traffic:
                with counting() as counted:
                    ways[name](case.graph, case.source, threads=1)
                row = replace(row, traffic=counted.by_kind(), traffic_by=COUNTED)
            found.append(row)
        self._add(found)

    def _searches(self, case: Case) -> None:
        """Add a row for each search of Graph500."""
        edges = case.edges
        index = index_edges(replace(edges))
        found = []
        for name, one in searches.SEARCHES.items():
            done = searches.run(
                one, case.graph, edges, index, case.source, self._settings.repeats
            )  # fmt: skip
            row = Row(
                "searches", case.name, "bfs", name, trials=done.search_seconds, lines=one.lines,
                edges_reached=done.edges_reached, iterations=done.iterations,
                barriers=done.counts.barriers,
                kernel_calls=done.counts.kernel_calls, edges_visited=done.edges_visited,
                traffic={"all": (done.counts.bytes_read, done.counts.bytes_written)},
                traffic_by=DERIVED, memory_bytes=done.memory_bytes,
            )  # fmt: skip
            phases = {"kernel 1": done.build_seconds, "kernel 2": row.seconds,
                      "validation": done.validate_seconds}  # fmt: skip
            found.append(replace(row, phases=phases))
        self._add(found)

    def _add(self, rows: list[Row]) -> None:
        self.findings.rows += rows
        told = ", ".join(f"{row.way} {seconds_text(row.seconds)}" for row in rows)
        self._tell(f"{rows[0].graph}, {rows[0].primitive}: {told}")


def check(graph: str, primitive: str, outcomes: dict[str, Outcome]) -> None:
    """Verify the first answer, and compare the others with it."""
    own = outcomes[OPERATORS]
    if own.result is not None and primitive != "pagerank":  # 20 iterations need not be enough
        own.result.verify()
    for name in MODELS:
        answer = outcomes[name].answer
        if not np.allclose(answer, own.answer, *CLOSE):
            vertex = int(np.argmax(~np.isclose(answer, own.answer, *CLOSE)))
            raise VerificationError(
                f"{primitive} on {graph}",
                f"{name} has {answer[vertex]} at vertex {vertex}, {OPERATORS} {own.answer[vertex]}",
            )


def facts_of(case: Case) -> Facts:
    """Return what a graph is like."""
    graph = case.graph
    levels = WAYS["bfs"][OPERATORS](graph, case.source).answer.max()
    return Facts(
        case.name, graph.num_vertices, graph.num_edges, float(graph.degrees.mean()),
        graph.max_degree, int(levels),
    )  # fmt: skip


def _credited(case: Case, primitive: str, own: Outcome) -> int:
    """Return the edges that a primitive is credited with, in whichever way it is run."""
    if primitive not in FROM_A_SOURCE:
        return case.graph.num_edges * (ITERATIONS if primitive == "pagerank" else 1)
    reached = (own.answer >= 0) & (own.answer < np.inf)
    return edges_reached(case.graph, reached)


def _counted(record: Record, row: Row, graph: Graph) -> dict[str, Any]:
    """Return what the record of the last repeat tells."""
    pushing = float(record.microseconds[~record.pulled].sum()) / 1e6
    pulling = float(record.microseconds[record.pulled].sum()) / 1e6
    outside = max(0.0, row.trials[-1] - pushing - pulling)
    keeps_steps = row.primitive in FROM_A_SOURCE and not record.coarse
    return {
        "iterations": record.iterations,
        "barriers": record.barriers,
        "kernel_calls": record.kernel_calls,
        "atomics": int(record.atomics.sum()),
        "edges_visited": record.edges_visited,
        "memory_bytes": record.peak_bytes + _bytes_of(graph, row.primitive),
        "phases": {"push and all else": pushing, "pull": pulling, "outside the loop": outside},
        "steps": tuple(
            Step(int(size), int(edges), float(time), bool(pulled))
            for size, edges, time, pulled in zip(
                record.frontier, record.edges, record.microseconds, record.pulled, strict=True
            )
        ) if keeps_steps else (),
    }  # fmt: skip


def _bytes_of(graph: Graph, primitive: str) -> int:
    """Return the memory of the graph's rows, with weights where they are read."""
    weights = graph.weights if primitive == "sssp" else None
    return graph.offsets.nbytes + graph.targets.nbytes + (0 if weights is None else weights.nbytes)
