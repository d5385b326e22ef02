"""Files written whole or not at all, mapped or copied, and unpacked up to a limit."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import signal
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.graph import files
from broadfront.graph.lines import Text
from zoo import same

GRAPH = bf.generate("kron:6:4:weights=1-9")


def left_over(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".part")]


# ---------------------------------------------------------------------- writing


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
@pytest.mark.parametrize("name", ["graph.bfg", "graph.mtx.gz"])
def test_permissions_stay(tmp_path: Path, name: str, mode: int) -> None:
    path = tmp_path / name
    path.touch()
    path.chmod(mode)
    GRAPH.save(path)
    assert path.stat().st_mode & 0o7777 == mode
    assert bf.read(path).num_arcs == GRAPH.num_arcs


def test_a_new_file_follows_the_mask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        GRAPH.save(tmp_path / "graph.bfg")
    finally:
        assert os.umask(before) == 0o027
    assert (tmp_path / "graph.bfg").stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_stays_a_link(tmp_path: Path, dangling: bool) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    real, link = folder / "real.bfg", tmp_path / "link.bfg"
    if not dangling:
        real.write_text("old")
    link.symlink_to(Path("elsewhere") / "real.bfg")
    GRAPH.save(link)
    assert link.is_symlink()
    assert not real.is_symlink()
    same(bf.read(real), GRAPH)
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "link.bfg"]
    assert os.listdir(folder) == ["real.bfg"]


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.bfg").symlink_to("b.bfg")
    (tmp_path / "b.bfg").symlink_to("a.bfg")
    with pytest.raises(OSError, match="a.bfg|b.bfg"):
        GRAPH.save(tmp_path / "a.bfg")
    assert sorted(os.listdir(tmp_path)) == ["a.bfg", "b.bfg"]


def test_what_is_mapped_is_replaced_and_not_written_into(tmp_path: Path) -> None:
    path = tmp_path / "graph.bfg"
    GRAPH.save(path)
    mapped = bf.read(path)
    bf.generate("path:3").save(path)
    same(mapped, GRAPH)
    mapped.save(path)  # onto its own name
    same(bf.read(path), GRAPH)


def test_the_file_and_then_its_folder_reach_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(file: int) -> None:
        done.append("folder" if os.path.isdir(f"/proc/self/fd/{file}") else "file")
        sync(file)

    def replaced(source: Any, goal: Any) -> None:
        done.append("rename")
        replace(source, goal)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    GRAPH.save(tmp_path / "graph.bfg")
    assert done == ["file", "rename", "folder"]


@pytest.mark.parametrize("place", ["open", "fsync", "replace", "fchmod"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "no space")])
def test_a_failure_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: BaseException
) -> None:
    path = tmp_path / "graph.bfg"
    path.write_text("old")
    path.chmod(0o600)
    original: Callable[..., Any] = getattr(os, place)

    def fail(*given: Any, **more: Any) -> Any:
        if place == "open":  # the file is there when the signal is seen
            os.close(original(*given, **more))
        raise error

    monkeypatch.setattr(os, place, fail)
    with pytest.raises(type(error)) as caught:
        GRAPH.save(path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["graph.bfg"]
    assert path.read_text() == "old"
    if isinstance(caught.value, OSError):
        assert "graph.bfg" in str(caught.value)


INTERRUPTED = """
import signal, sys
import broadfront as bf
graph = bf.generate("kron:8:8")
graph.save(sys.argv[1])
try:
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    for _ in range(1000):
        graph.save(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that send signals")
@pytest.mark.parametrize(("name", "seconds"), [("graph.bfg", 0.005), ("graph.el.gz", 0.0123)])
def test_ctrl_c_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, name: str, seconds: float
) -> None:
    path = tmp_path / name
    child = [sys.executable, "-c", INTERRUPTED, str(path), str(seconds)]
    told = subprocess.run(child, stdout=subprocess.PIPE, timeout=120, check=True)
    assert told.stdout == b"interrupted\n"
    assert os.listdir(tmp_path) == [name]
    assert bf.read(path).num_vertices > 0


