"""Files of compiled code: whole, one's own and unchanged, or not used; and never too many."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from numba.core import config

from broadfront import cache
from broadfront.errors import OptionError

KEY, OTHER = bytes(range(32)), bytes(32)
BODY = b"compiled code" * 100


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "_warned", False)
    monkeypatch.delenv("BROADFRONT_CACHE_SIZE", raising=False)
    return tmp_path / "broadfront"


def only_file() -> Path:
    (kept,) = cache.survey()
    return kept.path


def test_what_is_written_is_read(folder: Path) -> None:
    assert cache.read("loop", KEY) is None
    cache.write("loop", KEY, BODY)
    assert cache.read("loop", KEY) == BODY
    assert cache.read("loop", OTHER) is None
    assert folder.stat().st_mode & 0o777 == 0o700
    assert only_file().stat().st_mode & 0o777 == 0o600
    assert [path.suffix for path in folder.iterdir()] == [cache.SUFFIX]


def test_no_bit_may_change() -> None:
    cache.write("loop", KEY, BODY)
    path = only_file()
    whole = path.read_bytes()
    for place in [*range(150), len(whole) - 1]:
        broken = bytearray(whole)
        broken[place] ^= 1 << place % 8
        path.write_bytes(broken)
        assert cache.read("loop", KEY) is None
    for length in (0, 10, 60, 90, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert cache.read("loop", KEY) is None
    path.write_bytes(whole + b"more")
    assert cache.read("loop", KEY) is None
    path.write_bytes(whole)
    assert cache.read("loop", KEY) == BODY


def test_a_file_answers_to_its_own_key_only() -> None:
    cache.write("loop", KEY, BODY)
    only_file().rename(cache._path("loop", OTHER))
    assert cache.read("loop", OTHER) is None


posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owner here")


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_used(mode: int) -> None:
    cache.write("loop", KEY, BODY)
    only_file().chmod(mode)
    with pytest.warns(RuntimeWarning, match="others may write"):
        assert cache.read("loop", KEY) is None


@posix
@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777])
def test_a_folder_that_others_may_write_is_not_used(folder: Path, mode: int) -> None:
    cache.write("loop", KEY, BODY)
    folder.chmod(mode)
    with pytest.warns(RuntimeWarning, match="others may write"):
        assert cache.read("loop", KEY) is None
    before = list(folder.iterdir())
    cache.write("other", KEY, BODY)
    assert list(folder.iterdir()) == before


@posix
@pytest.mark.parametrize("whose", ["folder", "file"])
def test_what_belongs_to_another_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, whose: str
) -> None:
    cache.write("loop", KEY, BODY)
    if whose == "folder":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    elif os.getuid() == 0:
        os.chown(only_file(), 12345, 12345)
    else:
        pytest.skip("only root can give a file away")
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert cache.read("loop", KEY) is None


@posix
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    cache.write("loop", KEY, BODY)
    path = only_file()
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(RuntimeWarning, match="not kept on disk"):
        assert cache.read("loop", KEY) is None


def test_a_full_disk_costs_one_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.warns(RuntimeWarning, match="No space left"):
        cache.write("loop", KEY, BODY)
    assert list(folder.iterdir()) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.write("loop", KEY, BODY)


def test_a_file_in_the_way_of_the_folder(folder: Path) -> None:
    folder.write_text("not a folder")
    with pytest.warns(RuntimeWarning, match="compiled anew"):
        assert cache.read("loop", KEY) is None
    cache.write("loop", KEY, BODY)


def test_no_home_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", "")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.warns(RuntimeWarning, match="no home"):
        assert cache.read("loop", KEY) is None
    cache.write("loop", KEY, BODY)


def test_the_least_recently_used_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        cache.write(f"loop{number}", KEY, BODY)
        os.utime(cache._path(f"loop{number}", KEY), (number, number))
    assert cache.read("loop0", KEY) == BODY
    size = cache.survey()[0].nbytes
    monkeypatch.setenv("BROADFRONT_CACHE_SIZE", str(3 * size + 10))
    cache.write("loop4", KEY, BODY)
    names = {kept.path.name.partition("-")[0] for kept in cache.survey()}
    assert names == {"loop0", "loop3", "loop4"}
    cache.prune(0)
    assert cache.survey() == []


def test_a_size_of_0_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write("loop", KEY, BODY)
    monkeypatch.setenv("BROADFRONT_CACHE_SIZE", "0")
    assert cache.read("loop", KEY) is None
    cache.write("other", KEY, BODY)
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("text", ["much", "-1", "1e9", "5X"])
def test_a_size_that_is_none(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("BROADFRONT_CACHE_SIZE", text)
    with pytest.raises(OptionError, match="BROADFRONT_CACHE_SIZE"):
        cache.read("loop", KEY)


def test_abandoned_parts_go_and_those_under_way_stay(folder: Path) -> None:
    cache.write("loop", KEY, BODY)
    old, new = folder / f"old{cache.PART}", folder / f"new{cache.PART}"
    for part in (old, new):
        part.write_bytes(b"half")
    os.utime(old, (time.time() - 2 * cache.ABANDONED,) * 2)
    cache.prune(1 << 20)
    assert sorted(path.name for path in folder.glob(f"*{cache.PART}")) == [new.name]
    assert cache.read("loop", KEY) == BODY


WORK = """
import sys, warnings
from broadfront import cache
warnings.simplefilter("error")
role, rounds = sys.argv[1], 300
hits = 0
for round in range(rounds):
    key = bytes([round % 7]) * 32
    if role == "write":
        cache.write("loop", key, key * 2000)
    elif role == "prune":
        cache.prune(round % 3 * 100_000)
    found = cache.read("loop", key)
    assert found is None or found == key * 2000
    hits += found is not None
print(hits)
"""


def test_two_write_and_one_prunes(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    working = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, role], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for role in ("write", "write", "prune")
    ]  # fmt: skip
    ends = [process.communicate(timeout=120) for process in working]
    assert [errors for _, errors in ends] == ["", "", ""]
    assert int(ends[0][0]) > 0
    assert not list((tmp_path / "broadfront").glob(f"*{cache.PART}"))
