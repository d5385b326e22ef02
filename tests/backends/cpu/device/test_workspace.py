"""Workspaces: kept from run to run, and dropped beyond the budget."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from broadfront.backends.cpu.device import workspace


@pytest.fixture(autouse=True)
def _empty_shelf() -> Iterator[None]:
    workspace.release()
    yield
    workspace.release()


def use(count: int, nbytes: int) -> list[weakref.ref[workspace.Workspace]]:
    """Borrow some workspaces, and use so many bytes in each."""
    with workspace.borrowed_many(count) as spaces:
        for space in spaces:
            space.array("bytes", nbytes, np.uint8)
        return [weakref.ref(space) for space in spaces]


def test_the_same_ones_come_back_in_the_same_order() -> None:
    first = use(3, 100)
    assert use(3, 100) == first
    assert use(1, 100) == first[:1]


def test_what_recent_runs_needed_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "ALWAYS_KEPT", 0)
    large = use(4, 1 << 20)
    for _ in range(workspace.LAST_RUNS - 1):
        use(1, 1 << 10)
        assert all(one() is not None for one in large)
    use(1, 1 << 10)
    assert [one() is not None for one in large] == [False] * 4
    assert sum(space.nbytes for space in workspace._shelf) <= 2 << 10


def test_a_little_always_stays() -> None:
    large = use(2, 1 << 20)
    for _ in range(2 * workspace.LAST_RUNS):
        use(1, 10)
    assert all(one() is not None for one in large)


def test_nothing_stays_if_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADFRONT_KEEP", "0")
    assert all(one() is None for one in use(2, 1 << 20))


def test_what_grows_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    with workspace.borrowed() as space:
        before = space.nbytes
        space.growing([1000, 3000])
        assert space.nbytes == before + 4000
        assert space.used_bytes == 4000
        assert space.asked_bytes == 0
        space.sparse_array("log", 1 << 20, np.int64)
        assert space.nbytes == before + 4000
