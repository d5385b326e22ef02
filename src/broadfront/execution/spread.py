"""The partition of a graph that a run on several devices needs, made once and kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from broadfront.clock import preparing
from broadfront.devices.choose import Device
from broadfront.errors import OptionError
from broadfront.execution.options import Partitioner
from broadfront.graph.csr import Graph
from broadfront.partition.kept import kept_with
from broadfront.partition.partition import Partition
from broadfront.partition.split import split


@contextmanager
def partition_for(
    graph: Graph, devices: Sequence[Device], how: Partitioner | None
) -> Iterator[Partition]:
    """Lend the partition of `graph` among `devices` for a run.

    One that is given must fit; one that is made by name is kept with the graph.
    """
    count = len(devices)
    if isinstance(how, Partition):
        if how.graph is not graph:
            raise OptionError("the partition is that of another graph")
        if how.count != count:
            raise OptionError(f"the partition has {how.count} parts, and there are {count} devices")
        partition = how
    else:
        speeds = [device.threads for device in devices]
        even = None if len(set(speeds)) == 1 else speeds
        with preparing():
            partition = split(graph, count, how, speeds=even)
    with kept_with(graph).using(partition):
        yield partition
