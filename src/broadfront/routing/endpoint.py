"""Who can send and receive: devices, the host, and routers.

A device or the host may have several virtual endpoints, which share its memory: each runs a
function of its own on a thread of its own, so that one can receive while another works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from broadfront.errors import RoutingError

if TYPE_CHECKING:
    from broadfront.routing.context import Context
    from broadfront.routing.link import Link
    from broadfront.routing.memory import Memory

DEVICE, HOST, ROUTER = "device", "host", "router"


def expect_function(function: object) -> None:
    """Refuse what cannot be called."""
    if not callable(function):
        raise RoutingError(f"{function!r:.60} is no function")


class Endpoint:
    """One who can send and receive.

    Attributes
    ----------
    name
        As ``"cpu:0"``, ``"host"`` or ``"cpu:0/receiver"``.
    kind
        ``"device"``, ``"host"`` or ``"router"``.
    index
        The number of its device, -1 of the host and of routers.
    threads
        The share of the cores that kernels it calls may use.
    memory
        Where its arrays are. What is sent to an endpoint with another memory is copied.
    """

    def __init__(
        self, context: Context, name: str, kind: str, memory: Memory | None, *, index: int = -1,
        threads: int = 1,
    ) -> None:  # fmt: skip
        self.context = context
        self.name = name
        self.kind = kind
        self.memory = memory
        self.index = index
        self.threads = threads
        self.outgoing: dict[Endpoint, Link] = {}
        self.incoming: dict[Endpoint, Link] = {}
        context.add_endpoint(self)

    def virtual(self, name: str) -> Endpoint:
        """Return another endpoint of the same device, with the same memory."""
        return Endpoint(
            self.context, f"{self.name}/{name}", self.kind, self.memory, index=self.index,
            threads=self.threads,
        )  # fmt: skip

    def assign(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Have every run of the context call ``function(*arguments)`` on a thread of its own."""
        expect_function(function)
        self.context.jobs.append((self, function, arguments))

    def __repr__(self) -> str:
        return self.name
