"""Operations that all devices take part in: broadcast, all-reduce, gather.

Every device calls the same operations in the same order. They go over one router whose policy
reads from a packet to whom it goes: a broadcast goes down a tree and a reduction up the same tree,
so that n devices need about log2(n) hops.

Invariant: packets say to which call they belong. Those of a later call, from a device that is
ahead, are copied and kept until that call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import RoutingError
from broadfront.routing.context import Context
from broadfront.routing.endpoint import Endpoint
from broadfront.routing.link import NUM_BUFFERS, PACKET_SIZE, Link
from broadfront.routing.policy import Destinations, Every
from broadfront.routing.router import Router
from broadfront.routing.segment import Segment

Array = NDArray[Any]


class _Address(NamedTuple):
    """To whom a segment goes, and which call it belongs to."""

    targets: tuple[int, ...]
    call: int
    source: int
    shape: tuple[int, ...]


def _as_addressed(segment: Segment, source: Endpoint, destinations: Destinations) -> Every:
    return Every(destinations[place] for place in segment.metadata.targets)


class Collectives:
    """Collective operations of the devices of a context, to be called by their functions.

    >>> import numpy as np
    >>> from broadfront.routing import Collectives, Context
    >>> context = Context(devices=4)
    >>> group = Collectives(context)
    >>> sums = {}
    >>> def add_up(device):
    ...     sums[device.name] = group.all_reduce(device, np.array([device.index, 1]))
    >>> for device in context.devices:
    ...     device.assign(add_up, device)
    >>> context.run()
    >>> sums["cpu:3"]
    array([6, 4])
    """

    def __init__(
        self, context: Context, packet_size: int = PACKET_SIZE, num_buffers: int = NUM_BUFFERS
    ) -> None:
        self._devices = context.devices
        router = Router(context, _as_addressed, f"collectives {context.count_routers()}")
        self._inbox = [Link(router, each, packet_size, num_buffers) for each in context.devices]
        self._outbox = [Link(each, router, packet_size, num_buffers) for each in context.devices]
        context.parts.append(self)
        self.reset()

    def reset(self) -> None:
        """Forget all calls."""
        self._calls = [0] * len(self._devices)
        self._early: list[dict[int, list[Segment]]] = [defaultdict(list) for _ in self._devices]

    def broadcast(self, device: Endpoint, array: Any = None, root: int = 0) -> Array:
        """Return the array of the root, on every device; only the root need give one."""
        call = self._begin(device)
        place = device.index
        if place == root:
            received = np.atleast_1d(np.asarray(array))
        else:
            received = self._receive(place, call, 1)[self._parent(place, root)]
        self._send(place, self._children(place, root), call, received)
        return received

    def all_reduce(
        self, device: Endpoint, array: Any, combine: Callable[[Array, Array], Array] = np.add
    ) -> Array:
        """Return the arrays of all devices combined, one by one, on every device.

        They are combined in the same order in every run.
        """
        call = self._begin(device)
        place = device.index
        mine = np.atleast_1d(np.asarray(array))
        children = self._children(place, 0)
        received = self._receive(place, call, len(children))
        for child in sorted(children):
            if received[child].shape != mine.shape:
                raise RoutingError(
                    f"all_reduce is given {mine.shape} on {device}, and {received[child].shape} "
                    f"on {self._devices[child]}: arrays of one shape are needed"
                )
            mine = combine(mine, received[child])
        if place != 0:
            self._send(place, (self._parent(place, 0),), call, mine)
        return self.broadcast(device, mine)

    def gather(self, device: Endpoint, array: Any, root: int = 0) -> list[Array] | None:
        """Return the arrays of all devices, in order, on the root, and None on the others."""
        call = self._begin(device)
        mine = np.atleast_1d(np.asarray(array))
        if device.index != root:
            self._send(device.index, (root,), call, mine)
            return None
        received = self._receive(root, call, len(self._devices) - 1)
        return [mine if place == root else received[place] for place in range(len(self._devices))]

    def _begin(self, device: Endpoint) -> int:
        self._calls[device.index] += 1
        return self._calls[device.index]

    def _parent(self, place: int, root: int) -> int:
        rank = (place - root) % len(self._devices)
        return ((rank & (rank - 1)) + root) % len(self._devices)

    def _children(self, place: int, root: int) -> tuple[int, ...]:
        others = (other for other in range(len(self._devices)) if other != root)
        return tuple(other for other in others if self._parent(other, root) == place)

    def _send(self, place: int, targets: tuple[int, ...], call: int, array: Array) -> None:
        if targets:
            flat = np.ascontiguousarray(array).reshape(-1)
            address = _Address(targets, call, place, array.shape)
            self._outbox[place].send_async(flat, address).result()

    def _receive(self, place: int, call: int, sources: int) -> dict[int, Array]:
        """Return what so many others have sent to a device in a call."""
        arrays: dict[int, Array] = {}
        missing: dict[int, int] = {}
        packets = self._packets(place, call)
        while len(arrays) < sources or any(missing.values()):
            packet = next(packets)
            source = packet.metadata.source
            if source not in arrays:
                arrays[source] = np.empty(packet.total, packet.array.dtype)
                missing[source] = packet.total
            arrays[source][packet.offset : packet.offset + len(packet)] = packet.array
            missing[source] -= len(packet)
            if missing[source] == 0:
                arrays[source] = arrays[source].reshape(packet.metadata.shape)
        return arrays

    def _packets(self, place: int, call: int) -> Iterator[Segment]:
        """Yield the packets of a call: first those that came early."""
        yield from self._early[place].pop(call, ())
        for pending in self._inbox[place]:
            with pending as segment:
                if segment.metadata.call == call:
                    yield segment
                else:
                    copied = Segment(
                        segment.array.copy(), segment.metadata, segment.offset, segment.total
                    )
                    self._early[place][segment.metadata.call].append(copied)
