"""Where compiled code is kept on disk: a folder of files, each with a checksum.

A file is a mark, the key it answers to, a checksum and the content. Nothing of the content is used
before all of that, and the file's owner, has been looked at: a file answers only if this user wrote
it, nobody else could have, and not a bit has changed since. It is written under another name and
renamed, so that it is there whole or not at all; whoever reads it marks it as used; and beyond
``BROADFRONT_CACHE_SIZE`` bytes (1 GiB if it is not set, 0 for no cache) the least recently used go.

Invariant: a cache that cannot be used costs time and one warning, and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
import uuid
import warnings
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from numba.core import config

from broadfront.errors import OptionError
from broadfront.sizes import bytes_in

MARK = b"broadfront compiled 1\n"
CHECK = 32
"""Bytes of a key, and of a checksum."""
SUFFIX, PART = ".compiled", ".part"
DEFAULT_SIZE = 1 << 30
ABANDONED = 3600.0
"""Seconds after which a part of a file is nobody's."""

_warned = False


class Kept(NamedTuple):
    """A file of the cache."""

    path: Path
    nbytes: int
    used: float
    """When it was last written or read, in seconds since 1970."""


def folder() -> Path:
    """Return where compiled code is kept; the folder may not be there."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / "broadfront"
    named = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return (Path(named) if named else Path.home() / ".cache") / "broadfront"
    except RuntimeError:
        raise OSError("this user has no home") from None


def size_limit() -> int:
    """Return how many bytes may be kept, as BROADFRONT_CACHE_SIZE says: 512M, 4G, 0 for none."""
    named = os.environ.get("BROADFRONT_CACHE_SIZE", "")
    size = bytes_in(named) if named else DEFAULT_SIZE
    if size is None:
        raise OptionError(f"BROADFRONT_CACHE_SIZE={named[:40]!r} is not a size such as 512M or 4G")
    return size


def read(name: str, key: bytes) -> bytes | None:
    """Return what was written under `key`; None if it is not there, or not to be trusted."""
    if size_limit() == 0:
        return None
    try:
        path = _path(name, key)
        _require_own(path.parent, os.stat(path.parent))
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | _BINARY)
        with open(opened, "rb") as stream:
            _require_own(path, os.fstat(opened))
            content = stream.read()
        with suppress(OSError):  # a cache that can only be read is of use too
            os.utime(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn(error)
        return None
    head = len(MARK) + 2 * CHECK
    body = memoryview(content)[head:]
    expected = MARK + key + hashlib.sha256(body).digest()
    return bytes(body) if content[:head] == expected else None


def write(name: str, key: bytes, body: bytes) -> None:
    """Keep `body` under `key`."""
    if size_limit() == 0:
        return
    part: Path | None = None
    try:
        path = _path(name, key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_own(path.parent, os.stat(path.parent))
        part = path.with_suffix(f".{uuid.uuid4().hex}{PART}")
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        with open(opened, "wb") as stream:
            stream.write(MARK + key + hashlib.sha256(body).digest())
            stream.write(body)
        os.replace(part, path)
        prune(size_limit())
    except BaseException as error:
        if part is not None:
            _remove(part)
        if not isinstance(error, OSError):
            raise
        _warn(error)


def survey() -> list[Kept]:
    """Return the files that are there, the least recently used first."""
    return sorted(_files(SUFFIX), key=lambda kept: kept.used)


def prune(limit: int) -> None:
    """Remove the least recently used beyond `limit` bytes, and what was abandoned."""
    now = time.time()
    for part in _files(PART):
        if now - part.used > ABANDONED:
            _remove(part.path)
    files = survey()
    excess = sum(kept.nbytes for kept in files) - limit
    for kept in files:
        if excess <= 0:
            break
        _remove(kept.path)
        excess -= kept.nbytes


def _files(suffix: str) -> list[Kept]:
    found = []
    with suppress(FileNotFoundError), os.scandir(folder()) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # somebody has just removed it
                if entry.name.endswith(suffix):
                    about = entry.stat(follow_symlinks=False)
                    found.append(Kept(Path(entry.path), about.st_size, about.st_mtime))
    return found


def _path(name: str, key: bytes) -> Path:
    return folder() / f"{name}-{key.hex()[:32]}{SUFFIX}"


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _warn(error)


def _require_own(path: Path, about: os.stat_result) -> None:
    """Raise `OSError` if another user could have written this."""
    if not hasattr(os, "geteuid"):
        return
    if about.st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user")
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"others may write to {path}")


def _warn(error: OSError) -> None:
    global _warned
    if not _warned:
        _warned = True
        text = f"compiled code is not kept on disk, and is compiled anew each time: {error}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


_BINARY = getattr(os, "O_BINARY", 0)
