"""Which devices a run gets."""

from __future__ import annotations

import pytest

import broadfront as bf
from broadfront import threads
from broadfront.devices.choose import Device, choose, present


def counts(devices: object, each: int | None = None) -> list[int]:
    return [device.threads for device in choose(devices, each)]  # type: ignore[arg-type]


def test_cores_are_shared() -> None:
    with threads.limit(8):
        assert choose(None) == choose("cpu") == [Device("cpu:0", 8)]
        assert counts(1) == [8]
        assert counts(2) == [4, 4]
        assert counts(3) == [2, 3, 3]
        assert counts(9) == [1] * 9
        assert [device.name for device in choose(3)] == ["cpu:0", "cpu:1", "cpu:2"]


def test_names_say_how_many_threads() -> None:
    with threads.limit(8):
        assert counts("cpu*3") == [3]
        assert counts(["cpu*2", "cpu"]) == [2, 6]
        assert counts(("cpu", "cpu*6", "cpu")) == [1, 6, 1]
        assert counts(["cpu*9", "cpu"]) == [9, 1]
        assert counts(["cpu*2", "cpu"], 3) == [2, 3]
        assert counts(2, 3) == [3, 3]


@pytest.mark.parametrize(
    ("devices", "message"),
    [
        (0, "not in 1..1,024"),
        (-3, "not in"),
        (5000, "not in"),
        (True, "expected 'cpu', a number"),
        (2.5, "expected 'cpu', a number"),
        ([], "lists 0 names"),
        ("gpu", "no device 'gpu'"),
        (["cpu", 3], "no device 3"),
        ("cpu*0", "no device"),
        ("cpu*2x", "no device"),
    ],
)
def test_what_is_no_device(devices: object, message: str) -> None:
    with pytest.raises(bf.OptionError, match=message):
        choose(devices)  # type: ignore[arg-type]


@pytest.mark.parametrize("each", [0, -1])
def test_threads_are_positive(each: int) -> None:
    with pytest.raises(bf.OptionError, match=f"threads={each} is not"):
        choose(2, each)


def test_what_is_present() -> None:
    (row,) = present()
    assert row["name"] == "cpu"
    assert row["threads"] == threads.available()


def test_one_device_runs_on_the_threads_that_its_name_says() -> None:
    graph = bf.generate("path:9")
    assert bf.bfs(graph, 0, devices="cpu*2").report.threads == 2
    assert bf.bfs(graph, 0, devices=["cpu*3"]).report.threads == 3
    assert bf.bfs(graph, 0, devices="cpu").report.threads == 1
