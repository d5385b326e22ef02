"""A list of work that is spread over devices, and ends when all of it is done.

Each device works on items of its own list; what that makes is split into local work, which stays,
and remote work, which goes to the next device of a ring (or by another policy), and there is kept,
passed on, or dropped. Callbacks of the user say which, on whole arrays of items.

With `priority`, only items below a threshold are worked on. When all items that are left are at or
beyond it, on all devices, the threshold rises to `delta` above the least of them: they agree on it
without stopping (soft priorities).

Invariant: every item is counted as produced before it can be seen by anyone, and as consumed after
all that it produced is counted. So if both are equal nothing is waiting, in work or under way, and
the list ends. Queues grow, and no send waits: no item is lost, and devices that fill each other's
buffers do not lock up.

References
----------
Ben-Nun, Sutton, Pai, Pingali: Groute (ACM TOPC 7, 2020), sections 4.3 and 4.4.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import RoutingError
from broadfront.given import count, number
from broadfront.routing.context import Context
from broadfront.routing.endpoint import Endpoint
from broadfront.routing.ledger import END, PROMOTE, RAISED, WORK, Ledger
from broadfront.routing.link import NUM_BUFFERS, PACKET_SIZE, Link
from broadfront.routing.local_queue import LocalQueue
from broadfront.routing.monitor import Operation
from broadfront.routing.pending import PendingSegment
from broadfront.routing.policy import Policy, ring
from broadfront.routing.router import Router

Items = NDArray[Any]
Work = Callable[[Endpoint, Items], Items | None]
Convert = Callable[[Endpoint, Items], Items]
Decide = Callable[[Endpoint, Items], Any]

DROP, KEEP, PASS = 0, 1, 2
"""What `on_send` and `on_receive` say of an item; ``KEEP | PASS`` does both."""


class DistributedWorklist:
    """Work items of all devices of a context.

    All callbacks are given the device and an array of items.

    Parameters
    ----------
    work
        Does the items, and returns new ones, or None.
    on_send, on_receive
        Return for each new or received item `KEEP`, `PASS`, ``KEEP | PASS`` or `DROP`. By default
        all are kept.
    pack, unpack
        Return items as they are sent, and as they are worked on. By default they are the same.
    priority, delta
        Return for each item a number; those with small ones are done first, and the threshold
        rises by `delta` at least.
    batch
        How many items `work` is given at most; by default all that there are.
    policy
        Where items that are passed go; they go to one device at a time.

    >>> import numpy as np
    >>> from broadfront.routing import Context, DistributedWorklist, KEEP, PASS
    >>> def halve(device, items):
    ...     return items[items > 1] // 2
    >>> def odd_ones_elsewhere(device, items):
    ...     return np.where(items % 2 == device.index, KEEP, PASS)
    >>> worklist = DistributedWorklist(
    ...     Context(devices=2), halve, on_send=odd_ones_elsewhere, on_receive=odd_ones_elsewhere
    ... )
    >>> worklist.push([40, 7])
    >>> worklist.run()
    >>> [row["consumed"] for row in worklist.context.report.endpoints]
    [4, 5]
    """

    def __init__(
        self,
        context: Context,
        work: Work,
        *,
        on_send: Decide | None = None,
        on_receive: Decide | None = None,
        pack: Convert | None = None,
        unpack: Convert | None = None,
        priority: Decide | None = None,
        delta: float = 1,
        batch: int | None = None,
        policy: Policy = ring,
        packet_size: int = PACKET_SIZE,
        num_buffers: int = NUM_BUFFERS,
    ) -> None:
        self.context = context
        self._work = work
        self._on_send, self._on_receive = on_send or _keep_all, on_receive or _keep_all
        self._pack, self._unpack = pack or _as_they_are, unpack or _as_they_are
        self._priority = priority
        self._delta = number(delta, "delta", 0)
        self._batch = None if batch is None else count(batch, "batch")
        self._inbox: dict[Endpoint, Link] = {}
        self._outbox: dict[Endpoint, Link] = {}
        if len(context.devices) > 1:
            router = Router(context, policy, f"worklist {len(context.worklists)}")
            for device in context.devices:
                self._inbox[device] = Link(router, device, packet_size, num_buffers)
                self._outbox[device] = Link(device, router, packet_size, num_buffers)
        context.worklists.append(self)
        context.parts.append(self)
        self.reset()

    def reset(self) -> None:
        """Forget all items and counts."""
        self._queues = [LocalQueue(self._batch) for _ in self.context.devices]
        self.ledger = Ledger(self._queues, self._delta)

    def push(self, items: Any, device: Endpoint | None = None) -> None:
        """Add items before a run, as if this device, by default the first, had produced them."""
        self.context.monitor.perform(
            self.adding(device or self.context.devices[0], np.atleast_1d(np.asarray(items)))
        )

    def run(self, time_limit: float | None = None) -> None:
        """Work until nothing is left."""
        jobs = [(device, self.process, (device,)) for device in self.context.devices]
        self.context.run_jobs(jobs, time_limit)

    def process(self, device: Endpoint) -> None:
        """Work, as this device, until nothing is left anywhere: for functions of endpoints."""
        self.context.monitor.perform(self.working(device))

    def add_useless(self, device: Endpoint, items: int) -> None:
        """Count items that `work` found superseded, and so did not need to do."""
        self.ledger.useless[device.index] += items

    def counted(self) -> dict[str, dict[str, int]]:
        """Return for the name of each device what it has produced, consumed, and found useless."""
        return {device.name: self.ledger.counted(device.index) for device in self.context.devices}

    def working(self, device: Endpoint) -> Operation[None]:
        """Return the loop of a device as an operation."""
        inbox, local = self._inbox.get(device), self._queues[device.index]
        following = partial(self.ledger.following, device.index, inbox)
        while (found := (yield following, "work")) is not END:
            if found is WORK:
                items = local.pop()
                made = self._work(device, items)
                yield from self.adding(device, made, len(items))
            elif found is PROMOTE:
                deferred = local.promote(self.ledger.threshold)
                yield partial(self.ledger.defer, device.index, *deferred), ""
            elif found is not RAISED:
                yield from self._accepting(device, found)

    def adding(self, device: Endpoint, made: Items | None, consumed: int = 0) -> Operation[None]:
        """Return as an operation: count new items and those they came from, keep or send them."""
        made = _NOTHING if made is None else np.asarray(made)
        flags = _decide(self._on_send, device, made)
        keep, send = made[(flags & KEEP) != 0], made[(flags & PASS) != 0]
        self.ledger.useless[device.index] += int(np.count_nonzero(flags == DROP))
        yield from self._counting(device, keep, len(keep) + len(send), consumed)
        if len(send):
            yield from self._passing(device, self._pack(device, send))

    def _accepting(self, device: Endpoint, pending: PendingSegment) -> Operation[None]:
        """Return as an operation: keep, pass on or drop what was received."""
        segment = yield from pending.waiting()
        items, passes = segment.array, segment.metadata
        flags = _decide(self._on_receive, device, items)
        kept = self._unpack(device, items[(flags & KEEP) != 0])
        passed = items[(flags & PASS) != 0]
        twice = int(np.count_nonzero(flags == KEEP | PASS))
        dropped = int(np.count_nonzero(flags == DROP))
        yield from pending.releasing()
        self.ledger.useless[device.index] += dropped
        yield from self._counting(device, kept, twice, dropped)
        if len(passed):
            yield from self._passing(device, passed, passes + 1)

    def _counting(
        self, device: Endpoint, kept: Items, produced: int, consumed: int
    ) -> Operation[None]:
        """Return as an operation: put items into the queue of a device, and count."""
        priorities = None
        if self._priority is not None and len(kept):
            priorities = np.broadcast_to(self._priority(device, kept), len(kept))
        deferred = self._queues[device.index].push(kept, priorities, self.ledger.threshold)
        yield partial(self.ledger.add, device.index, produced, consumed, *deferred), ""

    def _passing(self, device: Endpoint, items: Items, passes: int = 1) -> Operation[None]:
        """Return as an operation: send items on, without waiting for a buffer."""
        most = len(self.context.devices)
        if passes > most or most == 1:
            raise RoutingError(
                f"{len(items):,} items, as {items[0]}, were passed by all {most} devices: "
                "on_send or on_receive of one of them is to keep or to drop them"
            )
        yield from self._outbox[device].posting(items, passes)


_NOTHING: Items = np.empty(0, np.int64)


def _keep_all(device: Endpoint, items: Items) -> int:
    return KEEP


def _as_they_are(device: Endpoint, items: Items) -> Items:
    return items


def _decide(decide: Decide, device: Endpoint, items: Items) -> NDArray[np.int64]:
    """Return the flags of items, an array as long."""
    return np.broadcast_to(np.asarray(decide(device, items), np.int64), len(items))
