"""Sizes that are possible: refuse what no memory holds before asking for it.

The estimate is the peak of building: both ends of every raw edge, one key per arc, the finished
rows, and a few numbers per vertex. It is compared with the memory of the machine, not with what is
free now: it is there to stop ``kron:60``, not to ration.
"""

from __future__ import annotations

import os
from pathlib import Path

from broadfront.errors import OptionError
from broadfront.graph.build import index_dtype
from broadfront.sizes import size_text

LARGEST_SCALE = 40
LARGEST = 1 << 48
CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def at_least(least: int, **values: int) -> None:
    """Refuse any of the named `values` that is below `least`."""
    for name, value in values.items():
        if value < least:
            raise OptionError(f"{name}={value} is below {least}")


def share(**values: float) -> None:
    """Refuse any of the named `values` that is not in 0..1."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise OptionError(f"{name}={value} is not in 0..1")


def power_of_two(scale: int) -> int:
    """Return the number of vertices of a scale."""
    if not 0 <= scale <= LARGEST_SCALE:
        raise OptionError(f"scale={scale} is not in 0..{LARGEST_SCALE}")
    return 1 << scale


def affordable(num_vertices: int, edges: int, bytes_per_vertex: int = 32) -> None:
    """Refuse a graph that is too large to build on this machine."""
    if max(num_vertices, edges) > LARGEST:
        raise OptionError("that is more vertices or edges than any memory holds")
    id_bytes = index_dtype(num_vertices, 2 * edges)().nbytes
    needed = num_vertices * bytes_per_vertex + edges * (4 * id_bytes + 16)
    if needed > memory():
        raise OptionError(
            f"{num_vertices:,} vertices and {edges:,} edges need about {size_text(needed)}; "
            f"this machine has {size_text(memory())}"
        )


def memory() -> int:
    """Return the bytes of memory this process may hope for."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        total = LARGEST
    try:
        return min(total, int(CONTAINER_LIMIT.read_text()))
    except (OSError, ValueError):
        return total
