"""What happens when a device fails, a functor raises, time or memory is over, or Ctrl-C is pressed.

Everybody stops, at once, with an error that says who and why; no thread stays behind; and the next
run works. Two loops are compiled here, `ENDLESS` and `CHOOSY`; the others are those of `problems`.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import resource
import signal
import sys
import threading
import time
from itertools import islice, product
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Field, Program
from broadfront.algorithms.components import MIN_LABEL
from broadfront.backends.cpu.exchange import blocks
from broadfront.devices.choose import choose
from jobs import run_on

RING = bf.generate("cycle:60")
EVERYONE = np.arange(60)
THIRDS = bf.split(RING, 3, by="range")


def min_label(threads: int = 1, **options: Any) -> np.ndarray:
    answer = run_on(
        MIN_LABEL, THIRDS, choose(3, threads), EVERYONE, {"component": EVERYONE}, {}, **options
    )
    return answer["component"]


def only_those_of_before(count: int) -> bool:
    """Wait for threads that were let go; tell whether there are no more than before."""
    until = time.perf_counter() + 10
    while _thread._count() > count and time.perf_counter() < until:
        time.sleep(0.01)
    return _thread._count() <= count


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("block", blocks.NAMES.values(), ids=blocks.NAMES.keys())
def test_a_fault_anywhere_stops_everybody(block: int, threads: int) -> None:
    assert not min_label(threads).any()
    before = _thread._count()
    for device, times in product(range(3), (0, 3)):
        began = time.perf_counter()
        with pytest.raises(bf.DeviceError, match=f"cpu:{device} failed at block") as caught:
            min_label(threads, fault=(device, block, times))
        assert time.perf_counter() - began < 5  # a second on free cores
        assert caught.value.device == device
        del caught
        assert not min_label(threads).any()
    assert only_those_of_before(before)


def test_a_thousand_faults_leave_nothing_behind() -> None:
    places = product(range(1000), range(3), blocks.NAMES.values())
    faults = [(device, block, times % 3) for times, device, block in islice(places, 1000)]
    min_label()
    before = _thread._count()
    memory = 0
    for number, fault in enumerate(faults):
        with pytest.raises(bf.DeviceError):
            min_label(fault=fault)
        if number == 200:
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert only_those_of_before(before)
    unit = 1 if sys.platform == "darwin" else 1024
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) * unit
    assert grown < 20_000_000
    assert not min_label().any()


# ---------------------------------------------------------------------- functors that raise


def not_to_the_bad_one(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    if state.ids[neighbor] == state.bad:
        raise ValueError("there is no way to this vertex")
    return state.label[source]


CHOOSY = Program(
    {"label": Field(np.int64, fill=99, combine="min")},
    step=[Advance(not_to_the_bad_one, into="label")],
    parameters=["bad"],
)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("device", [0, 1, 2])
def test_a_functor_that_raises_stops_everybody(device: int, threads: int) -> None:
    settings: dict[str, Any] = {"frontier": [30], "init": {"label": {30: 0}}, "threads": threads}
    middle = np.flatnonzero(THIRDS.owner == device)[10]
    before = _thread._count()
    with pytest.raises(ValueError, match="no way to this vertex") as caught:
        bf.run(CHOOSY, RING, **settings, parameters={"bad": middle}, devices=3, partitioner=THIRDS)
    assert caught.value.__notes__ == [f"on cpu:{device}"]
    del caught
    answer = bf.run(CHOOSY, RING, **settings, parameters={"bad": -1}, devices=3, partitioner=THIRDS)
    assert not answer["label"].any()
    assert only_those_of_before(before + 3 * threads)


def misspells(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.lable[source]


def test_a_functor_that_does_not_compile_is_named() -> None:
    wrong = Program({"label": Field(np.int64, combine="min")}, [Advance(misspells, into="label")])
    with pytest.raises(bf.FunctorError, match="misspells does not compile"):
        bf.run(wrong, RING, frontier=[0], devices=3, threads=1)


# ---------------------------------------------------------------------- stopping


def never_content(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.value[source] + 1


ENDLESS = Program(
    {"value": Field(np.int64, combine="max")}, step=[Advance(never_content, into="value")]
)


def run_for_ever(devices: int, **options: Any) -> None:
    bf.run(ENDLESS, RING, frontier=[0], threads=1, devices=devices, **options)


@pytest.fixture(params=[1, 4])
def devices(request: pytest.FixtureRequest) -> int:
    """So many devices, on which the endless loop is compiled."""
    with pytest.raises(bf.TimeLimitError):
        run_for_ever(request.param, time_limit=0.5)  # time to split the graph, and so to compile
    return request.param


def test_a_time_limit_stops_all_devices(devices: int) -> None:
    began = time.perf_counter()
    with pytest.raises(bf.TimeLimitError, match="time_limit=0.2"):
        run_for_ever(devices, time_limit=0.2)
    assert time.perf_counter() - began < 10
    assert not min_label().any()


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_stops_all_devices(devices: int) -> None:
    presses = [threading.Timer(0.3 + wait, os.kill, (os.getpid(), signal.SIGINT)) for wait in (0,)]
    for press in presses:
        press.start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        run_for_ever(devices, time_limit=20)
    assert time.perf_counter() - began < 5
    for press in presses:
        press.join()
    assert not min_label().any()


class AlarmError(Exception):
    """What a signal handler raises."""


def test_what_a_signal_handler_raises_comes_out(devices: int) -> None:
    def ring(*_: object) -> None:
        raise AlarmError("of the handler")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(AlarmError, match="of the handler"):
            run_for_ever(devices, time_limit=60)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not min_label().any()


def test_a_signal_handler_that_leaves(devices: int) -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    try:
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
        with pytest.raises(SystemExit) as caught:
            run_for_ever(devices, time_limit=60)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert caught.value.code == 7


def test_a_signal_handler_that_only_looks(devices: int) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: seen.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(bf.TimeLimitError):
            run_for_ever(devices, time_limit=0.5)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [signal.SIGALRM]


def test_progress_is_told(devices: int) -> None:
    told: list[tuple[str, int, int]] = []
    with pytest.raises(bf.TimeLimitError):
        run_for_ever(devices, time_limit=0.5, progress=lambda *what: told.append(what))
    assert told
    assert told[-1][1] >= told[0][1] > 0


def test_several_python_threads_at_once() -> None:
    wrong: list[object] = []

    def work(threads: int) -> None:
        try:
            for number in range(8):
                if number % 4 == 3:
                    with pytest.raises(bf.DeviceError):
                        min_label(threads, fault=(number % 3, blocks.PUSH, 1))
                elif min_label(threads).any():
                    wrong.append(number)
        except BaseException as error:
            wrong.append(error)

    workers = [threading.Thread(target=work, args=(1 + number % 2,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert wrong == []
    assert not any(worker.is_alive() for worker in workers)


# ---------------------------------------------------------------------- memory


def labels(graph: bf.Graph, **options: Any) -> bf.Components:
    return bf.connected_components(graph, method="min_label", threads=1, **options)


def test_a_limit_that_cannot_be_kept_is_refused_before_the_run() -> None:
    for devices in (1, 2):
        with pytest.raises(bf.DeviceMemoryError, match="memory_limit is 1,000") as caught:
            labels(bf.generate("uniform:11:8"), devices=devices, memory_limit=1000)
        error = caught.value
        assert isinstance(error, MemoryError)
        assert error.wanted > 1000
        assert f"needs {error.wanted:,} bytes" in str(error)
        assert f"cpu:{error.device}" in str(error)


def test_a_box_that_does_not_fit_stops_the_run() -> None:
    graph = bf.generate("uniform:11:8")
    found = labels(graph, devices=3)
    most = max(one.part_bytes + one.field_bytes + one.workspace_bytes
               for one in found.report.devices)  # fmt: skip
    with pytest.raises(bf.DeviceMemoryError, match="memory_limit is") as caught:
        labels(graph, devices=3, memory_limit=most)
    assert most < caught.value.wanted <= max(one.bytes for one in found.report.devices)
    enough = max(one.bytes for one in found.report.devices)
    again = labels(graph, devices=3, memory_limit=enough)
    np.testing.assert_array_equal(again.component, found.component)


def test_one_device_within_its_limit() -> None:
    graph = bf.generate("uniform:11:8")
    assert labels(graph, devices=1, memory_limit=10_000_000).count == labels(graph).count


def test_a_run_that_was_stopped_between_levels_leaves_no_trace() -> None:
    graph = bf.generate("grid:60x70:0")
    expected = bf.betweenness(graph, [0], threads=1).centrality
    where: dict[str, Any] = {"threads": 1, "devices": 8, "partitioner": "random", "relabel": False}
    for turn in range(10):
        with contextlib.suppress(bf.TimeLimitError):
            bf.betweenness(graph, [4100], time_limit=1e-4 + 0.001 * (turn % 5), **where)
        found = bf.betweenness(graph, [0], time_limit=60, **where)
        np.testing.assert_allclose(found.centrality, expected)
