"""What is on its way: a packet that waits for a buffer, and one that is being received.

A buffer is free, being filled, full, or held by its receiver. A packet that has got a buffer is in
the receiver's queue from then on, in order, though its bytes may still be on their way: that is a
`PendingSegment`. Within one memory there are no bytes to move, and it is there at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from broadfront.routing.monitor import NOT_YET, Operation
from broadfront.routing.segment import Segment

if TYPE_CHECKING:
    from broadfront.routing.endpoint import Endpoint
    from broadfront.routing.link import Link


class Packet:
    """A segment that its source sends to the first of some links that has a buffer.

    It is in the queues of all of them; those where it was not the first find it stale.
    """

    __slots__ = ("links", "pending", "segment", "sender_copies", "source")

    def __init__(
        self, segment: Segment, source: Endpoint, links: Sequence[Link], sender_copies: bool
    ) -> None:
        self.segment = segment
        self.source = source
        self.links = links
        self.sender_copies = sender_copies
        self.pending: PendingSegment | None = None

    def has_buffer(self) -> Any:
        """Return the pending segment that it became, a step."""
        return NOT_YET if self.pending is None else self.pending

    def has_arrived(self) -> Any:
        """Return None when the sender may change its array again, a step."""
        return None if self.pending is not None and self.pending.arrived else NOT_YET


class PendingSegment:
    """A segment that is being received, and the buffer that it is in until it is released.

    >>> from broadfront.routing import Context, Link
    >>> context = Context(devices=2)
    >>> link = Link(*context.devices)
    >>> link.send([1, 2, 3])
    >>> with link.receive() as segment:
    ...     print(segment.array)
    [1 2 3]
    """

    __slots__ = ("_released", "_segment", "arrived", "buffer", "link", "source")

    def __init__(self, link: Link, buffer: int, packet: Packet) -> None:
        self.link = link
        self.buffer = buffer
        self.source = packet.source
        self.arrived = packet.source.memory is link.target.memory
        self._segment = packet.segment
        self._released = False

    def copy(self) -> None:
        """Move the bytes into the buffer; done by whoever found it, before `arrive`."""
        given = self._segment
        place = self.link.buffer(self.buffer)[: given.nbytes]
        array = place.view(given.array.dtype).reshape(given.array.shape)
        np.copyto(array, given.array)
        self._segment = Segment(array, given.metadata, given.offset, given.total)

    def arrive(self) -> None:
        """Let the receiver see it, a step."""
        self.arrived = True

    def wait(self) -> Segment:
        """Return the segment, when its bytes are there."""
        if not self.arrived:
            self.link.context.monitor.perform(self.waiting())
        return self._segment

    def waiting(self) -> Operation[Segment]:
        """Return `wait` as an operation."""
        if not self.arrived:
            yield (lambda: None if self.arrived else NOT_YET), f"the bytes on {self.link}"
        return self._segment

    def release(self) -> None:
        """Give the buffer back; the array of the segment is not to be used any more."""
        self.link.context.monitor.perform(self.releasing())

    def releasing(self) -> Operation[None]:
        """Return `release` as an operation."""
        if not self._released:
            self._released = True
            yield from moving((yield (lambda: self.link.free_buffer(self.buffer)), ""))

    def __enter__(self) -> Segment:
        return self.wait()

    def __exit__(self, *error: object) -> None:
        self.release()


def moving(found: Sequence[PendingSegment]) -> Operation[None]:
    """Copy what has got a buffer in the last step, and let its receivers see it."""
    for pending in found:
        pending.copy()
        yield pending.arrive, ""
