"""Devices in processes of their own: the same answers, the bytes that were counted, and failures.

What crosses goes through sockets here, so a receiver has nothing but the run of bytes: a value read
from the memory of its sender would be wrong. All loops but that of `ENDLESS` are those of other
tests, since a loop is the same code for every transport.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

import broadfront as bf
import in_processes
from broadfront.backends.cpu.exchange import blocks
from broadfront.backends.cpu.transports.processes import Processes
from problems import with_weights
from zoo import ZOO, Animal

SMALL = Animal(
    *map(list, zip(*[(v, (v * v + 7) % 90) for v in range(90)], strict=True)), 95, directed=False
)


@pytest.fixture(scope="module")
def two() -> Iterator[Processes]:
    with Processes(2) as processes:
        yield processes


def solve_in(processes: Processes, devices: int, name: str, animal: Animal, **options: object):  # type: ignore[no-untyped-def]
    """Assert that a problem has one answer here and in processes, and that bytes are as counted."""
    if name in in_processes.PROBLEMS and in_processes.PROBLEMS[name].weighted:
        animal = with_weights(animal)
    expected, sent = in_processes.solved(name, animal, devices, **options)
    before = np.array(processes.traffic())
    answers = processes.call(in_processes.solved, name, animal, devices, **options)
    counted = np.array(processes.traffic()) - before
    for answer in answers:
        assert not isinstance(answer, BaseException), answer
        columns, told = answer
        assert columns.keys() == expected.keys()
        for column in expected:
            np.testing.assert_array_equal(columns[column], expected[column], column)
        np.testing.assert_array_equal(told, sent)
    np.testing.assert_array_equal(counted.T, sent)
    return sent


@pytest.mark.parametrize("name", in_processes.SOLVE)
def test_bytes_and_answers_are_those_of_shared_memory(name: str, two: Processes) -> None:
    assert solve_in(two, 2, name, SMALL).sum() > 0


@pytest.mark.parametrize("name", ["bfs", "pagerank", "united components", "triangles"])
def test_odd_graphs(name: str, two: Processes) -> None:
    for animal in ("no edges", "one vertex"):
        solve_in(two, 2, name, ZOO[animal]._replace(weight=None))


@pytest.mark.parametrize("memory", ["minimal", "fixed"])
def test_messages_longer_than_a_socket_holds(memory: str, two: Processes) -> None:
    size = 120_000
    source = list(range(size))
    target = [(vertex * vertex * 7 + 13) % size for vertex in source]  # degrees differ
    animal = Animal(source, target, size, directed=False)
    assert solve_in(two, 2, "pagerank", animal, memory=memory).max() > 1 << 20


def test_several_threads(two: Processes) -> None:
    solve_in(two, 2, "bfs", SMALL, threads=2)


def test_three_processes() -> None:
    with Processes(3) as three:
        solve_in(three, 3, "bfs", SMALL)
        solve_in(three, 3, "united components", SMALL)


# ---------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("block", blocks.NAMES.values(), ids=blocks.NAMES.keys())
def test_a_fault_stops_all_processes(block: int, two: Processes) -> None:
    for device in range(2):
        errors = two.call(in_processes.min_label, 2, fault=(device, block, 1))
        for error in errors:
            assert isinstance(error, bf.DeviceError)
            assert str(error) == f"cpu:{device} failed at block {block}, as it was told"
        for labels in two.call(in_processes.min_label, 2):
            assert not labels.any()


def test_a_time_limit_holds_in_all(two: Processes) -> None:
    began = time.perf_counter()
    for error in two.call(in_processes.run_for_ever, time_limit=0.3):
        assert isinstance(error, bf.TimeLimitError)
    assert time.perf_counter() - began < 60  # a loop is compiled in both
    for labels in two.call(in_processes.min_label, 2):
        assert not labels.any()


def test_a_process_that_dies_is_noticed() -> None:
    with Processes(2) as processes:
        for labels in processes.call(in_processes.min_label, 2):
            assert not labels.any()
        processes.send(in_processes.run_for_ever)
        time.sleep(1)
        processes.process(1).kill()
        left, gone = processes.receive()
        assert isinstance(left, bf.DeviceError)
        assert str(left) == "cpu:1 has failed, or its process is gone"
        assert isinstance(gone, EOFError)


def test_what_processes_cannot_do_is_refused(two: Processes) -> None:
    for error in two.call(in_processes.run_asynchronously):
        assert isinstance(error, bf.OptionError)
        assert "execution" in str(error)
    for error in two.call(in_processes.run_in_parts, 3):
        assert isinstance(error, bf.OptionError)
        assert "2 processes run a device each, and devices=3" in str(error)
