"""Every order of steps of some operations, one after the other, without threads.

The operations are the generators that `Monitor.perform` drives on threads. After a step the world
is described by what is shared and by the answers that each operation has had, which with the same
operations is all there is to know; from worlds alike, only the first is followed further.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from broadfront.routing import Context, PendingSegment
from broadfront.routing.monitor import NOT_YET, Operation


class World(NamedTuple):
    """Operations over a context, and a check of what they come to."""

    context: Context
    operations: list[Operation[Any]]
    check: Callable[[], None]


class Stuck(AssertionError):
    """Nobody has ended, and nobody can take a step."""


class _Course:
    """A world, as far as it has got."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.steps: dict[int, Callable[[], Any]] = {}
        self.heard: list[list[Hashable]] = [[] for _ in world.operations]
        for place in range(len(world.operations)):
            self._advance(place, None)

    def take(self, place: int) -> bool:
        """Take the next step of an operation, if it can be taken."""
        answer = self.steps[place]()
        if answer is NOT_YET:
            return False
        self.heard[place].append(_described(answer))
        self._advance(place, answer)
        return True

    def _advance(self, place: int, answer: Any) -> None:
        try:
            self.steps[place] = self.world.operations[place].send(answer)[0]
        except StopIteration:
            self.steps.pop(place, None)

    def key(self) -> Hashable:
        """Describe it."""
        context = self.world.context
        links = tuple(
            (
                link.shut,
                len(link.free),
                tuple(_described(each.segment) for each in link.queue if each.pending is None),
                tuple(_described(each) for each in link.arriving),
            )
            for link in context.links
        )
        ledgers = tuple(
            repr([value for name, value in vars(worklist.ledger).items() if name != "_queues"])
            for worklist in context.worklists
        )
        return links, ledgers, tuple(map(tuple, self.heard))


def explore(build: Callable[[], World]) -> int:
    """Run a world in every order of steps, and check each end; return how many states there are."""
    seen: set[Hashable] = set()
    ahead: list[list[int]] = [[]]
    while ahead:
        way = ahead.pop()
        course = _Course(build())
        if not all(course.take(place) for place in way):
            continue
        _follow(course, way, seen, ahead)
    return len(seen)


def _follow(course: _Course, way: list[int], seen: set[Hashable], ahead: list[list[int]]) -> None:
    """Go on to an end or to what was seen, and note the ways not taken."""
    while (key := course.key()) not in seen:
        seen.add(key)
        if not course.steps:
            course.world.check()
            return
        places = list(course.steps)
        taken = next((place for place in places if course.take(place)), None)
        if taken is None:
            raise Stuck(f"after {way}")
        ahead.extend([*way, place] for place in places if place > taken)
        way = [*way, taken]


def _described(answer: Any) -> Hashable:
    if isinstance(answer, PendingSegment):
        return (answer.arrived, answer.source.name, *_described(answer._segment))  # type: ignore[misc]
    if hasattr(answer, "array"):
        return (answer.array.tobytes(), repr(answer.metadata), answer.offset)
    if isinstance(answer, list):
        return tuple(map(_described, answer))
    return answer if answer is None else repr(answer)
