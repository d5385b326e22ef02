"""Broadfront's own binary form, ``.bfg``: opened by memory map, read when touched.

Layout: a magic word, the length and checksum of a JSON header, the header, then each array at a
multiple of 64 bytes. The header names every array with its dtype, length, place and checksum.
Labels that are consecutive integers are no array but the first of them in the header. Files with
such labels have a magic word of their own, and so have files with parallel edges or columns of
data, so that a reader which does not know them refuses them.

Opening reads the header alone and checks that the file is as long as it says. The arrays are
checked when first touched, all at once: checksums, and in `broadfront.graph.soundness` that they
are a graph, so that no kernel ever runs on a file that lies. What is done to a mapped file after
that nobody sees: bytes that change become part of the graph, and a touch of bytes that were cut off
ends the process (SIGBUS). `broadfront.graph.files.written` does neither to a file that it replaces;
whoever cannot be sure of others reads a copy, which is checked before anybody has it.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from os import PathLike, fspath
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.clock import Clock
from broadfront.errors import FormatError, GraphError
from broadfront.graph import files
from broadfront.graph.csr import Graph
from broadfront.graph.data import TAKEN, is_name
from broadfront.graph.labels import MOST_VERTICES, Consecutive, Labels, frozen, objects
from broadfront.graph.origin import Origin
from broadfront.graph.soundness import check_labels, check_rows
from broadfront.kernel import kernel

Array = NDArray[Any]

MAGIC = b"BROADFR1"
MAGIC_COUNTED = b"BROADFR2"
MAGIC_DATA = b"BROADFR3"
MAGICS = (MAGIC, MAGIC_COUNTED, MAGIC_DATA)
PREFIX = struct.Struct("<8sII")
ALIGNMENT = 64
WORDS_PER_PIECE = 1 << 21
DTYPES = {
    "offsets": ("<i4", "<i8"),
    "targets": ("<i4", "<i8"),
    "weights": ("<i4", "<i8", "<f4", "<f8"),
    "labels": ("<i8",),
    "label_ends": ("<i8",),
    "label_bytes": ("|u1",),
}
EDGE, VERTEX = "edge ", "vertex "
"""What the names of arrays begin with that are columns of data."""
DATA_DTYPES = ("|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")


def write(graph: Graph, stream: IO[bytes], suffix: str) -> None:
    """Write the graph with its labels and columns."""
    arrays = {"offsets": graph.offsets, "targets": graph.targets}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    arrays |= {EDGE + name: column for name, column in graph.edge_data.items()}
    arrays |= {VERTEX + name: column for name, column in graph.vertex_data.items()}
    counted = graph.labelled and graph.first_label is not None
    if graph.labelled and not counted:
        arrays |= label_arrays(graph.labels)
    facts = {
        "directed": graph.directed, "self_loops": graph.num_self_loops, "origin": graph.origin.name
    }  # fmt: skip
    columns = bool(graph.edge_data or graph.vertex_data)
    write_arrays(
        stream, facts, {name: Whole(array) for name, array in arrays.items()},
        first_label=graph.first_label if counted else None,
        parallel=graph.has_parallel_edges if columns or graph.has_parallel_edges else None,
    )  # fmt: skip


class Column(Protocol):
    """An array to be written, wherever it is."""

    dtype: np.dtype[Any]

    def __len__(self) -> int:
        """Return how many numbers there are."""

    def blocks(self) -> Iterator[Array]:
        """Yield all numbers in order, every time anew; all blocks but the last are whole words."""


class Whole:
    """An array in memory."""

    def __init__(self, array: Array) -> None:
        self.array, self.dtype = array, array.dtype

    def __len__(self) -> int:
        return len(self.array)

    def blocks(self) -> Iterator[Array]:
        """Yield the array."""
        yield self.array


def write_arrays(
    stream: IO[bytes],
    facts: Mapping[str, object],
    arrays: Mapping[str, Column],
    *,
    first_label: int | None = None,
    parallel: bool | None = None,
) -> None:
    """Write the header with `facts`, and the arrays; `parallel` is told where it is not None."""
    header: dict[str, Any] = {
        **facts,
        "arrays": {
            name: {"dtype": array.dtype.str, "length": len(array),
                   "checksum": checksum_of(array.blocks())}
            for name, array in arrays.items()
        },
    }  # fmt: skip
    magic = MAGIC
    if first_label is not None:
        magic, header["first_label"] = MAGIC_COUNTED, first_label
    if parallel is not None:
        magic, header["parallel"] = MAGIC_DATA, parallel
    text = json.dumps(header).encode()
    written = stream.write(PREFIX.pack(magic, len(text), zlib.crc32(text)) + text)
    for array in arrays.values():
        written += stream.write(bytes(-written % ALIGNMENT))
        for block in array.blocks():
            written += stream.write(np.ascontiguousarray(block).data)


def read(
    path: str | PathLike[str],
    clock: Clock,
    *,
    mapped: bool = True,
    unpack_limit: int | None = None,
) -> Graph:
    """Open a stored graph; one that is not mapped is copied into memory and checked at once."""
    data = files.content(path, mapped=mapped, unpack_limit=unpack_limit)
    header = _header(path, data)
    arrays = _arrays(path, data, header)
    labels = _labels(path, header, arrays)
    check = partial(_check, path, header, arrays, labels)
    if not mapped:
        check()
    graph = Graph(
        arrays["offsets"], arrays["targets"], arrays.get("weights"),
        directed=header["directed"], self_loops=header["self_loops"], labels=labels,
        edge_data=_data(arrays, EDGE), vertex_data=_data(arrays, VERTEX),
        parallel=header.get("parallel", False), check=check if mapped else None,
        mapped=mapped and not files.suffixes(path)[1],
    )  # fmt: skip
    graph.origin = Origin(fspath(path), graph.num_edges, seconds=clock.seconds)
    return graph


def _check(
    path: str | PathLike[str],
    header: dict[str, Any],
    arrays: dict[str, Array],
    labels: Labels | None,
) -> None:
    for name, array in arrays.items():
        if checksum(array) != header["arrays"][name]["checksum"]:
            raise FormatError(path, f"the {name} are damaged: their checksum is wrong")
    rows = arrays["offsets"], arrays["targets"]
    about = {"directed": header["directed"], "self_loops": header["self_loops"],
             "parallel": header.get("parallel", False)}  # fmt: skip
    try:
        check_rows(*rows, arrays.get("weights"), **about)
        for column in _data(arrays, EDGE).values() if not header["directed"] else ():
            check_rows(*rows, column.view(f"u{column.itemsize}"), **about)
        if labels is not None and labels.first is None:
            check_labels(labels.values)
    except GraphError as error:
        raise FormatError(path, str(error)) from error


def _data(arrays: dict[str, Array], kind: str) -> dict[str, Array]:
    """Return the columns of one kind by name."""
    return {name.removeprefix(kind): array for name, array in arrays.items()
            if name.startswith(kind)}  # fmt: skip


def _header(path: str | PathLike[str], data: Array) -> dict[str, Any]:
    prefix = data[: PREFIX.size].tobytes()
    if len(prefix) < PREFIX.size or not prefix.startswith(MAGICS):
        raise FormatError(
            path, "expected a stored Broadfront graph: the first bytes are not its own"
        )
    _, length, expected = PREFIX.unpack(prefix)
    text = data[PREFIX.size : PREFIX.size + length].tobytes()
    if len(text) < length or zlib.crc32(text) != expected:
        raise FormatError(path, "the header is damaged or cut off")
    try:
        header = json.loads(text)
        header["end"] = PREFIX.size + length
        known = isinstance(header["directed"], bool) and isinstance(header["origin"], str)
        known = known and isinstance(header["self_loops"], int) and header["self_loops"] >= 0
        known = known and isinstance(header["arrays"], dict)
        known = known and isinstance(header.get("parallel", False), bool)
        known = known and {"offsets", "targets"} <= set(header["arrays"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(path, f"the header is not understood: {error}") from error
    if not known:
        raise FormatError(path, "the header is not understood")
    result: dict[str, Any] = header
    return result


def _arrays(path: str | PathLike[str], data: Array, header: dict[str, Any]) -> dict[str, Array]:
    arrays = {}
    position = header["end"]
    for name, about in header["arrays"].items():
        keys = ("dtype", "length", "checksum")
        values: list[Any] = [about.get(key) for key in keys] if isinstance(about, dict) else []
        if [type(value) for value in values] != [str, int, int]:
            raise FormatError(path, f"the header's entry for {name} is not understood")
        dtype, length, _ = values
        if dtype not in _dtypes(name) or length < 0:
            raise FormatError(path, f"unexpected array {name} of {length} {dtype}")
        position += -position % ALIGNMENT
        end = position + length * np.dtype(dtype).itemsize
        if end > len(data):
            raise FormatError(path, f"cut off: {len(data):,} bytes, {name} would end at {end:,}")
        arrays[name] = data[position:end].view(dtype)
        position = end
    if position != len(data):
        raise FormatError(path, f"{len(data) - position:,} bytes too many")
    lengths = {name: len(array) for name, array in arrays.items()}
    if lengths["offsets"] == 0:
        raise FormatError(path, "the offsets are missing")
    if lengths.get("weights", lengths["targets"]) != lengths["targets"]:
        raise FormatError(path, "weights and targets differ in length")
    for kind, wanted in ((EDGE, lengths["targets"]), (VERTEX, lengths["offsets"] - 1)):
        for name, column in _data(arrays, kind).items():
            if len(column) != wanted:
                raise FormatError(path, f"{len(column):,} values of {name} for {wanted:,}")
    if arrays["offsets"].dtype != arrays["targets"].dtype:
        raise FormatError(path, "offsets and targets differ in dtype")
    return arrays


def _dtypes(name: str) -> tuple[str, ...]:
    """Return the dtypes that an array of some name may have."""
    kind, _, column = name.partition(" ")
    if f"{kind} " in (EDGE, VERTEX) and is_name(column) and column not in TAKEN:
        return DATA_DTYPES
    return DTYPES.get(name, ())


# ---------------------------------------------------------------------- labels


def label_arrays(labels: Array) -> dict[str, Array]:
    """Return labels, which do not follow one another, as arrays to be stored."""
    if labels.dtype.kind == "i":
        return {"labels": labels.astype(np.int64)}
    names = labels.tolist()
    if not all(isinstance(name, str) for name in names):
        raise GraphError("a .bfg file holds labels that are integers or strings; these are neither")
    encoded = [name.encode() for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return {"label_ends": ends, "label_bytes": np.frombuffer(b"".join(encoded), np.uint8)}


class _StoredNames(Labels):
    """Names that become Python strings when first asked for."""

    def __init__(self, path: str | PathLike[str], ends: Array, letters: Array) -> None:
        self._path, self._ends, self._letters = path, ends, letters

    @cached_property
    def values(self) -> Array:  # type: ignore[override]
        letters = self._letters.tobytes()
        begin, names = 0, []
        for end in self._ends.tolist():
            if not begin <= end <= len(letters):
                raise FormatError(self._path, "the ends of the labels do not rise")
            try:
                names.append(letters[begin:end].decode())
            except UnicodeDecodeError as error:
                raise FormatError(self._path, "a label is not UTF-8") from error
            begin = end
        return frozen(objects(names))

    @property
    def nbytes(self) -> int:
        return int(self._ends.nbytes + self._letters.nbytes)


def _labels(
    path: str | PathLike[str], header: dict[str, Any], arrays: dict[str, Array]
) -> Labels | None:
    vertices = len(arrays["offsets"]) - 1
    if "first_label" in header:
        first = header["first_label"]
        if type(first) is not int or abs(first) >= MOST_VERTICES:
            raise FormatError(path, f"the first label is not understood: {first!r:.60}")
        return Consecutive(first, vertices)
    ends = arrays.get("labels", arrays.get("label_ends"))
    if ends is None:
        return None
    if len(ends) != vertices:
        raise FormatError(path, f"{len(ends):,} labels for {vertices:,} vertices")
    if "labels" in arrays:
        return Labels(ends)
    if "label_bytes" not in arrays:
        raise FormatError(path, "the letters of the labels are missing")
    return _StoredNames(path, ends, arrays["label_bytes"])


# ---------------------------------------------------------------------- checksum


def checksum(array: Array) -> int:
    """Return a 64-bit checksum of the bytes: a sum of mixed words, so any cut gives the same."""
    return checksum_of(iter([array]))


def checksum_of(blocks: Iterator[Array]) -> int:
    """Return the checksum of blocks in a row, all but the last of which are whole words."""
    total, before, length = 0, 0, 0
    for block in blocks:
        octets = np.ascontiguousarray(block).view(np.uint8).reshape(-1)
        whole = len(octets) // 8 * 8
        words = octets[:whole].view(np.uint64)
        rest = int.from_bytes(octets[whole:].tobytes(), "little")
        total += rest * 0x9E3779B97F4A7C15 + _sum_of(words, before)
        before += len(words)
        length += len(octets)
    return (total + length) % 2**64


def _sum_of(words: Array, before: int) -> int:
    pieces = threads.ranges(len(words), WORDS_PER_PIECE)
    sums = threads.run(lambda piece: _mixed_sum(words, *pieces[piece], before), len(pieces))
    return sum(map(int, sums))


@kernel
def _mixed_sum(words, begin, end, before):
    total = np.uint64(0)
    for place in range(begin, end):
        word = words[place] ^ (np.uint64(before + place + 1) * np.uint64(0x9E3779B97F4A7C15))
        word = (word ^ (word >> np.uint64(31))) * np.uint64(0xD6E8FEB86659FD93)
        total += word ^ (word >> np.uint64(29))
    return total