def test_folders_and_long_names(tmp_path: Path) -> None:
    (tmp_path / "folder.bfg").mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder\.bfg"):
        GRAPH.save(tmp_path / "folder.bfg")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        GRAPH.save(tmp_path / "nowhere" / "graph.bfg")
    longest = tmp_path / ("x" * 251 + ".bfg")
    GRAPH.save(longest)
    same(bf.read(longest), GRAPH)
    assert left_over(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.el"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with files.written(pipe) as stream:
        stream.write(b"0 1\n")
    assert os.read(reader, 100) == b"0 1\n"
    os.close(reader)
    assert pipe.is_fifo()


# ---------------------------------------------------------------------- copies


@pytest.mark.parametrize("suffix", [".bfg", ".el", ".mtx", ".parquet", ".bfg.zst"])
def test_a_copy_is_the_same_graph(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"graph{suffix}"
    GRAPH.save(path)
    same(bf.read(path, map=False), bf.read(path))


def test_a_copy_is_checked_at_once_and_does_not_need_the_file(tmp_path: Path) -> None:
    path = tmp_path / "graph.bfg"
    GRAPH.save(path)
    copy = bf.read(path, map=False)
    assert copy._check is None
    data = bytearray(path.read_bytes())
    path.write_bytes(b"")  # in place
    same(copy, GRAPH)
    data[-200] ^= 1
    path.write_bytes(data)
    assert bf.read(path).num_vertices == GRAPH.num_vertices  # not looked at yet
    with pytest.raises(bf.FormatError, match="checksum"):
        bf.read(path, map=False)


def test_a_copied_text_is_read_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "graph.el"
    path.write_text("# " + "x" * 100 + "\n" + "".join(f"{i} {i + 1}\n" for i in range(99)))
    monkeypatch.setattr(files, "READ_AT_ONCE", 7)
    same(bf.read(path, map=False), bf.read(path))
    path.write_text("0 1\n" * 50 + "0 x\n")
    with pytest.raises(bf.FormatError, match="line 51"):
        bf.read(path, map=False, ids="integer")


# ---------------------------------------------------------------------- unpacking

PACKERS = {".gz": gzip.compress, ".xz": lzma.compress, ".zst": lambda data: _zstd(data)}


_ZstdError = files._zstd().ZstdError


def _zstd(data: bytes) -> bytes:
    packed: bytes = files._zstd().compress(data)
    return packed


@pytest.mark.parametrize("packing", PACKERS)
def test_a_limit_by_default_and_by_option(
    tmp_path: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"bomb.el{packing}"
    path.write_bytes(PACKERS[packing](b"0 1\n" * (1 << 20)))
    assert bf.read(path).num_edges == 1
    monkeypatch.setattr(files, "UNPACKED_FREELY", 1 << 20)
    with pytest.raises(bf.FormatError, match=r"allow more with unpack_limit=") as caught:
        bf.read(path)
    assert f"{max(1 << 20, 100 * path.stat().st_size):,}" in str(caught.value)
    assert bf.read(path, unpack_limit=1 << 22).num_edges == 1
    with pytest.raises(bf.FormatError, match=r"more than 4,194,303;"):
        bf.read(path, unpack_limit=(1 << 22) - 1)


@pytest.mark.parametrize(
    ("packing", "said"),
    [
        (".gz", zlib.error("Error -4 while decompressing data")),
        (".zst", _ZstdError("Unable to decompress Zstandard data: Allocation error : no")),
    ],
)
def test_no_memory_to_unpack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str, said: Exception
) -> None:
    class Full(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise said

    path = tmp_path / f"graph.el{packing}"
    GRAPH.save(path)
    monkeypatch.setattr(files, "_opener", lambda compression: lambda stream, mode: Full())
    with pytest.raises(bf.OutOfMemoryError, match="no memory to unpack"):
        bf.read(path)


def test_no_memory_to_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **options: object) -> bytes:
        raise _ZstdError("Unable to compress Zstandard data: Allocation error")

    monkeypatch.setattr(files._zstd(), "compress", full)
    with pytest.raises(bf.OutOfMemoryError, match="no memory to pack"):
        GRAPH.save(tmp_path / "graph.el.zst")
    assert os.listdir(tmp_path) == []


def test_the_limit_of_binary_files(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "bomb.parquet"
    ends = pa.array(np.zeros(1_000_000, np.int64))
    pq.write_table(pa.table({"source": ends, "target": ends}), path)
    assert path.stat().st_size < 20_000
    with pytest.raises(bf.FormatError, match="unpack to more than 15,999,999"):
        bf.read(path, unpack_limit=15_999_999)
    assert bf.read(path, unpack_limit=16_000_000).num_vertices == 1
    GRAPH.save(tmp_path / "graph.bfg.gz")
    with pytest.raises(bf.FormatError, match="unpack to more than 1,000;"):
        bf.read(tmp_path / "graph.bfg.gz", unpack_limit=1_000)


@pytest.mark.parametrize("limit", [-1, 1.5, "4G", True])
def test_limits_that_are_none(tmp_path: Path, limit: Any) -> None:
    with pytest.raises(bf.OptionError, match="expected a number of bytes"):
        bf.read(tmp_path / "graph.el.gz", unpack_limit=limit)


def test_partitions_hold_no_more_than_owners(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, facts=np.zeros(1 << 24, np.uint8), owner=np.zeros(9, np.uint8))
    assert path.stat().st_size < 1 << 15
    with pytest.raises(bf.FormatError, match="more than the 1,049,"):
        bf.Partition.load(path, GRAPH)
    packed = tmp_path / "bomb.npz.gz"
    packed.write_bytes(gzip.compress(bytes(1 << 24)))
    with pytest.raises(bf.FormatError, match="more than the 1,049,"):
        bf.Partition.load(packed, GRAPH)
    with zipfile.ZipFile(path, "w") as empty:
        empty.writestr("facts", "")
    with pytest.raises(bf.FormatError, match="not a partition"):
        bf.Partition.load(path, GRAPH)


def test_a_long_first_line_is_copied_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.el.gz"
    path.write_bytes(gzip.compress(b"# " + b"x" * 100_000 + b"\n0 1\n"))
    monkeypatch.setattr(files, "READ_AT_ONCE", 100)
    text = Text(path)
    copies = []
    unpack = text._unpack
    monkeypatch.setattr(text, "_unpack", lambda: copies.append(1) or unpack())
    assert text.line_end(0) == 100_002
    assert len(copies) <= 12
    assert bf.read(path).num_edges == 1
