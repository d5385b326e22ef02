"""What an implementation of breadth-first search is: a way to build, and a way to search.

    structure = implementation.build(edges)          # kernel 1, timed once
    tree = implementation.search(structure, root)    # kernel 2, timed for each root

The list stays as it is. A structure lets go of what it holds (memory, files) when it is dropped.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.graph500.edges import EDGES_PER_PIECE, EdgeList

Array = NDArray[Any]

UNREACHED = -1
SILENT = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
)  # fmt: skip


class Tree(NamedTuple):
    """A search: the vertex before each, and how many edges it is from the root; -1 if unreached."""

    parent: Array
    depth: NDArray[np.int32]


class Paths(NamedTuple):
    """Shortest paths: the vertex before each, -1 if unreached, and the distance, inf if so."""

    parent: Array
    distance: NDArray[np.float32]


@dataclass(frozen=True)
class Implementation:
    """One of the ways to do kernels 1 and 2, and kernel 3 if it has `find_paths`."""

    name: str
    about: str
    build: Callable[[EdgeList], Any]
    search: Callable[[Any, int], Tree]
    modules: Sequence[ModuleType]
    """All code of its own."""
    find_paths: Callable[[Any, int], Paths] | None = None

    @property
    def lines(self) -> int:
        """The lines of its code."""
        return sum(code_lines(Path(str(module.__file__)).read_text()) for module in self.modules)


def root_alone(num_vertices: int, root: int, dtype: np.dtype[Any]) -> Tree:
    """Return the tree of a search that has reached its root alone."""
    tree = Tree(np.full(num_vertices, UNREACHED, dtype), np.full(num_vertices, UNREACHED, np.int32))
    tree.parent[root], tree.depth[root] = root, 0
    return tree


def in_order(task: Callable[[int, int], object], length: int) -> None:
    """Call ``task(begin, end)`` on pieces of ``0 .. length``, one after the other.

    For work of one thread that must be stopped in time.
    """
    with threads.limit(1):
        pieces = threads.ranges(length, EDGES_PER_PIECE)
        threads.run(lambda piece: task(*pieces[piece]), len(pieces), "kernel 1")


def code_lines(source: str) -> int:
    r"""Return the number of lines with code on them: no comments, no docstrings, no empty ones.

    Examples
    --------
    >>> code_lines('"Says what."\n\nx = [  # two numbers\n    1,\n    2,\n]\n')
    4
    """
    lines = set[int]()
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            statement.append(token)
        elif token.type == tokenize.NEWLINE:
            if not all(part.type == tokenize.STRING for part in statement):
                for part in statement:
                    lines.update(range(part.start[0], part.end[0] + 1))
            statement = []
    return len(lines)
