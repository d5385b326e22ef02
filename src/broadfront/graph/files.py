"""Bytes from files and into files: compression by suffix, whole or not at all.

Reading gives one array of bytes: a memory map of a plain file, the unpacked content of a ``.gz``,
``.xz`` or ``.zst`` one. Writing goes to a temporary file beside the goal, which takes the goal's
name only when everything is written: a failed write leaves no half file.
"""

from __future__ import annotations

import gzip
import lzma
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from broadfront import progress
from broadfront.errors import FormatError

COMPRESSIONS = (".gz", ".xz", ".zst")
READ_AT_ONCE = 1 << 22


def suffixes(path: str | PathLike[str]) -> tuple[str, str]:
    """Return the format's suffix and the compression's, both in lower case.

    >>> suffixes("roads/NY.gr.GZ")
    ('.gr', '.gz')
    """
    names = [suffix.lower() for suffix in Path(path).suffixes]
    compression = names.pop() if names and names[-1] in COMPRESSIONS else ""
    return (names[-1] if names else ""), compression


def content(path: str | PathLike[str]) -> NDArray[np.uint8]:
    """Return the unpacked bytes of a file."""
    compression = suffixes(path)[1]
    if compression:
        return np.frombuffer(_unpacked(path, compression), np.uint8)
    if os.path.getsize(path) == 0:
        return np.empty(0, np.uint8)
    return np.asarray(np.memmap(path, np.uint8, "r"))


def _unpacked(path: str | PathLike[str], compression: str) -> bytearray:
    unpacked = bytearray()
    size = os.path.getsize(path)
    try:
        with open(path, "rb") as packed, _opener(compression)(packed, "rb") as stream:
            while block := stream.read(READ_AT_ONCE):
                unpacked += block
                progress.report("unpacking", min(packed.tell(), size), size)
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, _zstd().ZstdError) as error:
        raise FormatError(path, f"broken {compression[1:]} data: {error}") from error
    return unpacked


@contextmanager
def written(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to write in full; it appears under its name when the block ends well."""
    goal = Path(path)
    compression = suffixes(path)[1]
    try:
        handle, name = tempfile.mkstemp(dir=goal.parent, prefix=f".{goal.name}.", suffix=".part")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(goal)) from error
    try:
        with os.fdopen(handle, "wb") as plain:
            if compression:
                with _opener(compression)(plain, "wb") as stream:
                    yield stream
            else:
                yield plain
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, goal)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _opener(compression: str) -> Any:
    return {".gz": gzip.open, ".xz": lzma.open, ".zst": _zstd().open}[compression]


def _zstd() -> Any:
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return zstd


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
