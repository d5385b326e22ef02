"""What CPU devices offer as a back end; see `broadfront.backends.contract`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broadfront.backends.contract import Job, Run
from broadfront.backends.cpu.alone import RunAlone
from broadfront.backends.cpu.asynchronous.run import AsynchronousRun
from broadfront.backends.cpu.batch import rows_at_once
from broadfront.backends.cpu.many import RunOnMany
from broadfront.backends.cpu.operators import tiles
from broadfront.backends.cpu.order_choice import considered, run_rows, worth_an_order
from broadfront.backends.cpu.transports import current
from broadfront.errors import OptionError
from broadfront.execution.asynchronous.settings import Async
from broadfront.graph.csr import Graph

__all__ = [
    "check", "may_go_without_meeting", "prepared", "rows_at_once", "run_rows", "worth_a_layout",
    "worth_an_order",
]  # fmt: skip


def check(where: Mapping[str, Any], asynchronous: Async | None) -> None:
    """Refuse limits that an asynchronous run cannot keep."""
    if asynchronous is not None and "memory_limit" in where:
        raise OptionError("execution='async' takes no memory_limit: use execution='bsp' with it")


def may_go_without_meeting() -> bool:
    """Tell whether all devices are in this process: others always meet."""
    return not current().apart


def prepared(job: Job) -> Run:
    """Return a run on one device, on several that meet, or on some that do not."""
    if job.partition is None:
        return considered(job) or RunAlone(job)
    if job.asynchronous is not None:
        return AsynchronousRun(job, job.partition, job.asynchronous)
    return RunOnMany(job, job.partition)


def worth_a_layout(graph: Graph) -> bool:
    """Tell whether tiles are worth their while for a graph."""
    return tiles.suit(graph)
