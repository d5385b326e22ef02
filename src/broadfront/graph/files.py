"""Bytes from files and into files: compression by suffix, whole or not at all.

Reading gives one array of bytes: a memory map of a plain file, or a copy of it, or the unpacked
content of a ``.gz``, ``.xz`` or ``.zst`` one, which `blocks` gives block by block, up to a limit.
Writing goes to a temporary file beside the goal, which takes the goal's name and permissions only
when everything is written and on the disk: a failed write leaves no half file, and who has mapped
the old file keeps it as it was.

What is packed is packed in blocks, several at once: every one of the three formats takes files that
are joined for one file. The levels are those beyond which columns of digits take several times as
long to pack and come out hardly smaller.
"""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import mmap
import os
import secrets
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from broadfront import progress, threads
from broadfront.errors import FormatError, OptionError, OutOfMemoryError
from broadfront.given import is_path
from broadfront.pages import file_map, in_large_pages

CREATE = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
COMPRESSIONS = (".gz", ".xz", ".zst")
READ_AT_ONCE = 1 << 20
PACKED_AT_ONCE = 1 << 21
UNPACKED_FREELY = 1 << 30
UNPACKED_TIMES = 100
"""Without another limit a packed file may unpack to `UNPACKED_FREELY` bytes, or to so many times
its own; text of edges takes ten times or less."""
NO_MEMORY = ("Error -4 ", "Unable to decompress Zstandard data: Allocation error")
"""How zlib and Zstandard say that they have no memory; the third raises `MemoryError`."""


def expect_path(path: object) -> None:
    """Refuse what names no file; a number would be an open file, and closed."""
    if not is_path(path):
        raise OptionError(f"path={path!r:.60}: expected the path of a file")


def suffixes(path: str | PathLike[str]) -> tuple[str, str]:
    """Return the format's suffix and the compression's, both in lower case.

    >>> suffixes("roads/NY.gr.GZ")
    ('.gr', '.gz')
    """
    expect_path(path)
    names = [suffix.lower() for suffix in Path(path).suffixes]
    compression = names.pop() if names and names[-1] in COMPRESSIONS else ""
    return (names[-1] if names else ""), compression


def content(
    path: str | PathLike[str], *, mapped: bool = True, unpack_limit: int | None = None
) -> NDArray[np.uint8]:
    """Return the unpacked bytes of a file; those of a plain one can be mapped or copied."""
    if suffixes(path)[1]:
        return np.frombuffer(b"".join(blocks(path, unpack_limit)), np.uint8)
    size = os.path.getsize(path)
    if mapped and size:
        return np.frombuffer(mapped_file(path), np.uint8)
    copy, copied = np.empty(size, np.uint8), 0
    for block in blocks(path):
        copy[copied : copied + len(block)] = np.frombuffer(block, np.uint8)
        copied += len(block)
    return copy[:copied]


def mapped_file(path: str | PathLike[str]) -> mmap.mmap:
    """Map a plain file, which is not empty, to memory."""
    with open(path, "rb") as file:
        return in_large_pages(file_map(file.fileno(), 0, os.fspath(path), mmap.ACCESS_READ))


def blocks(path: str | PathLike[str], unpack_limit: int | None = None) -> Iterator[bytes]:
    """Yield the unpacked content of a file, block by block; one that unpacks to too much fails."""
    compression = suffixes(path)[1]
    if not compression:
        yield from _plain_blocks(path)
        return
    size, most, unpacked = os.path.getsize(path), most_unpacked(path, unpack_limit), 0
    try:
        with _opened(path) as packed, _opener(compression)(packed, "rb") as stream:
            while block := stream.read(READ_AT_ONCE):
                unpacked += len(block)
                if unpacked > most:
                    raise unpacks_to_too_much(path, most)
                yield block
                progress.report("unpacking", min(packed.tell(), size), size)
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, _zstd().ZstdError) as error:
        if str(error).startswith(NO_MEMORY):
            raise OutOfMemoryError(f"there is no memory to unpack {os.fspath(path)}") from error
        raise FormatError(path, f"broken {compression[1:]} data: {error}") from error


def _plain_blocks(path: str | PathLike[str]) -> Iterator[bytes]:
    """Yield what a plain file holds now: what is added meanwhile is left out."""
    left = size = os.path.getsize(path)
    with _opened(path) as stream:
        while block := stream.read(min(left, READ_AT_ONCE)):
            left -= len(block)
            yield block
            progress.report("reading", size - left, size)


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to read. That it cannot be closed is nobody's loss, and often nobody listens."""
    stream = open(path, "rb")  # noqa: SIM115
    try:
        yield stream
    finally:
        with suppress(OSError):
            stream.close()


