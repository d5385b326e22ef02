"""What plain Python offers as a back end; see `broadfront.backends.contract`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broadfront.backends.contract import Job, Rows, Run
from broadfront.backends.python.run import PythonRun
from broadfront.errors import OptionError
from broadfront.execution.asynchronous.settings import Async
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.report.record import Record


def check(where: Mapping[str, Any], asynchronous: Async | None) -> None:
    """Refuse what is for devices with a memory of their own."""
    if asynchronous is not None:
        raise OptionError("devices='python' is synchronous: leave execution='async' out")
    for name in where.keys() - {"devices"}:
        raise OptionError(f"{name}= is for devices with a memory of their own; 'python' has none")


def may_go_without_meeting() -> bool:
    """Return False: there is one device."""
    return False


def prepared(job: Job) -> Run:
    """Return a run in Python, its arguments checked."""
    return PythonRun(job)


def rows_at_once(graph: Graph, rows: int, threads: int | None) -> int:
    """Return 0: one row after the other."""
    return 0


def run_rows(job: Job, given: Rows, count: int) -> Record:
    """Refuse what `rows_at_once` never asks for."""
    raise OptionError("in Python there is one row at a time")


def worth_a_layout(graph: Graph) -> bool:
    """Return False: sums go along the graph as it is."""
    return False


def worth_an_order(program: Program, graph: Graph, rows: int) -> bool:
    """Return False: vertices keep the order of the graph."""
    return False
