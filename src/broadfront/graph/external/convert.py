"""`convert`: a graph from a file, or from blocks of edges, into a file, whatever its size.

With a memory limit the edges are never in memory at once. They are read in blocks and put on the
disk, numbered, sorted there into rows, and written as a `.bfg` file, byte for byte what
`broadfront.read` and `Graph.save` would have written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from broadfront.clock import Allowance, Clock, check_time
from broadfront.errors import FormatError, GraphError, OptionError
from broadfront.given import flag, is_integer
from broadfront.graph import files, store
from broadfront.graph.build import Columns
from broadfront.graph.csr import Graph
from broadfront.graph.edges import plain_weights, present
from broadfront.graph.external.room import Room
from broadfront.graph.external.scratch import Scratch
from broadfront.graph.external.sort import rows_on_disk
from broadfront.graph.external.spill import Spill
from broadfront.graph.formats import dimacs, edgelist, matrixmarket
from broadfront.graph.lines import Text
from broadfront.graph.listing import Listing
from broadfront.graph.numbering import number_integers, plain_ids, vertex_count
from broadfront.graph.origin import Origin
from broadfront.graph.read import READERS, read
from broadfront.progress import Listener, listening, report

Blocks = Iterable[Sequence[ArrayLike]]

LISTED: dict[Callable[..., Graph] | None, Callable[..., Listing]] = {
    edgelist.read: edgelist.listed,
    matrixmarket.read: matrixmarket.listed,
    dimacs.read: dimacs.listed,
}
NO_LIMIT = 1 << 62
SHARE_OF_TEXT = 16
"""A batch of text, with what is read from it, takes such a part of the memory."""


def convert(
    source: str | PathLike[str] | Blocks,
    path: str | PathLike[str],
    *,
    memory_limit: int | None = None,
    time_limit: float | None = None,
    progress: Listener | None = None,
    **options: Any,
) -> Graph:
    """Write the graph that `source` holds to `path`, and return it as it is opened from there.

    Parameters
    ----------
    source
        A file or a specification as for `broadfront.read`; or blocks of edges, each a tuple of
        arrays: sources, targets, and in all blocks or none weights. Ids in blocks are integers.
    path
        The file to write. With a memory limit, or of blocks, it is a `.bfg` file.
    memory_limit
        The most bytes that the process may hold, what it holds already included. Edge lists, `.mtx`
        and `.gr` files and blocks are built on the disk then, in files without a name beside
        `path`, which take up to 40 bytes for each edge. Vertices stay in memory: about 16 bytes
        each, and what their names take.
    time_limit
        Seconds.
    progress
        Called as ``progress(stage, done, total)``.
    options
        As for `broadfront.read`; of blocks `directed`, `simple` and `num_vertices`.

    Examples
    --------
    >>> import numpy as np, os, tempfile, broadfront as bf
    >>> blocks = ((np.arange(k, k + 5), np.arange(k + 1, k + 6)) for k in range(0, 20, 5))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph = bf.convert(blocks, os.path.join(folder, "path.bfg"), memory_limit=16 << 30)
    ...     graph.num_edges, graph.origin.edges_read
    (20, 20)
    """
    clock = Clock()
    files.expect_path(path)
    with listening(progress), Allowance(time_limit):
        if memory_limit is None and isinstance(source, (str, PathLike)):
            graph = read(source, **options)
            graph.save(path)
            return graph
        if memory_limit is not None and not (is_integer(memory_limit) and memory_limit > 0):
            raise OptionError(f"memory_limit={memory_limit!r}: expected a number of bytes")
        if files.suffixes(path) != (".bfg", ""):
            raise OptionError(f"{fspath(path)}: what is built on the disk becomes a .bfg file")
        room = Room(NO_LIMIT if memory_limit is None else min(int(memory_limit), NO_LIMIT))
        for name in ("simple", "directed"):
            if options.get(name) is not None:
                options[name] = flag(options[name], name)
        simple = options.pop("simple", None) or False
        if not isinstance(source, (str, PathLike)):
            return _built(_of_blocks(source, options), "edges", path, room, simple, clock)
        try:
            edges = _of_file(source, room, options)
            return _built(edges, fspath(source), path, room, simple, clock)
        except GraphError as error:
            raise FormatError(source, str(error)) from error


def _built(
    edges: Listing, name: str, path: str | PathLike[str], room: Room, simple: bool, clock: Clock
) -> Graph:
    """Build on the disk and write to `path`."""
    folder = Path(os.path.realpath(path)).parent
    with ExitStack() as stack:
        stream = stack.enter_context(files.written(path))
        keys, values = (stack.enter_context(Scratch(folder)) for _ in range(2))
        with Scratch(folder) as scratch:
            weight = np.dtype(np.float64 if edges.real else np.int32)
            spill = Spill(scratch, room, weight if edges.weighted else None)
            for block in edges.blocks:
                check_time()
                report("edges onto the disk", len(spill), 0)
                if block.weight is not None and edges.real:
                    block.weight = block.weight.astype(np.float64, copy=False)
                block.weight = plain_weights(block.weight, len(block), len(spill))
                spill.add(block)
            num_vertices, labels = edges.number(spill)
            rows = rows_on_disk(
                spill, num_vertices, room, (keys, values), symmetric=not edges.directed,
                drop_loops=simple,
            )  # fmt: skip
        arrays: dict[str, store.Column] = {
            "offsets": store.Whole(rows.offsets), "targets": rows.targets
        }  # fmt: skip
        if rows.weights is not None:
            arrays["weights"] = rows.weights
        first = None if labels is None else labels.first
        if labels is not None and first is None:
            named = store.label_arrays(labels.values)
            arrays |= {key: store.Whole(array) for key, array in named.items()}
        facts = {"directed": edges.directed, "self_loops": rows.loops_kept, "origin": name}
        store.write_arrays(stream, facts, arrays, first_label=first)
        read_edges = len(spill)
    graph = read(path)
    dropped = rows.loops_read if simple else 0
    graph.origin = Origin(
        name, read_edges, read_edges - dropped - graph.num_edges, rows.loops_read, simple,
        clock.seconds, clock.compile_seconds,
    )  # fmt: skip
    return graph


def _of_file(path: str | PathLike[str], room: Room, options: dict[str, Any]) -> Listing:
    """Return the edges that a file lists."""
    suffix = files.suffixes(path)[0]
    listed = LISTED.get(READERS.get(suffix))
    if not os.path.exists(path) or os.path.isdir(path) or listed is None:
        known = " ".join(suffix for suffix, reader in READERS.items() if reader in LISTED)
        raise OptionError(
            f"memory_limit= goes with files of {known} and with blocks of edges; "
            f"{fspath(path)} is neither"
        )
    unpack_limit = options.pop("unpack_limit", None)
    options.pop("map", None)
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in (listed.__kwdefaults__ or {}):
            raise OptionError(f"{name}= does not go with {suffix} files and memory_limit=")
    text = Text(path, mapped=False, unpack_limit=unpack_limit)
    text.most_at_once = max(1 << 16, room.left() // SHARE_OF_TEXT)
    return listed(text, **given)


def _of_blocks(source: Blocks, options: dict[str, Any]) -> Listing:
    """Return the edges in blocks of arrays."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in given.keys() - {"directed", "num_vertices"}:
        raise OptionError(f"{name}= goes with files; source is blocks of edges")
    if not isinstance(source, Iterable) or (isinstance(source, np.ndarray) and source.ndim == 0):
        raise OptionError(f"source={source!r:.60}: expected a path, or blocks of edges")
    vertices = vertex_count(given.get("num_vertices"))
    blocks = iter(source)
    first = next(blocks, None)
    weighted = _arrays_in(first) == 3

    def all_blocks() -> Iterator[Columns]:
        before, block = 0, first
        while block is not None:
            columns = _plain(block, weighted, before)
            before += len(columns)
            yield columns
            block = next(blocks, None)

    return Listing(all_blocks(), weighted, lambda ends: number_integers(ends, vertices),
                   given.get("directed", True))  # fmt: skip


def _arrays_in(block: object) -> int | None:
    """Return how many things are in a block; None of what holds none."""
    try:
        return len(block)  # type: ignore[arg-type]
    except TypeError:
        return None


def _plain(block: Sequence[ArrayLike], weighted: bool, before: int) -> Columns:
    """Return a block as columns; refuse what is none."""
    arrays = _arrays_in(block)
    if arrays != (3 if weighted else 2):
        expected = "sources, targets and weights" if weighted else "sources and targets"
        found = f"{block!r:.40}" if arrays is None else f"of {arrays} arrays"
        raise GraphError(f"a block {found} behind edge {before:,}: "
                         f"expected {expected}, as in the first")  # fmt: skip
    ends = [plain_ids(side, present(side, array))
            for side, array in zip(("source", "target"), block, strict=False)]  # fmt: skip
    if any(ids.ndim != 1 or ids.dtype.kind != "i" for ids in ends) or len(ends[0]) != len(ends[1]):
        raise GraphError(f"behind edge {before:,}: sources and targets in a block are integers, "
                         "as many of the ones as of the others")  # fmt: skip
    weight = present("weight", block[2]) if weighted else None
    return Columns(ends[0], ends[1], weight)
