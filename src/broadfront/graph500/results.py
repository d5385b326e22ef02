"""What a run of the benchmark found, as the official block of text and as plain values.

TEPS are tuples of the list within the reached component over seconds. Their statistics are those of
seconds per tuple turned around, so that the mean is harmonic.

References
----------
Graph500 benchmark specification 3.0, section 9 (output), and the layout of its reference code 3.0.
Norris: The standard errors of the geometric and harmonic means (Annals of Mathematical Statistics,
1940), for the deviation of the harmonic mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from broadfront.report.machine import machine

KERNELS = ("bfs", "sssp")
FIVE = ("min", "firstquartile", "median", "thirdquartile", "max")
VALUES_FROM = 32
"""The column at which the values of the block begin."""


@dataclass(frozen=True)
class Search:
    """One search from one root; without validation its seconds are -1."""

    root: int
    seconds: float
    edges: int
    """Tuples of the list with both ends reached."""
    validation_seconds: float


@dataclass
class Outcome:
    """All that was measured, of a run that may have been stopped."""

    implementation: str
    scale: int
    edge_factor: int
    seed: int
    devices: int = 1
    generation_seconds: float = 0.0
    construction_seconds: float = 0.0
    searches: dict[str, list[Search]] = field(default_factory=dict)

    def harmonic_mean(self, kernel: str = "bfs") -> float:
        """Return the figure that the benchmark ranks by: traversed edges per second."""
        return teps(self.searches[kernel])["harmonic_mean"]

    def facts(self) -> dict[str, Any]:
        """Return names and values of the official block."""
        measured = {name: found for name, found in self.searches.items() if found}
        facts: dict[str, Any] = {
            "SCALE": self.scale,
            "edgefactor": self.edge_factor,
            "NBFS": len(self.searches.get("bfs", ())),
            "graph_generation": self.generation_seconds,
            "num_mpi_processes": 1,
            "construction_time": self.construction_seconds,
        }
        for name, found in measured.items():
            facts |= _named(name, "time", spread([search.seconds for search in found]))
        for found in list(measured.values())[:1]:
            facts |= _named("", "nedge", spread([search.edges for search in found]))
        for name, found in measured.items():
            facts |= _named(name, "TEPS", teps(found))
        for name, found in measured.items():
            times = spread([search.validation_seconds for search in found])
            facts |= _named(name, "validate", times)
        return facts

    def block(self) -> list[str]:
        """Return the lines of the official block."""
        lines = []
        for name, value in self.facts().items():
            mark = "!  " if name.endswith("harmonic_mean_TEPS") else ""
            digits = 12 if name.endswith("nedge") else 6
            lines.append(f"{name + ':':<{VALUES_FROM - len(mark)}}{mark}{value:.{digits}g}")
        return lines

    def to_plain(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {**asdict(self), "block": self.facts(), "machine": machine()}


def spread(values: Sequence[float]) -> dict[str, float]:
    """Return the smallest, the quartiles, the largest, mean and standard deviation."""
    several = len(values) > 1
    five = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return {
        **dict(zip(FIVE, five, strict=True)),
        "mean": float(np.mean(values)),
        "stddev": float(np.std(values, ddof=1)) if several else 0.0,
    }


def teps(searches: Sequence[Search]) -> dict[str, float]:
    """Return the spread of traversed edges per second, with harmonic mean and deviation.

    Examples
    --------
    >>> twice = [Search(0, 1.0, 300, 0.1), Search(1, 2.0, 300, 0.1)]
    >>> teps(twice)["harmonic_mean"]
    200.0
    """
    slowness = spread([search.seconds / search.edges for search in searches])
    mean = slowness["mean"]
    return {
        **{name: 1 / slowness[other] for name, other in zip(FIVE, reversed(FIVE), strict=True)},
        "harmonic_mean": 1 / mean,
        "harmonic_stddev": slowness["stddev"] / (mean**2 * sqrt(max(1, len(searches) - 1))),
    }


def _named(kernel: str, what: str, values: dict[str, float]) -> dict[str, float]:
    before = f"{kernel:<5}" if kernel else ""
    return {f"{before}{name}_{what}": value for name, value in values.items()}
