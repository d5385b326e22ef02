"""The flow of the benchmark: generate, construct, draw roots, then search and validate each.

    1. draw the list of edges                        timed apart
    2. kernel 1: build a structure from the list     timed
    3. draw the roots, index the list                untimed
    4. kernel 2: a breadth-first tree per root       timed, each validated, untimed
    5. kernel 3: shortest paths per root             the same

Compiling is no part of any time. Nobody is told of progress inside what is timed.

Invariant: every search that is counted has been validated, unless validation was declined; one that
breaks a rule stops the run with `VerificationError`.

References
----------
Murphy, Wheeler, Barrett, Ang: Introducing the Graph 500 (2010). Specification 3.0, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from broadfront.clock import Clock, check_time
from broadfront.errors import OptionError
from broadfront.given import flag, is_one_of, listed, whole
from broadfront.graph500.edges import EdgeList, draw_edges, draw_roots
from broadfront.graph500.implementations import Implementation
from broadfront.graph500.index import EdgeIndex, index_edges
from broadfront.graph500.results import KERNELS, Outcome, Search
from broadfront.graph500.validate import check_distances, check_levels
from broadfront.progress import unheard

ROOTS_PER_LINE = 16

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """What is run."""

    scale: int
    edge_factor: int = 16
    roots: int = 64
    seed: int = 0
    kernels: tuple[str, ...] = ("bfs",)
    validate: bool = True

    def __post_init__(self) -> None:
        for name, least in (("scale", 1), ("edge_factor", 1), ("roots", 1)):
            given = getattr(self, name)
            if whole(given, name) < least:
                raise OptionError(f"{name}={given}: expected {least} or more")
        whole(self.seed, "seed")
        flag(self.validate, "validate")
        listed(self.kernels, "kernels")
        for name in self.kernels:
            if not is_one_of(name, KERNELS):
                raise OptionError(f"kernel {name!r}: unknown; known: {' '.join(KERNELS)}")


class Input:
    """The list of edges, its roots and its index, for one implementation after the other."""

    def __init__(self, settings: Settings) -> None:
        clock = Clock()
        self.edges = draw_edges(
            settings.scale, settings.edge_factor, settings.seed, "sssp" in settings.kernels
        )
        self.seconds = clock.seconds
        self.roots: list[int] = draw_roots(self.edges, settings.roots, settings.seed).tolist()
        if not self.roots:
            raise OptionError(f"scale={settings.scale}: no edge joins two vertices; take a larger")
        self._index: EdgeIndex | None = None

    def index(self, keep_edges: bool) -> EdgeIndex:
        """Return the index; it uses up the list unless that is to be kept."""
        if self._index is None:
            self._index = index_edges(replace(self.edges) if keep_edges else self.edges)
        return self._index


class Benchmark:
    """A run of the benchmark; `outcome` grows while it lasts."""

    def __init__(
        self, settings: Settings, implementation: Implementation, tell: Tell, devices: int = 1
    ) -> None:
        if "sssp" in settings.kernels and implementation.find_paths is None:
            raise OptionError(f"implementation {implementation.name!r} has no kernel for sssp")
        self._settings, self._implementation, self._tell = settings, implementation, tell
        self.outcome = Outcome(
            implementation.name, settings.scale, settings.edge_factor, settings.seed, devices
        )

    def run(self, given: Input | None = None) -> Outcome:
        """Run all of it, on edges of its own or on those given, which are then kept."""
        outcome, settings = self.outcome, self._settings
        edges_of = given or Input(settings)
        outcome.generation_seconds = edges_of.seconds
        tuples = len(edges_of.edges)
        self._tell(f"{tuples:,} edges generated in {outcome.generation_seconds:.2f} s")
        with unheard():
            clock = Clock()
            structure = self._implementation.build(edges_of.edges)
            outcome.construction_seconds = clock.seconds
        self._tell(f"kernel 1, construction: {outcome.construction_seconds:.3f} s")
        index = None
        if settings.validate:
            index = edges_of.index(keep_edges=given is not None)
        for kernel in settings.kernels:
            self._search_all(kernel, structure, edges_of, index)
        return outcome

    def _search_all(
        self, kernel: str, structure: Any, given: Input, index: EdgeIndex | None
    ) -> None:
        search: Any = {"bfs": self._implementation.search, "sssp": self._implementation.find_paths}
        check = {"bfs": check_levels, "sssp": check_distances}
        found = self.outcome.searches.setdefault(kernel, [])
        for number, root in enumerate(given.roots, 1):
            check_time()
            with unheard():
                clock = Clock()
                answer = search[kernel](structure, root)
                seconds = clock.seconds
            clock = Clock()
            if index is None:
                found.append(Search(root, seconds, count_edges(given.edges, answer.parent), -1.0))
            else:
                edges = check[kernel](index, root, *answer)
                found.append(Search(root, seconds, edges, clock.seconds))
            if number % ROOTS_PER_LINE == 0 or number == len(given.roots):
                valid = "" if index is None else ", all valid"
                rate = self.outcome.harmonic_mean(kernel) / 1e6
                self._tell(
                    f"{kernel}, {number} of {len(given.roots)} roots{valid}: {rate:,.1f} MTEPS"
                )


def count_edges(edges: EdgeList, parent: Any) -> int:
    """Return how many tuples of the list have both ends reached."""
    reached = parent >= 0
    return int(np.count_nonzero(reached[edges.source] & reached[edges.target]))
