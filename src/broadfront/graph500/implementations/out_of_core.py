"""Out of core: edges in blocks on disk, of which one at a time is in memory.

Kernel 1 writes the list to a file that has no name. Kernel 2 keeps depth and parent of each vertex
in memory, reads block after block, and lets every edge shorten the depth of either end; when a
whole pass over the file shortens none, all depths are right. One thread.

Invariant: a vertex has the depth of its parent and one more, or an edge that will shorten it yet.

References
----------
The technical note of the SEI on Graph500's BFS for CPUs and GPUs, section 2.4.
"""

from __future__ import annotations

import tempfile
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import check_time
from broadfront.errors import OptionError
from broadfront.graph500.edges import EdgeList
from broadfront.graph500.implementations.contract import Tree, root_alone
from broadfront.kernel import kernel

Array = NDArray[Any]

FAR = np.iinfo(np.int32).max - 1
"""The depth of what is not reached yet; one more still fits."""


class EdgeFile:
    """A list of edges on disk, read in blocks that fit a budget of memory."""

    def __init__(self, edges: EdgeList, budget: int) -> None:
        self.num_vertices = edges.num_vertices
        self.dtype = edges.source.dtype
        per_block = budget // (2 * self.dtype.itemsize)
        if per_block < 1:
            raise OptionError(f"block_memory={budget} does not hold an edge")
        self._starts = range(0, len(edges), per_block)
        self._buffer = np.empty((2, min(per_block, len(edges))), self.dtype)
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (closed with the structure)
        weakref.finalize(self, self._file.close)
        for start in self._starts:
            check_time()
            for column in (edges.source, edges.target):
                _write_all(self._file, np.ascontiguousarray(column[start : start + per_block]))
        self._length = len(edges)

    def blocks(self) -> Any:
        """Read the blocks one after the other into the same memory."""
        self._file.seek(0)
        for start in self._starts:
            check_time()
            length = min(self._starts.step, self._length - start)
            for column in self._buffer:
                _read_all(self._file, column[:length])
            yield self._buffer[0, :length], self._buffer[1, :length]


def build(edges: EdgeList, block_memory: int = 64 << 20) -> EdgeFile:
    """Write the edges to disk, to be read in blocks of `block_memory` bytes."""
    return EdgeFile(edges, block_memory)


def search(file: EdgeFile, root: int) -> Tree:
    """Search from a root."""
    tree = root_alone(file.num_vertices, root, file.dtype)
    tree.depth[tree.depth < 0] = FAR
    changed = True
    while changed:
        changed = False
        for source, target in file.blocks():
            changed |= _relax(source, target, *tree)
    tree.depth[tree.depth == FAR] = -1
    return tree


def _write_all(file: Any, column: Array) -> None:
    view = column.data.cast("B")
    while len(view):
        view = view[file.write(view) :]


def _read_all(file: Any, column: Array) -> None:
    view = column.data.cast("B")
    while len(view):
        read = file.readinto(view)
        if not read:
            raise OSError("the file of edges is shorter than what was written to it")
        view = view[read:]


@kernel
def _relax(source, target, parent, depth):
    changed = False
    for edge in range(len(source)):
        tail, head = source[edge], target[edge]
        if depth[head] > depth[tail] + 1:
            depth[head] = depth[tail] + 1
            parent[head] = tail
            changed = True
        elif depth[tail] > depth[head] + 1:
            depth[tail] = depth[head] + 1
            parent[tail] = head
            changed = True
    return changed
