"""All orders of steps of links, routers and worklists, for 2 and 3 devices and a few items."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest

from broadfront.routing import (
    DROP,
    KEEP,
    PASS,
    Context,
    DistributedWorklist,
    Link,
    Router,
    broadcast,
    first_available,
    report,
    ring,
    tree_reduction,
)
from broadfront.routing.monitor import Operation
from routing.dataflows import Numbers, receives, routed, sends
from routing.explorer import Stuck, World, explore


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize("buffers", [1, 2])
@pytest.mark.parametrize("memory", ["own", "shared"])
def test_a_link_delivers_all_in_order(wait: bool, buffers: int, memory: str) -> None:
    def build() -> World:
        context = Context(2, memory=memory)
        link = Link(*context.devices, num_buffers=buffers, packet_size=64)
        got: list[tuple[str, int]] = []

        def check() -> None:
            assert [value for _, value in got] == [1, 2, 3, 4]
            assert len(link.free) == buffers

        return World(context, [sends(link, [1, 2, 3, 4], wait), receives(link, got)], check)

    assert explore(build) > 15


@pytest.mark.parametrize("wait", [True, False])
def test_the_first_available_gets_each_packet_once(wait: bool) -> None:
    def elsewhere(segment: Any, source: Any, destinations: Any) -> Any:
        return destinations

    def check(got: list[list[tuple[str, int]]]) -> None:
        assert sorted(sum(got, [])) == [("cpu:0", 0), ("cpu:1", 10)]

    assert explore(partial(routed, elsewhere, 2, 2, wait, check, 1)) > 100


@pytest.mark.parametrize("wait", [True, False])
def test_a_broadcast_reaches_everyone_once(wait: bool) -> None:
    def check(got: list[list[tuple[str, int]]]) -> None:
        assert got == [[], [("cpu:0", 0), ("cpu:0", 1)], [("cpu:0", 0), ("cpu:0", 1)]]

    assert explore(partial(routed, broadcast, 1, 3, wait, check)) > 100


@pytest.mark.parametrize(("devices", "each"), [(2, 2), (3, 1)])
def test_a_ring(devices: int, each: int) -> None:
    def check(got: list[list[tuple[str, int]]]) -> None:
        for place, mine in enumerate(got):
            first = 10 * ((place - 1) % devices)
            assert [value for _, value in mine] == list(range(first, first + each))

    assert explore(partial(routed, ring, devices, devices, False, check, each)) > 1000


def test_a_tree_ends_by_itself() -> None:
    """Each sends its sum up when all who can reach it have shut down."""

    def build() -> World:
        context = Context(3)
        router = Router(context, tree_reduction)
        ends = [*context.devices, context.host]
        inboxes = {end: Link(router, end, num_buffers=1, packet_size=64) for end in ends}
        outboxes = {end: Link(end, router) for end in context.devices}
        total: list[tuple[str, int]] = []

        def merges(device: Any) -> Operation[None]:
            got = [("", device.index + 1)]
            yield from receives(inboxes[device], got)
            yield from sends(outboxes[device], [sum(value for _, value in got)], True)

        operations = [merges(device) for device in context.devices]
        operations.append(receives(inboxes[context.host], total))

        def check() -> None:
            assert total == [("cpu:0", 6)]

        return World(context, operations, check)

    assert explore(build) > 50


@pytest.mark.parametrize(("devices", "first"), [(2, [3]), (2, [2, 1]), (3, [2])])
def test_no_item_is_lost_and_no_device_stops_early(devices: int, first: list[int]) -> None:
    assert explore(lambda: Numbers(devices, first).world()) > 30


@pytest.mark.parametrize(("devices", "first"), [(2, [2, 1]), (3, [1])])
def test_with_priorities(devices: int, first: list[int]) -> None:
    def small_first(device: Any, items: Any) -> Any:
        return -items

    assert explore(lambda: Numbers(devices, first, priority=small_first, delta=1).world()) > 30


def test_items_that_are_doubled_and_dropped() -> None:
    """A 2 is kept and passed, a 1 is passed and then dropped."""

    def build() -> World:
        context = Context(2)
        done: Counter[tuple[int, int]] = Counter()

        def work(device: Any, items: Any) -> Any:
            done.update((device.index, item) for item in items.tolist())
            return items[items > 1] - 1

        worklist = DistributedWorklist(
            context, work, num_buffers=1, packet_size=64,
            on_send=lambda device, items: np.choose(items, [KEEP, PASS, KEEP | PASS, KEEP]),
            on_receive=lambda device, items: np.choose(items, [KEEP, DROP, KEEP, KEEP]),
        )  # fmt: skip
        worklist.push([3])

        def check() -> None:
            assert done == Counter({(0, 3): 1, (0, 2): 1, (1, 2): 1})
            counted = worklist.counted().values()
            totals = {name: sum(each[name] for each in counted) for name in report.WORK}
            assert totals == {"produced": 5, "consumed": 5, "useless": 2}

        return World(context, [worklist.working(each) for each in context.devices], check)

    assert explore(build) > 30


class CountsTooEarly(DistributedWorklist):
    """Wrong: what was worked on is counted before what it produced."""

    def adding(self, device: Any, made: Any, consumed: int = 0) -> Operation[None]:
        yield partial(self.ledger.add, device.index, 0, consumed, 0, 0.0), ""
        yield from super().adding(device, made)


class SendsBeforeCounting(DistributedWorklist):
    """Wrong: items are sent before they are counted."""

    def _counting(self, device: Any, kept: Any, produced: int, consumed: int) -> Operation[None]:
        yield from super()._counting(device, kept, 0, consumed)
        yield partial(self.ledger.add, device.index, produced, 0, 0, 0.0), ""


@pytest.mark.parametrize("kind", [CountsTooEarly, SendsBeforeCounting])
def test_a_wrong_order_of_counting_is_found(kind: type) -> None:
    with pytest.raises((AssertionError, Stuck)):
        explore(lambda: Numbers(2, [3, 2], kind).world())


def test_waits_that_never_end_are_found() -> None:
    def build() -> World:
        context = Context(2)
        there, back = Link(*context.devices), Link(*context.devices[::-1])
        return World(context, [receives(there, []), receives(back, [])], lambda: None)

    with pytest.raises(Stuck):
        explore(build)


def test_first_available_leaves_out_the_sender() -> None:
    context = Context(2)
    first, second = context.devices
    assert first_available(None, first, [first, second]) == [second]  # type: ignore[arg-type]
