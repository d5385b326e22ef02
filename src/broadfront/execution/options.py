"""What every call that runs something takes: where it runs, how long it may, and who listens."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from broadfront.devices.choose import Devices
from broadfront.devices.profile import FIXED, MINIMAL, MemoryProfile
from broadfront.errors import OptionError
from broadfront.execution.asynchronous.settings import Execution
from broadfront.given import flag, is_word, number
from broadfront.graph.csr import Graph
from broadfront.partition.partition import Partition
from broadfront.progress import Listener

Memory = str | PathLike[str] | MemoryProfile | None
Partitioner = str | Callable[[Graph, int], Any] | Partition


class Options(TypedDict, total=False):
    """The options of a run.

    Attributes
    ----------
    threads
        How many threads each device has; by default one device has as many as pay for a graph of
        this size, and several share the cores. All devices together have at most 256 threads, or
        16 for each core where that is more.
    devices
        ``"cpu"`` (the default), a number of CPU devices with a memory of their own each, or a list
        of names: ``["cpu*2", "cpu"]``; see `docs/devices.md`. ``"python"`` runs the program in
        plain Python, to look into its functors; see `docs/programs.md`.
    partitioner
        How the graph is split among several devices: a name that `broadfront.split` knows, a
        function of the graph and the number of devices, or a `Partition`. By default ``"range"``
        where ids have locality, and else ``"random"``; the record says which.
    relabel
        Whether devices number their vertices anew, or keep the ids of the graph. By default they
        do where no functor uses the number of a vertex but to look up what belongs to it. One
        device has the whole graph in the order of degrees then, where these differ much: by default
        where that pays, with True at once, with False never. No answer tells but by rounding;
        `order_bytes` of the report does. See `docs/devices.md`.
    execution
        ``"bsp"``: devices go from iteration to iteration together. ``"async"``: each goes on by
        itself and sends what improves, for programs of one `Advance` whose answer does not depend
        on order; `Async` has more to choose from. None: asynchronous where a deep graph is in parts
        with few edges between, and else bulk-synchronous; the record says why. See
        `docs/asynchronous.md`.
    memory
        What queues and boxes begin with: ``"minimal"`` (the default), from where they grow by what
        is needed; ``"fixed"``, all that can come to be needed, unchecked; or a `MemoryProfile` of a
        run like this one, itself or its file.
    memory_limit
        Bytes that each device may take, its part of the graph included.
    time_limit
        Seconds after which `TimeLimitError` is raised: of splitting and preparing the graph, and of
        running; compiling apart.
    progress
        Called as ``progress(stage, done, total)`` during long work; what it raises stops the work,
        and comes out of the call.
    checked
        Whether every index is checked in functors and in the loop around them, which then takes
        longer to compile and to run; `BoundsError` tells where one is outside. With
        ``BROADFRONT_CHECKED=1`` in the environment it always is, in all kernels.
    """

    threads: int | None
    devices: Devices
    partitioner: Partitioner
    relabel: bool | None
    execution: Execution
    memory: Memory
    memory_limit: int | None
    time_limit: float | None
    progress: Listener | None
    checked: bool


WHERE = ("devices", "partitioner", "relabel", "memory_limit", "execution")
HOW = ("threads", "memory", "time_limit", "progress", "checked")


def sorted_out(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options that say where something runs, and the rest; unknown ones are refused."""
    for name in options:
        if name not in WHERE + HOW:
            raise OptionError(f"unknown option {name!r}; there are {', '.join(HOW + WHERE)}")
    where = {name: options[name] for name in WHERE if options.get(name) is not None}
    if "memory_limit" in where:
        most = number(where["memory_limit"], "memory_limit", 0)
        where["memory_limit"] = int(min(most, sys.maxsize))
    if "relabel" in where:
        where["relabel"] = flag(where["relabel"], "relabel")
    how = {name: options[name] for name in HOW if name in options}
    if how.get("checked") is not None:
        how["checked"] = flag(how["checked"], "checked")
    how["memory"] = scheme(options.get("memory"))
    return where, how


def scheme(memory: Memory) -> MemoryProfile:
    """Return what queues and boxes begin with."""
    if memory is None or is_word(memory, "minimal"):
        return MINIMAL
    if is_word(memory, "fixed"):
        return FIXED
    if isinstance(memory, MemoryProfile):
        return memory
    if isinstance(memory, (str, PathLike)) and Path(memory).is_file():
        return MemoryProfile.load(memory)
    raise OptionError(
        f"memory={memory!r}: expected 'minimal', 'fixed', a MemoryProfile, or the file of one"
    )
