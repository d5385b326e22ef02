"""A way from one endpoint to another, with buffers at its end.

What is sent is cut into packets. A packet needs a free buffer of the receiver; while there is none
it waits in the link's queue: `send` waits with it, `send_async` returns a future. Between two
memories its bytes are copied into the buffer: by the sender, if it waits, or else by whoever found
the buffer, which is the one who released it. Within one memory the array itself goes over.

Links into a router have no buffers, since a router has no memory: a packet waits for a buffer of
one of the links that leave the router.

Invariant: each packet is received once; those of one sender to one receiver in the order in which
they were sent; none after the end.

References
----------
Ben-Nun, Sutton, Pai, Pingali: Groute: Asynchronous multi-GPU programming model with applications
to large-scale graph processing (ACM TOPC 7, 2020), sections 3 and 4.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OutOfMemoryError, RoutingError
from broadfront.given import count
from broadfront.routing.endpoint import ROUTER, Endpoint
from broadfront.routing.future import Future
from broadfront.routing.monitor import NOT_YET, Operation
from broadfront.routing.pending import Packet, PendingSegment, moving
from broadfront.routing.router import Router
from broadfront.routing.segment import as_segment

PACKET_SIZE, NUM_BUFFERS = 1 << 20, 2
MOST_BUFFERS = 1 << 20


class Link:
    """Connects `source` to `target`.

    Parameters
    ----------
    packet_size
        Bytes that a buffer holds; what is larger is sent in several packets.
    num_buffers
        How many packets the target can have at once, on their way or not yet released.
    """

    def __init__(
        self,
        source: Endpoint,
        target: Endpoint,
        packet_size: int = PACKET_SIZE,
        num_buffers: int = NUM_BUFFERS,
    ) -> None:
        _check(source, target)
        self.context = source.context
        self.source, self.target = source, target
        self.packet_size = count(packet_size, "packet_size")
        self.num_buffers = count(num_buffers, "num_buffers")
        if self.num_buffers > MOST_BUFFERS:
            raise RoutingError(f"{self.num_buffers:,} buffers: a link has at most {MOST_BUFFERS:,}")
        self._name = f"{source} -> {target}"
        if target.memory is not None and source.memory is not target.memory:
            target.memory.reserve(self.packet_size * self.num_buffers, f"link {self}")
        self._buffers: dict[int, NDArray[np.uint8]] = {}
        source.outgoing[target] = self
        target.incoming[source] = self
        self.context.links.append(self)
        self.context.parts.append(self)
        self.reset()

    def reset(self) -> None:
        """Open the link anew, with nothing in it and nothing counted."""
        self.queue: deque[Packet] = deque()
        self.arriving: deque[PendingSegment] = deque()
        self.free = list(range(self.num_buffers))
        self.shut = False
        self.packets = self.bytes = 0

    def send(self, given: Any, metadata: Any = None) -> None:
        """Send an array or a `Segment`; wait until it is in buffers of the receiver."""
        self.context.monitor.perform(self.sending(given, metadata))

    def send_async(self, given: Any, metadata: Any = None) -> Future[None]:
        """Send without waiting: the array is not to be changed until the future is done."""
        packets = self.context.monitor.perform(self.posting(given, metadata))

        def all_arrived() -> Any:
            return NOT_YET if any(each.has_arrived() is NOT_YET for each in packets) else None

        return Future(self.context.monitor, all_arrived, f"buffers of {self}")

    def receive(self) -> PendingSegment | None:
        """Wait for the next segment; return None when the sender has shut down and all is read."""
        return self.context.monitor.perform(self.receiving())

    def receive_async(self) -> Future[PendingSegment | None]:
        """Return a future of `receive`."""
        self._check_receives()
        return Future(self.context.monitor, self.take, f"a segment on {self}")

    def shutdown(self) -> None:
        """Tell the receiver that nothing more will be sent."""
        self.context.monitor.perform(self.shutting_down())

    def __iter__(self) -> Iterator[PendingSegment]:
        while (pending := self.receive()) is not None:
            yield pending

    def sending(self, given: Any, metadata: Any = None) -> Operation[None]:
        """Return `send` as an operation."""
        segment = as_segment(given, metadata)
        for part in segment.packets(self._most_bytes()):
            packets = [Packet(part, self.source, links, True) for links in self._routes(part)]
            for packet in packets:
                yield partial(self._post, packet), ""
            for packet in packets:
                pending = yield packet.has_buffer, f"a free buffer of {self}"
                if not pending.arrived:
                    yield from moving([pending])

    def posting(self, given: Any, metadata: Any = None) -> Operation[list[Packet]]:
        """Return as an operation: queue all packets and move those that have buffers."""
        segment = as_segment(given, metadata)
        packets = []
        for part in segment.packets(self._most_bytes()):
            for links in self._routes(part):
                packet = Packet(part, self.source, links, False)
                yield from moving((yield partial(self._post, packet), ""))
                packets.append(packet)
        return packets

    def receiving(self) -> Operation[PendingSegment | None]:
        """Return `receive` as an operation."""
        self._check_receives()
        return (yield self.take, f"a segment on {self}")  # type: ignore[no-any-return]

    def shutting_down(self) -> Operation[None]:
        """Return `shutdown` as an operation."""

        def shut() -> None:
            self.shut = True

        yield shut, ""

    def take(self) -> Any:
        """Return the next pending segment, None at the end, a step."""
        if self.arriving:
            return self.arriving.popleft()
        return None if self._ended() else NOT_YET

    def free_buffer(self, buffer: int) -> list[PendingSegment]:
        """Take a buffer back, a step; return what got it and is to be moved by the caller."""
        self.free.append(buffer)
        return self._match()

    def buffer(self, number: int) -> NDArray[np.uint8]:
        """Return the memory of a buffer."""
        if number not in self._buffers:
            try:
                self._buffers[number] = np.empty(self.packet_size, np.uint8)
            except (MemoryError, ValueError) as error:
                raise OutOfMemoryError(
                    f"link {self}: there is no memory for a buffer of {self.packet_size:,} bytes"
                ) from error
        return self._buffers[number]

    def _post(self, packet: Packet) -> list[PendingSegment]:
        """Queue a packet, a step; return what got a buffer and is to be moved by the caller."""
        if self.shut:
            raise RoutingError(f"link {self} is shut down, and nothing can be sent over it")
        self.packets += self.target.kind == ROUTER
        self.bytes += packet.segment.nbytes if self.target.kind == ROUTER else 0
        most_free_first = sorted(packet.links, key=lambda link: -len(link.free))
        for link in most_free_first:
            link.queue.append(packet)
        return [pending for link in most_free_first for pending in link._match()]

    def _match(self) -> list[PendingSegment]:
        """Give buffers to packets; return what is to be moved by whoever takes the step."""
        to_move = []
        while self.free and self.queue:
            packet = self.queue.popleft()
            if packet.pending is not None:
                continue
            packet.pending = pending = PendingSegment(self, self.free.pop(), packet)
            self.arriving.append(pending)
            self.packets += 1
            self.bytes += packet.segment.nbytes
            if not pending.arrived and not packet.sender_copies:
                to_move.append(pending)
        return to_move

    def _routes(self, segment: Any) -> list[list[Link]]:
        target = self.target
        return target.routes(segment, self.source) if isinstance(target, Router) else [[self]]

    def _most_bytes(self) -> int:
        """Return how much fits a packet wherever it may go."""
        if self.source.kind == ROUTER:
            raise RoutingError(f"link {self} leaves a router, which alone sends over it")
        further = self.target.outgoing.values() if self.target.kind == ROUTER else ()
        return min([self.packet_size, *(link.packet_size for link in further)])

    def _check_receives(self) -> None:
        if self.target.kind == ROUTER:
            raise RoutingError(f"link {self} leads to a router, which alone receives from it")

    def _ended(self) -> bool:
        source = self.source
        into = [self]
        if isinstance(source, Router):
            into = [source.incoming[each] for each in source.sources_of(self.target)]
        waiting = any(packet.pending is None for packet in self.queue)
        return not waiting and all(link.shut for link in into)

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"Link({self})"


def _check(source: Endpoint, target: Endpoint) -> None:
    """Refuse what is no edge of a simple dataflow graph."""
    for end in (source, target):
        if not isinstance(end, Endpoint):
            raise RoutingError(f"{end!r} is no endpoint: take a device, the host or a router")
    if source.context is not target.context:
        raise RoutingError(f"{source} and {target} belong to different contexts")
    if source is target:
        raise RoutingError(
            f"a link from {source} to itself: keep local work in a queue of your own"
        )
    if target in source.outgoing:
        raise RoutingError(
            f"there is a link from {source} to {target} already: for a second one make a virtual "
            "endpoint or another router"
        )
    if source.kind == target.kind == ROUTER:
        raise RoutingError(f"{source} and {target} are routers: link endpoints to one of them")
