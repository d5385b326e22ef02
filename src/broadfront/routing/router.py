"""Endpoints that hand on what they are given, by a policy.

A router has no memory and no thread. A segment waits with its sender until a destination that the
policy allows has a free buffer, and goes there directly, in one copy. It waits in the queues of all
of them at once, as Groute's multiplexer has it; the first that has a buffer takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broadfront.errors import RoutingError
from broadfront.routing.endpoint import ROUTER, Endpoint
from broadfront.routing.policy import Every, Policy, as_destinations, first_available
from broadfront.routing.segment import Segment

if TYPE_CHECKING:
    from broadfront.routing.context import Context
    from broadfront.routing.link import Link


class Router(Endpoint):
    """Connects several endpoints; `policy` says who gets what (`broadfront.routing.policy`).

    >>> from broadfront.routing import Context, Link, Router, ring
    >>> context = Context(devices=3)
    >>> around = Router(context, ring)
    >>> inbox = {device: Link(around, device) for device in context.devices}
    >>> outbox = {device: Link(device, around) for device in context.devices}
    >>> first, second, third = context.devices
    >>> outbox[third].send([7])
    >>> inbox[first].receive().wait().array
    array([7])
    """

    def __init__(
        self, context: Context, policy: Policy = first_available, name: str | None = None
    ) -> None:
        super().__init__(context, name or f"router {context.count_routers()}", ROUTER, None)
        self.policy = policy
        self._sources: dict[tuple[Endpoint, int, int], list[Endpoint]] = {}

    def routes(self, segment: Segment, source: Endpoint) -> list[list[Link]]:
        """Return the links to choose from, for each time that the segment is to be sent."""
        if not self.outgoing:
            raise RoutingError(f"{self} has no destination: link it to some before sending")
        chosen = self.policy(segment, source, list(self.outgoing))
        each = isinstance(chosen, Every)
        links = [self._link_to(destination) for destination in as_destinations(chosen)]
        if not links and not each:
            raise RoutingError(f"the policy of {self} sends what {source} sends to nobody")
        return [[link] for link in links] if each else [links]

    def sources_of(self, destination: Endpoint) -> list[Endpoint]:
        """Return who can reach a destination."""
        known = (destination, len(self.incoming), len(self.outgoing))
        if known not in self._sources:
            reaches = getattr(self.policy, "reaches", None)
            destinations = list(self.outgoing)
            self._sources[known] = [
                source
                for source in self.incoming
                if reaches is None or destination in reaches(source, destinations)
            ]
        return self._sources[known]

    def _link_to(self, destination: object) -> Link:
        link = self.outgoing.get(destination)  # type: ignore[call-overload]
        if link is None:
            raise RoutingError(
                f"the policy of {self} sends to {destination!r}; it may return of its destinations "
                f"{', '.join(map(str, self.outgoing))} one, several, or Every of several"
            )
        return link  # type: ignore[no-any-return]
