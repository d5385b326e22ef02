"""Memory profiles: saved, loaded, put together, and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import broadfront as bf
from broadfront.devices.profile import FIXED, largest

PROFILE = bf.MemoryProfile("bfs", "kron:20", 0.1, 2.5, 1 / 3)


def test_saved_and_loaded(tmp_path: Path) -> None:
    PROFILE.save(tmp_path / "profile.json")
    assert bf.MemoryProfile.load(tmp_path / "profile.json") == PROFILE


def test_passed_as_a_file(tmp_path: Path) -> None:
    graph = bf.generate("cycle:60")
    found = bf.bfs(graph, 0)
    path = tmp_path / "profile.json"
    found.report.memory_profile().save(path)
    for given in (path, str(path)):
        assert bf.bfs(graph, 0, memory=given).report.growths == 0 < found.report.growths


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x93NUMPY", "not JSON"),
        (b"[1, 2]", "no memory profile"),
        (b"{}", "no memory profile"),
        (b'{"format": "broadfront memory profile 1"}', "'program' is None"),
    ],
)
def test_other_files_are_refused(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_bytes(content)
    with pytest.raises(bf.FormatError, match=problem) as caught:
        bf.MemoryProfile.load(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("value", [-1, "much", True, None, float("nan"), float("inf")])
def test_what_is_no_factor_is_refused(value: object, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    PROFILE.save(path)
    told = json.loads(path.read_text())
    path.write_text(json.dumps({**told, "queue": value}))
    with pytest.raises(bf.FormatError, match="'queue' is"):
        bf.MemoryProfile.load(path)
    with pytest.raises(bf.FormatError):
        bf.bfs(bf.generate("path:3"), 0, memory=path)


def test_the_largest_of_several() -> None:
    other = bf.MemoryProfile("tree", "kron:20", 0.5, 1.0, 0.0, 7.0)
    both = bf.MemoryProfile("bfs + tree", "kron:20", 0.5, 2.5, 1 / 3, 7.0)
    assert largest([PROFILE, other]) == both
    assert largest([]) == bf.MemoryProfile()


def test_what_is_fixed_is_no_profile_to_keep(tmp_path: Path) -> None:
    with pytest.raises(bf.OptionError, match="no factors"):
        FIXED.save(tmp_path / "fixed.json")
