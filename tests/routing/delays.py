"""Many runs on threads with random delays before every step, and larger explorations.

``make routing-stress``, or ``python tests/routing/delays.py 10000``. A run that hangs ends by its
time limit; one that loses an item, does it twice or stops early fails its check.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.routing import Collectives, Context, Link, Router, first_available, tree_reduction
from routing.dataflows import Numbers
from routing.explorer import explore

SECONDS = 120.0


def delays(draw: random.Random) -> Callable[[], None]:
    """Return a function that sometimes waits, for up to a millisecond."""

    def pause() -> None:
        chosen = draw.random()
        if chosen < 0.2:
            time.sleep(0)
        elif chosen < 0.25:
            time.sleep(draw.random() / 1000)

    return pause


def count_down(draw: random.Random) -> None:
    """Run a worklist of several numbers, with priorities or without."""
    how: dict[str, Any] = {"batch": draw.choice([None, 1, 3])}
    if draw.random() < 0.5:
        sign = draw.choice([1, -1])
        how |= {"priority": lambda device, items: sign * items, "delta": draw.choice([0, 1, 4])}
    devices = draw.randint(1, 5)
    numbers = Numbers(devices, [draw.randint(0, 9) for _ in range(draw.randint(0, 6))], **how)
    numbers.context.monitor.pause = delays(draw)
    for device in numbers.context.devices:
        device.assign(numbers.worklist.process, device)
    numbers.context.run(time_limit=SECONDS)
    numbers.check_done()


def scatter_and_gather(draw: random.Random) -> None:
    """Send an array to whoever is free, and collect what comes back."""
    context = Context(draw.randint(1, 5), memory=draw.choice(["own", "shared"]))
    context.monitor.pause = delays(draw)
    out, back = Router(context, first_available), Router(context, first_available)
    size, buffers = draw.choice([8, 24, 64]), draw.randint(1, 3)
    there, home = Link(context.host, out, size), Link(back, context.host, size, buffers)
    values = np.arange(draw.randint(0, 60))

    def double(inbox: Link, outbox: Link) -> None:
        futures = []
        for pending in inbox:
            with pending as segment:
                futures.append(outbox.send_async(2 * segment.array, segment.offset))
        for future in futures:
            future.result()
        outbox.shutdown()

    for device in context.devices:
        device.assign(double, Link(out, device, size, buffers), Link(device, back, size, buffers))

    def main() -> None:
        there.send_async(values)
        there.shutdown()
        got = np.full(len(values), -1)
        for pending in home:
            with pending as segment:
                place = segment.metadata + segment.offset
                got[place : place + len(segment)] = segment.array
        assert got.tolist() == (2 * values).tolist()

    context.run(main, time_limit=SECONDS)


def tree_and_collectives(draw: random.Random) -> None:
    """Add up by a tree of links, and by an all-reduce, which agree."""
    context = Context(draw.randint(1, 8))
    context.monitor.pause = delays(draw)
    router = Router(context, tree_reduction)
    ends = [*context.devices, context.host]
    inbox = {end: Link(router, end, 16, draw.randint(1, 2)) for end in ends}
    outbox = {device: Link(device, router, 16) for device in context.devices}
    group = Collectives(context, 16, draw.randint(1, 2))
    values = [np.arange(place, place + 5) for place in range(len(context.devices))]
    sums = []

    def add_up(device: Any) -> None:
        total = values[device.index].copy()
        for pending in inbox[device]:
            with pending as segment:
                total[segment.offset : segment.offset + len(segment)] += segment.array
        outbox[device].send(total)
        outbox[device].shutdown()
        gathered = group.gather(device, [device.index], root=len(values) - 1)
        assert gathered is None or np.concatenate(gathered).tolist() == list(range(len(values)))
        sums.append(group.all_reduce(device, values[device.index]).tolist())

    def main() -> list[int]:
        total = np.zeros(5, np.int64)
        for pending in inbox[context.host]:
            with pending as segment:
                total[segment.offset : segment.offset + len(segment)] = segment.array
        return total.tolist()

    for device in context.devices:
        device.assign(add_up, device)
    expected = sum(values).tolist()
    assert context.run(main, time_limit=SECONDS) == expected
    assert sums == [expected] * len(values)


RUNS = (count_down, scatter_and_gather, tree_and_collectives)


def stress(runs: int, seed: int = 0) -> None:
    """Do so many runs, of all kinds in turn."""
    for number in range(runs):
        draw = random.Random(seed + number)
        try:
            RUNS[number % len(RUNS)](draw)
        except BaseException:
            print(f"run {number} of seed {seed} failed", file=sys.stderr)
            raise


def explore_more() -> int:
    """Explore worklists that take too long for every day; return how many states there were."""
    worlds = [(2, [3, 2]), (2, [4, 1]), (3, [3]), (3, [2, 1])]
    states = sum(explore(lambda each=each: Numbers(*each).world()) for each in worlds)
    low_first = {"priority": lambda device, items: -items}
    return states + explore(lambda: Numbers(3, [2], **low_first).world())


if __name__ == "__main__":
    began = time.perf_counter()
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    stress(runs)
    print(f"{runs:,} runs in {time.perf_counter() - began:.0f} s: nothing lost, no early stop")
    print(f"{explore_more():,} states explored: nothing lost, no early stop, nobody stuck")
