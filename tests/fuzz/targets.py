"""What is fuzzed: every reader, and what it must answer any bytes with.

A target is a function of bytes. It passes if these are refused as a `FormatError` that names the
file, or give a graph or partition whose arrays are sound. Checksums keep a fuzzer out: targets
called "open" take the content apart from them, and put it into a file whose checksums are right.
"""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

import broadfront as bf
from broadfront.graph import lines, store
from broadfront.graph.read import READERS

FOLDER = Path(__file__).parent / "corpus"
PARTED = bf.generate("path:8")
FREE_VERTICES = 1 << 12
"""So many vertices need no bytes of a file; readers allow more, which takes long."""

Target = Callable[[bytes], None]


def read_file(suffix: str, data: bytes) -> None:
    """Read a file with these bytes, mapped and copied."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"fuzzed{suffix}"
        path.write_bytes(data)
        answers = []
        for mapped in (True, False):
            with refusing(path):
                graph = bf.read(path, map=mapped, unpack_limit=1 << 24)
                check(graph)
                answers.append(graph.num_arcs)
        assert len(set(answers)) < 2
        assert len(answers) != 1


def read_on_disk(suffix: str, data: bytes) -> None:
    """Read a file with these bytes, and build it on the disk: the same graph, or refused by both.

    On the disk nobody guesses whether the arcs of a .gr file are edges.
    """
    said = {"directed": True} if suffix == ".gr" else {}
    with tempfile.TemporaryDirectory() as folder:
        path, built = Path(folder) / f"fuzzed{suffix}", Path(folder) / "built.bfg"
        path.write_bytes(data)
        graphs = []
        with refusing(path):
            graphs.append(bf.read(path, **said))
        with refusing(path):
            graphs.append(bf.convert(path, built, memory_limit=1 << 40, **said))
        assert len(graphs) != 1
        if graphs:
            for graph in graphs:
                check(graph)
            for name in ("offsets", "targets", "weights", "labels"):
                assert np.array_equal(getattr(graphs[0], name), getattr(graphs[1], name))
        assert built.exists() == bool(graphs)


def read_open_graph(data: bytes) -> None:
    """Read a stored graph of this header, up to a line break, and these arrays behind it."""
    text, _, arrays = data.partition(b"\n")
    prefix = struct.pack("<8sII", store.MAGIC, len(text), zlib.crc32(text))
    gap = bytes(-(len(prefix) + len(text)) % store.ALIGNMENT)
    before, store.checksum = store.checksum, lambda array: 0
    try:
        read_file(".bfg", prefix + text + gap + arrays)
    finally:
        store.checksum = before


def load_partition(data: bytes) -> None:
    """Load a partition from these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzzed.npz"
        path.write_bytes(data)
        with refusing(path):
            partition = bf.Partition.load(path, PARTED)
            assert len(partition.owner) == PARTED.num_vertices
            assert partition.owner.max() < partition.count


def load_open_partition(data: bytes) -> None:
    """Load a partition of these facts, up to a line break, and this array behind them."""
    facts, _, owner = data.partition(b"\n")
    text = io.BytesIO()
    np.save(text, np.frombuffer(facts, np.uint8))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("facts.npy", text.getvalue())
        packed.writestr("owner.npy", owner)
    load_partition(content.getvalue())


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Let a file be refused, if the error names it."""
    before, lines.FREE_VERTICES = lines.FREE_VERTICES, FREE_VERTICES
    try:
        yield
    except bf.FormatError as error:
        assert str(path) in str(error), error  # noqa: PT017
    finally:
        lines.FREE_VERTICES = before


def check(graph: bf.Graph) -> None:
    """Look at all that a graph is made of."""
    offsets, targets = graph.offsets, graph.targets
    assert offsets[0] == 0
    assert offsets[-1] == len(targets) == graph.num_arcs
    assert np.all(np.diff(offsets) >= 0)
    assert not len(targets) or 0 <= targets.min() <= targets.max() < graph.num_vertices
    assert graph.weights is None or len(graph.weights) == len(targets)
    assert len(graph.labels) == graph.num_vertices


ON_DISK = "-disk"
"""How targets are called that build on the disk; they begin with the files of the others."""
PACKED = (".el.gz", ".el.xz", ".el.zst")
TARGETS: dict[str, Target] = {
    **{suffix[1:]: partial(read_file, suffix) for suffix in (*READERS, *PACKED)},
    **{suffix[1:] + ON_DISK: partial(read_on_disk, suffix) for suffix in (".el", ".mtx", ".gr")},
    "bfg-open": read_open_graph,
    "npz": load_partition,
    "npz-open": load_open_partition,
}


def folder_of(name: str) -> Path:
    """Return the folder of these files."""
    return FOLDER / name.removesuffix(ON_DISK)


def corpus(name: str) -> list[Path]:
    """Return the files that a target begins with."""
    return sorted(folder_of(name).iterdir())
