"""Numbers against a base: what the paper's figures show.

The base of a row is the row of its study that it is compared with: one device for scaling, random
for partitioners, relabelled for ids, the first for memory schemes. `speed_up` compares edges per
second, so that it means the same where graphs grow with devices; on one graph it is time over time.

Means over graphs are geometric, as those of ratios should be.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import NamedTuple, TypeVar

from broadfront.scaling.findings import Row

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Relation:
    """A row over its base; `speed_up` above 1 is quicker."""

    speed_up: float
    relative_time: float
    relative_memory: float
    relative_workload: float
    relative_partition_time: float


class Spread(NamedTuple):
    """A geometric mean, and what it lies between."""

    mean: float
    least: float
    most: float


def against_base(rows: Iterable[Row]) -> dict[Row, Relation]:
    """Return each row's relation to its base; rows without a time or without a base have none."""
    done = [row for row in rows if row.seconds is not None]
    bases: dict[Hashable, Row] = {}
    for row in done:
        if is_base(row):
            bases.setdefault(_cell(row), row)
    return {row: relation(row, bases[_cell(row)]) for row in done if _cell(row) in bases}


def is_base(row: Row) -> bool:
    """Tell whether other rows of a study are compared with this one; of schemes the first is."""
    return {"partitioners": row.partitioner == "random", "ids": row.ids == "relabelled",
            "memory": True}.get(row.study, row.devices == 1)  # fmt: skip


def relation(row: Row, base: Row) -> Relation:
    """Return how a row compares with another."""
    assert row.seconds is not None
    assert base.seconds is not None
    assert row.teps is not None
    assert base.teps is not None
    return Relation(
        speed_up=_over(row.teps, base.teps),
        relative_time=_over(row.seconds, base.seconds),
        relative_memory=_over(row.memory_bytes, base.memory_bytes),
        relative_workload=_over(row.edges_visited, base.edges_visited),
        relative_partition_time=_over(row.partition_seconds, base.partition_seconds),
    )


def spread(values: Sequence[float]) -> Spread:
    """Return the geometric mean of positive numbers, the smallest and the largest."""
    return Spread(geometric_mean(values), min(values), max(values))


def grouped(
    relations: dict[Row, Relation],
    value: Callable[[Row, Relation], float],
    by: Callable[[Row], Key],
) -> dict[Key, Spread]:
    """Return the spread of a value over the rows that are alike `by` something."""
    found: dict[Key, list[float]] = {}
    for row, related in relations.items():
        if (number := value(row, related)) > 0:
            found.setdefault(by(row), []).append(number)
    return {key: spread(numbers) for key, numbers in found.items()}


def _cell(row: Row) -> Hashable:
    """Return what a row and its base have in common; in weak scaling graphs differ by devices."""
    graph = "" if row.study.startswith("weak") else row.graph
    return row.study, row.family, graph, row.primitive


def _over(here: float, there: float) -> float:
    """Return a ratio; nothing against nothing is 1."""
    if there == 0:
        return 1.0 if here == 0 else float("inf")
    return here / there
