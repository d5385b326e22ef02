"""Limits on memory: what is refused, with which words, and what happens when there is none left.

The loops are those of other tests: the smallest label and breadth-first search, on one device and
on many.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.algorithms.components import MIN_LABEL
from broadfront.backends.cpu.device import workspace
from broadfront.backends.cpu.device.growing import ALLOCATION
from broadfront.backends.cpu.exchange import blocks
from broadfront.backends.cpu.memory.need import Case
from broadfront.devices.choose import choose
from broadfront.devices.profile import FIXED, MINIMAL
from jobs import run_alone, run_on

GRAPH = bf.generate("uniform:10:8")


def labels(**options: Any) -> bf.Components:
    return bf.connected_components(GRAPH, method="min_label", threads=1, **options)


def held(result: bf.Components) -> int:
    """Return the bytes of the device that took most."""
    report = result.report
    if not report.devices:
        return GRAPH.nbytes + report.peak_bytes
    return max(one.bytes for one in report.devices)


def case_of(devices: int = 1, memory: Any = MINIMAL, relabel: bool = True) -> Case:
    program = MIN_LABEL.on(GRAPH.targets.dtype)
    partition = None if devices == 1 else bf.split(GRAPH, devices)
    return Case(program, GRAPH, GRAPH.num_vertices, 1, memory, partition, relabel)


@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize("memory", [MINIMAL, FIXED], ids=["minimal", "fixed"])
@pytest.mark.parametrize("devices", [1, 3])
def test_the_estimate_is_what_a_run_begins_with(
    devices: int, memory: bf.MemoryProfile, relabel: bool
) -> None:
    case = case_of(devices, memory, relabel)
    estimate = max(case.bytes_at_first())
    with pytest.raises(bf.DeviceMemoryError) as caught:
        labels(devices=devices, memory=memory, memory_limit=estimate - 1, relabel=relabel)
    assert caught.value.wanted == estimate
    least, most = case.span()
    assert held(labels(devices=devices, relabel=relabel)) <= most
    assert least == estimate <= most
    assert labels(devices=devices, memory_limit=most, relabel=relabel).count > 0


def test_the_estimate_of_a_fixed_run_is_all_that_it_takes() -> None:
    for devices in (1, 3):
        found = labels(devices=devices, memory="fixed")
        enough = held(found)
        labels(devices=devices, memory="fixed", memory_limit=enough)
        with pytest.raises(bf.DeviceMemoryError, match="bytes or more, and memory_limit is"):
            labels(devices=devices, memory="fixed", memory_limit=enough - 1)


def options_in(text: str) -> dict[str, Any]:
    """Return the options that an error says will fit."""
    said = re.search(r"(?:: |; )([^:;]*) fits, with ([\d,]+) at the most$", text)
    assert said, text
    return {name: value if not value.isdigit() else int(value)
            for name, value in re.findall(r"(\w+)='?(\w+)'?", said[1])}  # fmt: skip


@pytest.mark.parametrize(
    ("how", "share"),
    [
        ({}, 0.8),
        ({"devices": 2}, 0.8),
        ({"devices": 2, "memory": FIXED}, 0.7),
        ({"devices": 2, "relabel": False, "memory": FIXED}, 0.8),
    ],
)
def test_what_an_error_suggests_works(how: dict[str, Any], share: float) -> None:
    expected = labels()
    limit = int(share * max(case_of(**how).bytes_at_first()))
    with pytest.raises(bf.DeviceMemoryError, match=f"memory_limit is {limit:,}: ") as caught:
        labels(**how, memory_limit=limit)
    better = {**how, **options_in(str(caught.value))}
    assert better != how
    if "relabel" in better:
        better["relabel"] = True
    found = labels(**better, memory_limit=limit)
    np.testing.assert_array_equal(found.component, expected.component)
    assert held(found) <= limit


def test_the_smaller_scheme_is_named_first() -> None:
    limit = held(labels(devices=2, memory="fixed")) - 1
    with pytest.raises(bf.DeviceMemoryError, match=r": memory='minimal' may fit, with .*; dev"):
        labels(devices=2, memory="fixed", memory_limit=limit)
    assert labels(devices=2, memory="minimal", memory_limit=limit).count > 0


def test_where_nothing_fits_that_is_said() -> None:
    with pytest.raises(bf.DeviceMemoryError, match="nothing is sure to fit, with up to 64 dev"):
        labels(devices=2, memory_limit=1000)


def test_a_limit_is_kept_by_growing_less() -> None:
    workspace.release()
    roomy = bf.bfs(GRAPH, 0, threads=2).report
    room = GRAPH.nbytes + roomy.peak_bytes
    tight = bf.bfs(GRAPH, 0, threads=2, memory_limit=room).report
    assert tight.growths >= roomy.growths > 0
    assert GRAPH.nbytes + tight.peak_bytes <= room
    with pytest.raises(bf.DeviceMemoryError, match="cpu:0 needs .* bytes or more") as caught:
        bf.bfs(GRAPH, 0, threads=2, memory_limit=room - roomy.workspace_bytes // 2)
    assert caught.value.device == 0
    assert bf.bfs(GRAPH, 0, threads=2).report.growths == roomy.growths


# ---------------------------------------------------------------------- no memory


@pytest.mark.parametrize("threads", [1, 2])
def test_an_allocation_that_fails_on_one_device(threads: int) -> None:
    everyone = np.arange(GRAPH.num_vertices)
    where = (MIN_LABEL, GRAPH, everyone, {"component": everyone}, {})
    expected = run_alone(*where, threads=threads)
    assert expected.record.growths > 0
    for after in range(expected.record.growths):
        with pytest.raises(bf.DeviceMemoryError, match="cpu:0 could not get"):
            run_alone(*where, threads=threads, fault=(0, ALLOCATION, after))
        again = run_alone(*where, threads=threads)
        np.testing.assert_array_equal(again["component"], expected["component"])


@pytest.mark.parametrize("threads", [1, 2])
def test_an_allocation_that_fails_on_one_of_many(threads: int) -> None:
    graph = bf.generate("cycle:600")
    everyone = np.arange(graph.num_vertices)
    where = (
        MIN_LABEL, bf.split(graph, 3), choose(3, threads), everyone, {"component": everyone}, {},
    )  # fmt: skip
    assert not run_on(*where)["component"].any()
    for device in range(3):
        for after in range(4):
            with pytest.raises(bf.DeviceMemoryError, match=f"cpu:{device} could not") as caught:
                run_on(*where, fault=(device, ALLOCATION, after))
            assert caught.value.device == device
            assert not run_on(*where)["component"].any()


@pytest.mark.parametrize("block", blocks.NAMES.values(), ids=blocks.NAMES.keys())
def test_a_fault_while_queues_grow_stops_everybody(block: int) -> None:
    """With a limit queues begin anew in each run, and threads meet for them to grow."""
    everyone = np.arange(GRAPH.num_vertices)
    where = (
        MIN_LABEL, bf.split(GRAPH, 3), choose(3, 2), everyone, {"component": everyone}, {},
    )  # fmt: skip
    for device in range(3):
        for after in range(3):
            with pytest.raises(bf.DeviceError, match=f"cpu:{device} failed"):
                run_on(*where, memory_limit=1 << 30, fault=(device, block, after))
    answer = run_on(*where, memory_limit=1 << 30)
    np.testing.assert_array_equal(answer["component"], labels().component)
