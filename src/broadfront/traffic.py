"""How many bytes compiled loops read and write, counted by the loops themselves.

    with counting() as traffic:
        bf.bfs(graph, 0, threads=1)
    traffic.bytes_read, traffic.by_kind()

What is made inside the block is compiled anew, with checks (`broadfront.checking`), and in it every
access to an element adds its size to a table. So what counts are accesses as they are written,
before the compiler keeps some in registers and before any cache. The table is known to compiled
code by a name, which each process gives it, so counting code is kept on disk like any other.

Invariant: without the block no compiled code differs from that of a Broadfront without this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numpy.typing import NDArray

KINDS = ("graph", "fields", "work")
"""Rows of the graph and weights; fields of the program; queues, bitmaps and all else."""
OF_GRAPH = ("offsets", "targets", "weight", "in_offsets", "in_targets", "in_weight")
COUNTED = "counted "
"""How the names of arrays begin whose accesses are counted."""
READ, WRITTEN = 0, 1
SYMBOL = "broadfront_traffic"

_table = np.zeros((len(KINDS), 2), np.int64)
_wanted: ContextVar[bool] = ContextVar("counting", default=False)

llvmlite.binding.add_symbol(SYMBOL, _table.ctypes.data)


@dataclass
class Traffic:
    """Bytes read and written by the compiled loops of a block of code."""

    table: NDArray[np.int64] = field(default_factory=lambda: np.zeros_like(_table))

    @property
    def bytes_read(self) -> int:
        """All bytes read."""
        return int(self.table[:, READ].sum())

    @property
    def bytes_written(self) -> int:
        """All bytes written."""
        return int(self.table[:, WRITTEN].sum())

    def by_kind(self) -> dict[str, tuple[int, int]]:
        """Return bytes read and written by kind of array: graph, fields, work."""
        rows = zip(KINDS, self.table.tolist(), strict=True)
        return {kind: (read, written) for kind, (read, written) in rows}


@contextmanager
def counting() -> Iterator[Traffic]:
    """Count what compiled loops read and write in the block, on whichever threads they run.

    Examples
    --------
    >>> import broadfront as bf
    >>> from broadfront.traffic import counting
    >>> with counting() as traffic:
    ...     found = bf.bfs(bf.generate("path:5"), 0, threads=1)
    >>> traffic.by_kind()["fields"][1] > 0
    True
    """
    traffic, began = Traffic(), _table.copy()
    with making(counted=True):
        try:
            yield traffic
        finally:
            traffic.table[:] = _table - began


@contextmanager
def making(counted: bool) -> Iterator[None]:
    """Have what is made in a block of code count, or not."""
    before = _wanted.set(counted)
    try:
        yield
    finally:
        _wanted.reset(before)


def is_counting() -> bool:
    """Tell whether what is made now is to count."""
    return _wanted.get()


def note(builder: Any, names: tuple[str, ...], size: int, ways: tuple[int, ...]) -> None:
    """Have compiled code add the size of an element, if its array is one that is counted."""
    if not ways or COUNTED not in names[0]:
        return
    number, row = ir.IntType(64), KINDS.index(_kind_of(names[0]))
    table = builder.module.globals.get(SYMBOL)
    if table is None:
        table = ir.GlobalVariable(builder.module, ir.ArrayType(number, 2 * len(KINDS)), SYMBOL)
    for way in ways:
        place = builder.gep(table, [number(0), number(2 * row + way)])
        builder.atomic_rmw("add", place, number(size), "monotonic")


def _kind_of(name: str) -> str:
    whole, _, part = name.partition(COUNTED)[2].partition(".")
    if part in OF_GRAPH:
        return "graph"
    return "fields" if whole == "state" else "work"
