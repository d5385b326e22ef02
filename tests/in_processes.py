"""What the tests of transports have done in processes of their own, and here to compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import broadfront as bf
from broadfront.algorithms.components import MIN_LABEL
from broadfront.backends.cpu import many
from broadfront.devices.choose import choose
from problems import PROBLEMS, Columns
from zoo import Animal

RING = bf.generate("cycle:60")


def _components(graph: bf.Graph, **where: Any) -> Columns:
    return bf.connected_components(graph, **where).columns()


def _triangles(graph: bf.Graph, **where: Any) -> Columns:
    return bf.triangles(graph, **where).columns()


SOLVE: dict[str, Callable[..., Columns]] = {
    **{name: problem.solve for name, problem in PROBLEMS.items()},
    "united components": _components,
    "triangles": _triangles,
}


def solved(name: str, animal: Animal, devices: int, **options: Any) -> tuple[Columns, np.ndarray]:
    """Return the answer of a problem, and the bytes that the records of all its runs tell.

    These are by the device that sent them, and the one that they went to.
    """
    told: list[Any] = []
    gathered = many.gathered

    def noted(*given: Any) -> Any:
        told.append(gathered(*given))
        return told[-1]

    many.gathered = noted
    try:
        where = {"devices": devices, "threads": 1, "partitioner": "range", "execution": "bsp"}
        where |= options
        columns = SOLVE[name](animal.graph(), **where)
    finally:
        many.gathered = gathered
    sent = np.zeros((devices, devices), np.int64)
    for record in told:
        sent += np.array([device.sent_bytes.sum(axis=0) for device in record.devices])
    return columns, sent


def min_label(devices: int, threads: int = 1, **options: Any) -> np.ndarray:
    """Return the labels of a ring, all of which are 0."""
    everyone = np.arange(60)
    parts = bf.split(RING, devices, by="range")
    answer = many.run_on(
        MIN_LABEL, parts, choose(devices, threads), everyone, {"component": everyone}, {}, **options
    )
    return answer["component"]


def run_asynchronously() -> None:
    bf.bfs(RING, 0, devices=2, execution="async")


def run_in_parts(devices: int) -> None:
    bf.bfs(RING, 0, devices=devices)


def never_content(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.value[source] + 1


ENDLESS = bf.Program(
    {"value": bf.Field(np.int64, combine="max")}, step=[bf.Advance(never_content, into="value")]
)


def run_for_ever(**options: Any) -> None:
    bf.run(ENDLESS, RING, frontier=[0], threads=1, devices=2, **options)
