"""Where a router sends what it is given.

A policy is a function of a segment, the endpoint that sent it and the router's destinations, in the
order in which they were linked. It returns a destination, or several of which the first that has a
free buffer gets the segment, or `Every` of several, which all get it.

A policy that always sends one source's segments to the same few says so in `reaches`; a
destination is then told of the end as soon as all who can reach it have shut down, and not when
everybody has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broadfront.errors import RoutingError
from broadfront.routing.endpoint import HOST, Endpoint
from broadfront.routing.segment import Segment

Destinations = Sequence[Endpoint]


class Every(tuple[Endpoint, ...]):
    """Destinations which all get the segment, each a copy in its memory."""

    __slots__ = ()


Policy = Callable[[Segment, Endpoint, Destinations], "Endpoint | Destinations | Every"]


def first_available(segment: Segment, source: Endpoint, destinations: Destinations) -> Destinations:
    """Send to any destination but the source, the one with most free buffers first."""
    return [each for each in destinations if each is not source]


def broadcast(segment: Segment, source: Endpoint, destinations: Destinations) -> Every:
    """Send to all destinations but the source."""
    return Every(each for each in destinations if each is not source)


def ring(segment: Segment, source: Endpoint, destinations: Destinations) -> Endpoint:
    """Send to the next destination after the source, after the last one to the first."""
    return destinations[(_place(source, destinations) + 1) % len(destinations)]


def tree_reduction(segment: Segment, source: Endpoint, destinations: Destinations) -> Endpoint:
    """Send up a tree: 7 to 6, 5 and 6 to 4, 3 to 2, 1, 2 and 4 to 0, and 0 to the host.

    ::

        host - 0 - 1
                 - 2 - 3
                 - 4 - 5
                     - 6 - 7
    """
    place = _place(source, destinations)
    if place > 0:
        return destinations[place & (place - 1)]
    hosts = [each for each in destinations if each.kind == HOST]
    if not hosts:
        raise RoutingError(f"{source} is the root of the tree: link the router to the host, too")
    return hosts[0]


def always(policy: Any) -> Any:
    """Tell of a policy that it looks at the source alone, and not at the segment.

    The router then knows who can reach whom.
    """
    nothing = Segment.__new__(Segment)

    def reaches(source: Endpoint, destinations: Destinations) -> Destinations:
        return as_destinations(policy(nothing, source, destinations))

    policy.reaches = reaches
    return policy


def as_destinations(chosen: Endpoint | Destinations) -> Destinations:
    """Return what a policy returned as several destinations."""
    return [chosen] if isinstance(chosen, Endpoint) else chosen


def _place(source: Endpoint, destinations: Destinations) -> int:
    if source not in destinations:
        raise RoutingError(
            f"{source} sends to the router and is none of its destinations: it has no place in a "
            "ring or tree: link the router to it"
        )
    return list(destinations).index(source)


for _policy in (first_available, broadcast, ring, tree_reduction):
    always(_policy)