def most_unpacked(path: str | PathLike[str], unpack_limit: int | None) -> int:
    """Return how many bytes a file may unpack to."""
    if unpack_limit is not None:
        return unpack_limit
    return max(UNPACKED_FREELY, UNPACKED_TIMES * os.path.getsize(path))


def unpacks_to_too_much(path: str | PathLike[str], most: int) -> FormatError:
    """Return the error for a file that unpacks to more than it may."""
    return FormatError(
        path,
        f"{os.path.getsize(path):,} bytes unpack to more than {most:,}; if that is right, allow "
        "more with unpack_limit= (--unpack-limit on the command line)",
    )


# ---------------------------------------------------------------------- writing


@contextmanager
def written(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to write in full; it appears under its name when the block ends well.

    What stood there is replaced, never written into. The file that a link leads to is replaced,
    and not the link; permissions stay. Into a pipe or a device is written as it comes.
    """
    expect_path(path)
    goal = Path(os.path.realpath(path))
    try:
        before = goal.stat()
    except FileNotFoundError:
        before = None
    if before is not None and stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    special = before is not None and not stat.S_ISREG(before.st_mode)
    with (
        open(goal, "wb") if special else _replacing(goal, before) as plain,
        _packing(plain, suffixes(path)[1]) as stream,
    ):
        yield stream


@contextmanager
def _replacing(goal: Path, before: os.stat_result | None) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of `goal` when the block ends well."""
    part = goal.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(os.open(part, CREATE, 0o666 if before is None else 0o600), "wb") as plain:
            yield plain
            plain.flush()
            if before is not None:
                _give(plain.fileno(), before)
            os.fsync(plain.fileno())
        os.replace(part, goal)
        _sync_folder(goal.parent)
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(part)):
            error.filename, error.filename2 = str(goal), None
        raise
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)


def _give(file: int, before: os.stat_result) -> None:
    """Give a file the owner, if we may, and the permissions of another."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):
            os.fchown(file, before.st_uid, before.st_gid)
        os.fchmod(file, stat.S_IMODE(before.st_mode))


def _sync_folder(folder: Path) -> None:
    """Bring a new name onto the disk, where folders can be opened and synced."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def _packing(plain: IO[bytes], compression: str) -> Iterator[IO[bytes]]:
    if not compression:
        yield plain
        return
    with _Packed(plain, compression) as stream:
        yield stream  # type: ignore[misc]


class _Packed(io.RawIOBase):
    """Packs what is written, in blocks, a few on each thread at a time."""

    def __init__(self, plain: IO[bytes], compression: str) -> None:
        self._plain, self._pack = plain, _packer(compression)
        self._waiting = bytearray()
        self._empty = True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        octets = memoryview(data).cast("B")
        for begin in range(0, len(octets), PACKED_AT_ONCE):
            self._waiting += octets[begin : begin + PACKED_AT_ONCE]
            if len(self._waiting) >= threads.count() * PACKED_AT_ONCE:
                self._pack_waiting()
        return len(octets)

    def __exit__(self, kind: Any, *problem: Any) -> None:
        if kind is None and (self._waiting or self._empty):
            self._pack_waiting()

    def _pack_waiting(self) -> None:
        text, self._waiting, self._empty = bytes(self._waiting), bytearray(), False
        starts = range(0, len(text), PACKED_AT_ONCE) or range(1)
        blocks = [text[start : start + PACKED_AT_ONCE] for start in starts]
        for packed in threads.run(lambda place: self._pack(blocks[place]), len(blocks)):
            self._plain.write(packed)


def _packer(compression: str) -> Callable[[bytes], bytes]:
    packers: dict[str, Callable[[bytes], bytes]] = {
        ".gz": partial(gzip.compress, compresslevel=4, mtime=0),
        ".xz": partial(lzma.compress, preset=0),
        ".zst": _packed_by_zstd,
    }
    return packers[compression]


def _packed_by_zstd(block: bytes) -> bytes:
    zstd = _zstd()
    try:
        packed: bytes = zstd.compress(block, level=1)
    except zstd.ZstdError as error:  # nothing but memory can be missing; the others say so
        raise OutOfMemoryError(f"there is no memory to pack {len(block):,} bytes") from error
    return packed


def _opener(compression: str) -> Any:
    return {".gz": gzip.open, ".xz": lzma.open, ".zst": _zstd().open}[compression]


def _zstd() -> Any:
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return zstd
