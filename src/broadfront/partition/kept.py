"""The partitions of a graph that were made by name: found again, and dropped when they are many.

Invariant: after a run the partitions kept with a graph, with all that was built from them, take no
more than `broadfront.keeping.factor` times the bytes of the graph; else there is only one. One that
a run uses stays. One that a user holds lives on with the user.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

from broadfront import keeping
from broadfront.graph.csr import Graph
from broadfront.locks import new_lock
from broadfront.partition.partition import Partition


class Kept:
    """The partitions of one graph."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Partition] = {}
        """By how they were made, the least recently used first."""
        self._users: Counter[Hashable] = Counter()
        self._making = new_lock()
        self._lock = new_lock()

    def __len__(self) -> int:
        return len(self._made)

    def found(self, key: Hashable, make: Callable[[], Partition]) -> Partition:
        """Return the partition that was made as `key` says; make it if there is none."""
        with self._making:
            partition = self._made.get(key)
            if partition is None:
                partition = make()
                with self._lock:
                    self._made[key] = partition
        self._touch(key)
        return partition

    @contextmanager
    def using(self, partition: Partition) -> Iterator[None]:
        """Keep a partition for a block of code, if it is here, and make room afterwards."""
        key = next((key for key, one in list(self._made.items()) if one is partition), None)
        self._touch(key)
        with self._lock:
            self._users[key] += 1
        try:
            yield
        finally:
            with self._lock:
                self._users[key] -= 1
            self._touch(key)
            self.make_room(partition.graph)

    def make_room(self, graph: Graph) -> None:
        """Drop what is beyond the budget, the least recently used first."""
        share = keeping.factor()
        dropped = []
        with self._lock:
            held = {key: one.nbytes for key, one in self._made.items()}
            too_much = sum(held.values()) - share * graph.nbytes
            last = next(reversed(held), None) if share else None
            for key, nbytes in held.items():
                if too_much > 0 and key != last and not self._users[key]:
                    too_much -= nbytes
                    dropped.append(nbytes)
                    del self._made[key]
        keeping.give_back(sum(dropped))

    def _touch(self, key: Hashable) -> None:
        with self._lock:
            if key in self._made:
                self._made[key] = self._made.pop(key)


def kept_with(graph: Graph) -> Kept:
    """Return the partitions that are kept with a graph; they go when it goes, or forgets them."""
    kept: tuple[Kept] = graph.kept("partitions", lambda: (Kept(),))
    return kept[0]
