"""Delays, faults, limits: everybody stops at once with the error, and the next run works."""

from __future__ import annotations

import os
import signal
import threading
import time
from itertools import product
from typing import Any

import numpy as np
import pytest
from stress import stress

import broadfront as bf
from broadfront.algorithms.bfs import BFS
from broadfront.backends.cpu.asynchronous import worklist
from broadfront.backends.cpu.exchange import blocks
from broadfront.devices.choose import choose
from jobs import run_on

RING = bf.generate("cycle:60")
THIRDS = bf.split(RING, 3, by="range")
RIGHT = np.minimum(np.arange(60), 60 - np.arange(60))


def depth(fused: bool = True, **options: Any) -> np.ndarray:
    answer = run_on(
        BFS, THIRDS, choose(3, 1), [0], {"depth": {0: 0}, "parent": {0: 0}}, {},
        asynchronous=bf.Async(fused=fused), **options,
    )  # fmt: skip
    return answer["depth"]


def test_random_delays() -> None:
    stress(200)


@pytest.mark.parametrize("fused", [True, False])
def test_a_fault_anywhere_stops_everybody(fused: bool) -> None:
    for block, device in product((blocks.KERNEL, blocks.PACKAGE, blocks.UNPACKAGE), range(3)):
        with pytest.raises(bf.DeviceError, match=f"cpu:{device} failed at block") as caught:
            depth(fused, fault=(device, block, 0))
        assert caught.value.device == device
        np.testing.assert_array_equal(depth(fused), RIGHT)


def test_a_full_pool_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one block for all buckets most vertices are found again by looking at all of them."""
    monkeypatch.setattr(worklist, "POOL_LEAST", 1)
    monkeypatch.setattr(worklist, "POOL_SHARE", 0)
    graph = bf.generate("uniform:10:8:seed=1")
    found = bf.bfs(graph, 0, devices=2, execution="async")
    monkeypatch.undo()
    np.testing.assert_array_equal(found.depth, bf.bfs(graph, 0).depth)
    assert (found.report.work.produced == found.report.work.consumed).all()


def one_more_but_not_at(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    if state.ids[neighbor] == state.bad:
        raise ValueError("there is no way to this vertex")
    return state.value[source] + state.more


COUNT = bf.Program(
    {"value": bf.Field(np.int64, combine="max")},
    step=[bf.Advance(one_more_but_not_at, into="value", synchronous=False)],
    parameters=["bad", "more"],
)
"""Without end if there is more each time; raises at a vertex."""


def count(bad: int = -1, more: int = 0, **options: Any) -> Any:
    return bf.run(
        COUNT, RING, frontier=[30], init={"value": {30: 1}}, parameters={"bad": bad, "more": more},
        devices=3, partitioner=THIRDS, execution="async", **options,
    )  # fmt: skip


def test_a_functor_that_raises_stops_everybody() -> None:
    for device in range(3):
        middle = int(np.flatnonzero(THIRDS.owner == device)[10])
        with pytest.raises(ValueError, match="no way to this vertex") as caught:
            count(bad=middle)
        assert caught.value.__notes__ == [f"on cpu:{device}"]
        assert (count()["value"] == 1).all()


def test_a_time_limit_stops_all_devices() -> None:
    assert (count()["value"] == 1).all()
    with pytest.raises(bf.TimeLimitError, match=r"time_limit=0\.2"):
        count(more=1, time_limit=0.2)
    assert (count()["value"] == 1).all()


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("how", ["async", bf.Async(fused=False)], ids=["fused", "unfused"])
def test_ctrl_c_stops_all_devices(how: Any) -> None:
    count()
    press = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    press.start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        bf.run(
            COUNT, RING, frontier=[30], parameters={"bad": -1, "more": 1}, devices=3,
            partitioner=THIRDS, execution=how, time_limit=60,
        )  # fmt: skip
    assert time.perf_counter() - began < 30
    press.join()
    assert (count()["value"] == 1).all()
