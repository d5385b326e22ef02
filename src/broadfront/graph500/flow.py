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

from broadfront import threads
from broadfront.clock import Clock, check_time
from broadfront.errors import OptionError
from broadfront.given import count, flag, is_one_of, listed, whole
from broadfront.graph500.edges import EDGES_PER_PIECE, draw_edges, draw_roots
from broadfront.graph500.implementations import Implementation
from broadfront.graph500.index import EdgeIndex, index_edges
from broadfront.graph500.on_disk import little_of
from broadfront.graph500.results import KERNELS, Outcome, Search
from broadfront.graph500.validate import check_distances, check_levels
from broadfront.progress import unheard
from broadfront.residence import Guard

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
    memory_limit: int | None = None
    """Bytes that each step may hold: list and index are in files then. None: all in memory."""

    def __post_init__(self) -> None:
        for name, least in (("scale", 1), ("edge_factor", 1), ("roots", 1)):
            given = getattr(self, name)
            if whole(given, name) < least:
                raise OptionError(f"{name}={given}: expected {least} or more")
        if self.memory_limit is not None:
            count(self.memory_limit, "memory_limit")
        whole(self.seed, "seed")
        flag(self.validate, "validate")
        listed(self.kernels, "kernels")
        for name in self.kernels:
            if not is_one_of(name, KERNELS):
                raise OptionError(f"kernel {name!r}: unknown; known: {' '.join(KERNELS)}")


class Input:
    """The list of edges, its roots and its index, for one implementation after the other."""

    def __init__(self, settings: Settings) -> None:
        clock, self._limit = Clock(), settings.memory_limit
        asked = settings.scale, settings.edge_factor, settings.seed, "sssp" in settings.kernels
        with little_of(limit=self._limit) as guard:
            array = guard.array if isinstance(guard, Guard) else np.empty
            self.edges = draw_edges(*asked, array)
            self.seconds = clock.seconds
            roots = draw_roots(self.edges, settings.roots, settings.seed)
        self.roots: list[int] = roots.tolist()
        if not self.roots:
            raise OptionError(f"scale={settings.scale}: no edge joins two vertices; take a larger")
        self._index: EdgeIndex | None = None

    def index(self, keep_edges: bool) -> None:
        """Make the index; it uses up the list unless that is to be kept."""
        if self._index is None:
            edges = replace(self.edges) if keep_edges else self.edges
            self._index = index_edges(edges, self._limit)

    def check(self, kernel: str, root: int, answer: Any) -> int:
        """Validate an answer by the index; return the tuples reached."""
        index, rules = self._index, {"bfs": check_levels, "sssp": check_distances}
        assert index is not None
        with little_of(index.ranks, index.weights, limit=self._limit):
            return rules[kernel](index, root, *answer)

    def count(self, parent: Any) -> int:
        """Return how many tuples of the list have both ends reached."""
        source, target, reached = self.edges.source, self.edges.target, parent >= 0
        pieces = threads.ranges(len(source), EDGES_PER_PIECE)

        def both(piece: int) -> int:
            rows = slice(*pieces[piece])
            return int(np.count_nonzero(reached[source[rows]] & reached[target[rows]]))

        with little_of(source, target, limit=self._limit):
            return sum(threads.run(both, len(pieces)))


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
        if settings.validate:
            edges_of.index(keep_edges=given is not None)
        for kernel in settings.kernels:
            self._search_all(kernel, structure, edges_of)
        return outcome

    def _search_all(self, kernel: str, structure: Any, given: Input) -> None:
        search: Any = {"bfs": self._implementation.search, "sssp": self._implementation.find_paths}
        validate = self._settings.validate
        found = self.outcome.searches.setdefault(kernel, [])
        for number, root in enumerate(given.roots, 1):
            check_time()
            with unheard():
                clock = Clock()
                answer = search[kernel](structure, root)
                seconds = clock.seconds
            clock = Clock()
            edges = given.check(kernel, root, answer) if validate else given.count(answer.parent)
            found.append(Search(root, seconds, edges, clock.seconds if validate else -1.0))
            if number % ROOTS_PER_LINE == 0 or number == len(given.roots):
                valid = ", all valid" if validate else ""
                rate = self.outcome.harmonic_mean(kernel) / 1e6
                self._tell(
                    f"{kernel}, {number} of {len(given.roots)} roots{valid}: {rate:,.1f} MTEPS"
                )
