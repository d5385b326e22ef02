"""Small dataflows whose every order of steps is tried, or which run with random delays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.routing import KEEP, PASS, Context, DistributedWorklist, Link, Policy, Router
from broadfront.routing.monitor import Operation
from routing.explorer import World


def sends(link: Link, values: list[int], wait: bool) -> Operation[None]:
    for value in values:
        yield from (link.sending([value]) if wait else link.posting([value]))
    yield from link.shutting_down()


def receives(link: Link, got: list[tuple[str, int]]) -> Operation[None]:
    while (pending := (yield from link.receiving())) is not None:
        segment = yield from pending.waiting()
        got.extend((pending.source.name, int(value)) for value in segment.array)
        yield from pending.releasing()


def routed(
    policy: Policy,
    sources: int,
    targets: int,
    wait: bool,
    check: Callable[[Any], None],
    each: int = 2,
) -> World:
    context = Context(max(sources, targets))
    router = Router(context, policy)
    inboxes = [
        Link(router, device, num_buffers=1, packet_size=64) for device in context.devices[:targets]
    ]
    outboxes = [Link(device, router, packet_size=64) for device in context.devices[:sources]]
    got: list[list[tuple[str, int]]] = [[] for _ in inboxes]
    operations = [
        sends(link, list(range(10 * place, 10 * place + each)), wait)
        for place, link in enumerate(outboxes)
    ]
    operations += [receives(link, mine) for link, mine in zip(inboxes, got, strict=True)]
    return World(context, operations, lambda: check(got))


class Numbers:
    """Work that counts down; a number belongs to the device of its remainder."""

    def __init__(
        self, devices: int, first: list[int], kind: type = DistributedWorklist, **how: Any
    ):
        self.context = Context(devices)
        self.done: Counter[int] = Counter()
        self.worklist = kind(
            self.context,
            self.work,
            on_send=self.owned,
            on_receive=self.owned,
            **{"num_buffers": 1, "packet_size": 64, **how},
        )
        self.first = first
        for number in first:
            self.worklist.push([number], self.context.devices[number % devices])

    def work(self, device: Any, items: Any) -> Any:
        self.done.update(items.tolist())
        return items[items > 0] - 1

    def owned(self, device: Any, items: Any) -> Any:
        return np.where(items % len(self.context.devices) == device.index, KEEP, PASS)

    def world(self) -> World:
        operations = [self.worklist.working(device) for device in self.context.devices]
        return World(self.context, operations, self.check)

    def check(self) -> None:
        self.check_done()
        total = self.done.total()
        counted = self.worklist.counted().values()
        assert [sum(each[name] for each in counted) for name in ("produced", "consumed")] == [
            total
        ] * 2

    def check_done(self) -> None:
        assert self.done == Counter(step for first in self.first for step in range(first + 1))
