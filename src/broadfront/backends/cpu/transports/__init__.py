"""How runs of bytes and numbers agreed upon get from one device to another.

A transport knows bytes and devices, and nothing of fields or vertices. Loops see it as boxes, flags
and a board (`broadfront.backends.cpu.device.mail`), which are in the memory of their own process:
they *reserve* a box, *post* a run in it, *wait* for one, *release* it, and put numbers up for all.
With `Shared`, the default, all devices are in one process and nothing else is needed. Any other
transport has a carrier: a function by address that takes what was posted, released or put up here
to other processes, and brings what was there. It is called whenever a device does one of these, and
while it waits. So a loop is the same code for every transport.

Invariant: what a carrier writes is a box that nobody reads yet, and then its flag.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numpy.typing import NDArray

from broadfront.backends.cpu.device.mail import Mail, Post

Array = NDArray[Any]


class Transport:
    """All devices in this process, in one memory; what others replace."""

    name = "shared"

    def runs_here(self, device: int) -> bool:
        """Tell whether a device runs in this process."""
        return True

    def link(self, device: int) -> tuple[int, int]:
        """Return the address of the carrier and what to call it with; no carrier is 0."""
        return 0, 0

    def begin(self, post: Post, mails: Sequence[Mail], control: Array) -> None:
        """Make ready for a run; `control` has the words of each device's team."""

    def end(self, control: Array, failed: bool) -> None:
        """Finish a run, however it went: all that it sent has arrived after this."""

    def gather(self, told: Any) -> list[Any]:
        """Return what every process tells, in the order of their devices."""
        return [told]

    @property
    def apart(self) -> bool:
        """Whether some devices run elsewhere."""
        return False


SHARED = Transport()
_current: ContextVar[Transport] = ContextVar("transport", default=SHARED)


def current() -> Transport:
    """Return the transport of runs that begin now."""
    return _current.get()


@contextmanager
def using(transport: Transport) -> Iterator[None]:
    """Have the runs of a block of code use a transport."""
    token = _current.set(transport)
    try:
        yield
    finally:
        _current.reset(token)
