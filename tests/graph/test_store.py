"""The binary form: lazy, and never fooled."""

from __future__ import annotations

import json
import mmap
import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import broadfront as bf
from broadfront.graph import store
from zoo import same


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    bf.generate("kron:8:weights=1-9").save(tmp_path / "graph.bfg")
    return tmp_path / "graph.bfg"


def test_is_a_memory_map_and_touches_nothing(stored: Path) -> None:
    graph = bf.read(stored)
    base: Any = graph._targets
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base.obj, mmap.mmap)
    assert graph._check is not None
    assert graph.num_vertices == 256
    assert graph._check is not None
    assert len(graph.degrees) == 256
    assert graph._check is None


@pytest.mark.parametrize("length", [0, 1, 8, 15, 16, 40, 200, 1000, -1])
def test_cut_off_anywhere(stored: Path, length: int) -> None:
    stored.write_bytes(stored.read_bytes()[:length])
    with pytest.raises(bf.FormatError):
        bf.read(stored)


def test_too_long(stored: Path) -> None:
    stored.write_bytes(stored.read_bytes() + b"more")
    with pytest.raises(bf.FormatError, match="4 bytes too many"):
        bf.read(stored)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_flipped_bit_in_an_array(stored: Path, share: float) -> None:
    data = bytearray(stored.read_bytes())
    data[int(len(data) * share)] ^= 4
    stored.write_bytes(data)
    graph = bf.read(stored)
    for _ in range(2):  # it stays refused
        with pytest.raises(bf.FormatError, match="checksum"):
            _ = graph.targets


def forged(path: Path, arrays: dict[str, np.ndarray], changes: dict | None = None) -> Path:
    """Write a file whose header and checksums are right and whose content is a lie."""
    header = {
        "directed": True, "self_loops": 0, "origin": "forged",
        "arrays": {
            name: {
                "dtype": array.dtype.str, "length": len(array), "checksum": store.checksum(array)
            }
            for name, array in arrays.items()
        },
        **(changes or {}),
    }  # fmt: skip
    text = json.dumps(header).encode()
    data = struct.pack("<8sII", store.MAGIC, len(text), zlib.crc32(text)) + text
    for array in arrays.values():
        data += bytes(-len(data) % 64) + array.tobytes()
    path.write_bytes(data)
    return path


GOOD = {"offsets": np.array([0, 1, 2], np.int32), "targets": np.array([1, 0], np.int32)}


def test_the_forger_can_be_honest(tmp_path: Path) -> None:
    same(bf.read(forged(tmp_path / "good.bfg", GOOD)), bf.from_edges([0, 1], [1, 0]))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"targets": np.array([1, 2], np.int32)}, "not a vertex"),
        ({"targets": np.array([1, -1], np.int32)}, "not a vertex"),
        ({"offsets": np.array([0, 2, 1], np.int32)}, "do not rise"),
        ({"offsets": np.array([1, 1, 2], np.int32)}, "do not rise"),
        ({"offsets": np.array([0, 1, 9], np.int32)}, "do not rise"),
        ({"offsets": np.array([], np.int32)}, "missing"),
        ({"offsets": np.array([0, 1, 2], np.int64)}, "differ in dtype"),
        ({"weights": np.array([1.0])}, "differ in length"),
        ({"weights": np.array([1.0, np.nan])}, "nan"),
        ({"targets": np.array([1.0, 0.0])}, "unexpected array targets"),
        ({"strange": np.array([1])}, "unexpected array strange"),
        ({"labels": np.array([1], np.int64)}, "1 labels for 2 vertices"),
        ({"labels": np.array([7, 7], np.int64)}, "the same label"),
        (
            {"label_ends": np.array([1, 2], np.int64), "label_bytes": np.full(2, 65, np.uint8)},
            "the same label",
        ),
        ({"label_ends": np.array([1, 2], np.int64)}, "letters of the labels are missing"),
        (
            {"offsets": np.array([0, 2, 2], np.int32), "targets": np.array([1, 0], np.int32)},
            "do not rise",
        ),
        (
            {"offsets": np.array([0, 2, 2], np.int32), "targets": np.array([1, 1], np.int32)},
            "do not rise",
        ),
        ({"targets": np.array([0, 0], np.int32)}, "self-loops"),
        (
            {"label_ends": np.array([5, 1], np.int64), "label_bytes": np.zeros(5, np.uint8)},
            "do not rise",
        ),
        (
            {"label_ends": np.array([1, 2], np.int64), "label_bytes": np.full(2, 255, np.uint8)},
            "not UTF-8",
        ),
    ],
)
def test_lies(tmp_path: Path, arrays: dict[str, np.ndarray], message: str) -> None:
    path = forged(tmp_path / "lie.bfg", GOOD | arrays)
    with pytest.raises(bf.FormatError, match=message):
        _ = bf.read(path).targets


