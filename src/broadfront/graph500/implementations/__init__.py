"""Breadth-first search, implemented six times: the five of the note, and Broadfront's own.

One file each, as small as it can be. `implementation` finds one by name.

References
----------
The technical note of the SEI on Graph500's BFS for CPUs and GPUs, sections 2.1 to 2.5.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from broadfront.algorithms import bfs
from broadfront.errors import OptionError
from broadfront.graph500.implementations import (
    linear_algebra,
    linked_list,
    operators,
    out_of_core,
    sequential_csr,
    visits,
    wavefront,
)
from broadfront.graph500.implementations.contract import Implementation, Paths, Tree

__all__ = ["IMPLEMENTATIONS", "OWN", "Implementation", "Paths", "Tree", "implementation"]

OWN = "broadfront"

IMPLEMENTATIONS = {
    one.name: one
    for one in (
        Implementation(
            "list", "head and next over the edge list, one thread",
            linked_list.build, linked_list.search, (linked_list, visits),
        ),
        Implementation(
            "csr", "compressed sparse rows, one thread",
            sequential_csr.build, sequential_csr.search, (sequential_csr, visits),
        ),
        Implementation(
            "wavefront", "a turn for each vertex in each level, all threads",
            wavefront.build, wavefront.search, (wavefront, sequential_csr),
        ),
        Implementation(
            "out-of-core", "blocks of edges on disk, one thread",
            out_of_core.build, out_of_core.search, (out_of_core,),
        ),
        Implementation(
            "linear-algebra", "products over a semiring, all threads",
            linear_algebra.build, linear_algebra.search, (linear_algebra, sequential_csr),
        ),
        Implementation(
            OWN, "frontiers by operators, any number of devices",
            operators.build, operators.search, (operators, bfs), operators.find_paths,
        ),
    )
}  # fmt: skip


def implementation(name: str, **options: Any) -> Implementation:
    """Return an implementation whose `build` is given options: devices, or ``block_memory``."""
    found = IMPLEMENTATIONS.get(name) if isinstance(name, str) else None
    if found is None:
        raise OptionError(f"implementation {name!r}: unknown; known: {', '.join(IMPLEMENTATIONS)}")
    if not options:
        return found
    return Implementation(
        found.name, found.about, partial(found.build, **options), found.search, found.modules,
        found.find_paths,
    )  # fmt: skip
