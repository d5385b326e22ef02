"""`split`: a graph among devices, by a partitioner's name or by a function of the user's own.

What is made by name is kept with the graph, and found again by the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from broadfront.clock import Allowance, Clock, check_time
from broadfront.errors import OptionError
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.partition.kept import kept_with
from broadfront.partition.partition import Partition
from broadfront.partition.partitioners.biased import biased
from broadfront.partition.partitioners.choice import choose_partitioner
from broadfront.partition.partitioners.metis import metis
from broadfront.partition.partitioners.random import random
from broadfront.partition.partitioners.range import ranges
from broadfront.partition.partitioners.static import static
from broadfront.partition.wish import Wish, wish
from broadfront.progress import Listener, listening

Array = NDArray[Any]

PARTITIONERS: dict[str, Callable[[Graph, Wish], Array]] = {
    "random": random,
    "static": static,
    "range": ranges,
    "biased": biased,
    "metis": metis,
}


def split(
    graph: Graph,
    count: int,
    by: str | Callable[[Graph, int], Any] | None = None,
    *,
    seed: int = 0,
    speeds: Sequence[float] | None = None,
    factor: float = 1.0,
    time_limit: float | None = None,
    progress: Listener | None = None,
) -> Partition:
    """Split a graph among `count` devices.

    A partition by name is kept with the graph: the same arguments find it again, here and in a run
    with ``partitioner=``. See `Graph.forget`.

    Parameters
    ----------
    graph
        The graph; it is not changed.
    count
        The number of parts. Parts may be empty where it is more than there are vertices.
    by
        ``random`` (any vertex anywhere, equally many each), ``static`` (vertex v to v mod count),
        ``range`` (contiguous ids, by vertices and arcs), ``biased`` (by chance, but neighbours
        tend to meet), ``metis`` (few cut edges; extra ``metis``), or a function of the graph and
        the count that returns the owner of each vertex. By default ``range`` where a look at some
        arcs shows that ids have locality, and else ``random``.
    seed
        Another one is another choice, for partitioners that make any.
    speeds
        The relative speeds of the devices, such as ``[2, 1]``: parts in proportion.
    factor
        How far ``biased`` follows neighbours: 0 not at all, 1 always.
    time_limit
        Seconds after which `TimeLimitError` is raised, compiling apart.
    progress
        Called with a stage, what is done and the total, now and then.

    Examples
    --------
    >>> import broadfront as bf
    >>> bf.split(bf.generate("path:6"), 2, by="range").owner
    array([0, 0, 0, 1, 1, 1], dtype=uint8)
    """
    expect_graph(graph)
    wanted = wish(count, seed, speeds, factor)
    relative = None if speeds is None else tuple(float(speed) for speed in speeds)
    if by is None:
        by = choose_partitioner(graph, wanted)
    known = isinstance(by, str) and by in PARTITIONERS
    if not known and not callable(by):
        names = " ".join(PARTITIONERS)
        raise OptionError(f"no partitioner {by!r}; there are {names}, or give a function")

    def make() -> Partition:
        return made(graph, by, wanted, relative)

    with listening(progress), Allowance(time_limit):
        if not known:
            return make()
        kept = kept_with(graph)
        partition = kept.found((by, wanted.count, wanted.seed, wanted.factor, relative), make)
        kept.make_room(graph)
        return partition


def made(
    graph: Graph,
    by: str | Callable[[Graph, int], Any],
    wanted: Wish,
    speeds: tuple[float, ...] | None = None,
) -> Partition:
    """Make a partition, whether there is one like it or not; see `split`."""
    clock = Clock()
    if isinstance(by, str):
        name, owner = by, PARTITIONERS[by](graph, wanted)
    else:
        name = getattr(by, "__name__", type(by).__name__)
        owner = by(graph, wanted.count)
    check_time()
    return Partition(graph, owner, wanted.count, name, clock.seconds, speeds)