@pytest.mark.parametrize(
    "changes",
    [{"directed": "yes"}, {"self_loops": -1}, {"arrays": {}}, {"arrays": 5}, {"origin": None},
     {"arrays": {"offsets": 1, "targets": 2}}, {"arrays": ["offsets", "targets"]},
     {"arrays": {"offsets": [], "targets": []}},
     {"arrays": {"offsets": {"dtype": "<i4", "length": np.inf, "checksum": 0}, "targets": {}}},
     {"arrays": {"offsets": {"dtype": ["<i4"], "length": 3, "checksum": 0}, "targets": {}}}],
)  # fmt: skip
def test_headers_that_make_no_sense(tmp_path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(bf.FormatError, match="not understood"):
        bf.read(forged(tmp_path / "strange.bfg", GOOD, changes))


def test_checksum_does_not_depend_on_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.random.default_rng(0).integers(0, 100, 10_001, dtype=np.int32)
    expected = store.checksum(array)
    monkeypatch.setattr(store, "WORDS_PER_PIECE", 37)
    assert store.checksum(array) == expected
    array[5000] += 1
    assert store.checksum(array) != expected


def test_labels_that_cannot_be_stored(tmp_path: Path) -> None:
    with pytest.raises(bf.GraphError, match="neither"):
        bf.from_edges([("a", 1)], [("b", 2)]).save(tmp_path / "tuples.bfg")


@pytest.mark.parametrize("dtype", [",i4", "<i4,<i4", "O", "<i2"])
def test_dtypes_that_make_no_sense(tmp_path: Path, dtype: str) -> None:
    entry = {"dtype": dtype, "length": 3, "checksum": 0}
    with pytest.raises(bf.FormatError, match="unexpected array offsets"):
        bf.read(forged(tmp_path / "x.bfg", GOOD, {"arrays": {"offsets": entry, "targets": entry}}))


def test_a_deep_header(tmp_path: Path) -> None:
    text = b"[" * 200_000
    data = struct.pack("<8sII", store.MAGIC, len(text), zlib.crc32(text)) + text
    (tmp_path / "deep.bfg").write_bytes(data)
    with pytest.raises(bf.FormatError, match="not understood"):
        bf.read(tmp_path / "deep.bfg")


@pytest.mark.parametrize(
    "arrays",
    [
        {"offsets": np.array([0, 1, 1], np.int32), "targets": np.array([1], np.int32)},
        {"weights": np.array([1.0, 2.0])},
        {"weights": np.array([1, 2], np.int32)},
    ],
)
def test_undirected_and_not_symmetric(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    graph = bf.read(forged(tmp_path / "lie.bfg", GOOD | arrays, {"directed": False}))
    with pytest.raises(bf.FormatError, match="one of its ends only, or has two weights"):
        _ = graph.targets


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zero_has_no_sign(tmp_path: Path, dtype: type) -> None:
    arrays = GOOD | {"weights": np.array([0.0, -0.0], dtype)}
    graph = bf.read(forged(tmp_path / "zero.bfg", arrays, {"directed": False}))
    assert graph.num_edges == len(graph.targets) // 2 == 1


def test_names_are_decoded_when_touched(tmp_path: Path) -> None:
    graph = bf.from_edges(["a", "b"], ["b", "ü"], directed=False)
    graph.save(tmp_path / "names.bfg")
    back = bf.read(tmp_path / "names.bfg")
    assert back._check is not None
    assert back.origin.edges_read == back.num_edges == 2
    assert back.vertex("ü") == 2
    assert back._check is None
    same(graph, back)
    same(graph, pickle.loads(pickle.dumps(bf.read(tmp_path / "names.bfg"))))


def test_a_vertex_is_looked_for_in_checked_labels(tmp_path: Path) -> None:
    path = forged(tmp_path / "lie.bfg", GOOD | {"labels": np.array([7, 7], np.int64)})
    with pytest.raises(bf.FormatError, match="the same label"):
        bf.read(path).vertex(7)


def test_integer_labels_in_any_order(tmp_path: Path) -> None:
    graph = bf.from_networkx(nx.Graph([(3, 1), (1, 2)]))
    assert graph.labels.dtype == np.int64
    graph.save(tmp_path / "order.bfg")
    back = bf.read(tmp_path / "order.bfg")
    same(graph, back)
    assert [back.vertex(name) for name in (3, 1, 2)] == [0, 1, 2]
    for name in (0, 4, "3"):
        with pytest.raises(bf.VertexError):
            back.vertex(name)
