"""Every schedule of a few devices, over the functions that the compiled worker calls.

The functions of `mailbox` and `termination` are taken as they are written and made generators that
give way before each atomic load and store; so what is explored is the code itself. Around them is a
small worker that does what `worker.step` does, in the same order, with work items that stand for
vertices: an item makes other items, for the device itself or for others. `Sums` has vertices that
take what they have added up and hand half of it on, and copies that gather and are emptied when
they are sent; what there is in all must be the same after every step.

Only one device looks whether it is over, the others wait to be told. Looking changes nothing that
the others see, so several that look at once are like each of them alone.

A state is the shared memory and, of every device, where it is and its local variables. States are
reached by running the devices from the start along a schedule; one that was met before is not gone
on from. At the end it is asked whether the end can be reached from every state: nobody hangs.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from broadfront.backends.cpu.asynchronous import mailbox, termination
from broadfront.backends.cpu.device.control import LINE

Items = Mapping[str, Sequence[tuple[int, str]]]
"""For each item the device and the name of those that it makes."""


class Case(NamedTuple):
    """Devices, what each item makes, which items there are at first, and slots of a link."""

    devices: int
    items: Items
    first: Sequence[tuple[int, str]]
    slots: int
    looking: int = 0
    """The device that looks whether it is over."""


class _GivingWay(ast.NodeTransformer):
    """Makes atomic loads and stores give way, and calls of such functions too."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = ast.unparse(node.func)
        given = [ast.unparse(argument) for argument in node.args]
        if called == "atomics.load":
            return ast.parse(f"((yield), {given[0]}[{given[1]}])[1]", mode="eval").body
        if called == "atomics.store":
            store = f"{given[0]}.__setitem__({given[1]}, {given[2]})"
            return ast.parse(f"((yield), {store})[1]", mode="eval").body
        if called in self.names:
            return ast.parse(f"(yield from {ast.unparse(node)})", mode="eval").body
        return node


def giving_way(module: Any, names: Sequence[str], wrong: str = "", right: str = "") -> Any:
    """Return functions of a module as generators, with something `wrong` in place of `right`."""
    scope = dict(vars(module))
    found = not right
    for name in names:
        source = textwrap.dedent(inspect.getsource(getattr(module, name).py_func))
        found = found or right in source
        source = source.replace(right, wrong) if right else source
        tree = _GivingWay(set(names)).visit(ast.parse(source))
        tree.body[0].decorator_list = []
        exec(compile(ast.fix_missing_locations(tree), name, "exec"), scope)
    assert found, f"{right!r} is nowhere"
    return SimpleNamespace(**{name: scope[name] for name in names})


IN_MAILBOX = ["free_slot", "post", "next_message", "release"]
IN_TERMINATION = ["count_sent", "count_taken", "be_active", "be_passive", "added_up", "is_over"]
MAIL = giving_way(mailbox, IN_MAILBOX)
END = giving_way(termination, IN_TERMINATION)


class World:
    """The shared memory, and the devices."""

    def __init__(self, case: Any) -> None:
        links = case.devices * case.devices
        self.case = case
        self.board = termination.new_board(case.devices)
        self.rings = SimpleNamespace(
            posted=np.zeros(links * LINE, np.int64), taken=np.zeros(links * LINE, np.int64),
            lengths=np.zeros(links * case.slots, np.int64), slots=case.slots,
        )  # fmt: skip
        self.content: dict[tuple[int, int], Any] = {}
        self.local: list[list[str]] = [[] for _ in range(case.devices)]
        self.outbox: list[list[tuple[int, str]]] = [[] for _ in range(case.devices)]
        self.served: list[str] = []
        self.begin()
        self.running = {device: self.device(device) for device in range(case.devices)}

    def begin(self) -> None:
        """Give devices their first work."""
        for device, item in self.case.first:
            self.local[device].append(item)

    def arrive(self, me: int, message: Any) -> None:
        """Take what was sent."""
        self.local[me].append(message)

    def pack(self, me: int, item: str) -> Any:
        """Return what is sent of something in the outbox."""
        return item

    def device(self, me: int) -> Iterator[None]:
        """Do what the worker does, step after step."""
        devices = self.case.devices
        while True:
            received = False
            for peer in range(devices):
                link = peer * devices + me
                while peer != me:
                    number = yield from MAIL.next_message(self.rings, link)
                    if number < 0:
                        break
                    received = True
                    yield from END.be_active(self.board, me)
                    self.arrive(me, self.content.pop((link, number % self.case.slots)))
                    yield from END.count_taken(self.board, me)
                    yield from MAIL.release(self.rings, link, number)
            worked = bool(self.local[me])
            if worked:
                self.serve(me, self.local[me].pop(0))
            for peer in range(devices):
                link = me * devices + peer
                while waiting := [one for one in self.outbox[me] if one[0] == peer]:
                    number = yield from MAIL.free_slot(self.rings, link)
                    if number < 0:
                        break
                    self.outbox[me].remove(waiting[0])
                    message = self.pack(me, waiting[0][1])
                    self.content[link, number % self.case.slots] = message
                    yield from END.count_sent(self.board, me)
                    yield from MAIL.post(self.rings, link, number, 1)
            if worked or received or self.outbox[me]:
                continue
            yield from END.be_passive(self.board, me)
            if me == self.case.looking:
                if (yield from END.is_over(self.board, devices)):
                    return
            else:
                yield
                if self.board[devices * LINE]:
                    return

    def serve(self, me: int, item: str) -> None:
        self.served.append(item)
        for device, made in self.case.items.get(item, ()):
            (
                self.local[me].append(made)
                if device == me
                else self.outbox[me].append((device, made))
            )

    def step(self, device: int) -> None:
        """Let a device go on to before its next load or store."""
        try:
            next(self.running[device])
        except StopIteration:
            del self.running[device]
        if self.board[self.case.devices * LINE]:
            assert not any(self.local), "it was called over with work in a list"
            assert not any(self.outbox), "it was called over with work in an outbox"
            assert not self.content, "it was called over with a message under way"
        self.check()

    def check(self) -> None:
        """Check what must be so after every step."""

    def key(self) -> Any:
        """Return what tells this state from others."""
        return (
            self.board.tobytes(), self.rings.posted.tobytes(), self.rings.taken.tobytes(),
            tuple(sorted(self.content.items())), tuple(map(tuple, self.local)),
            tuple(map(tuple, self.outbox)), self.values(),
            tuple((device, *_place(one)) for device, one in sorted(self.running.items())),
        )  # fmt: skip

    def values(self) -> Any:
        """Return what devices hold beside their work."""
        return tuple(sorted(self.served))


class Sums(NamedTuple):
    """Vertices with what they begin with, on whose device they are, and to whom they hand on."""

    devices: int
    owner: Mapping[str, int]
    edges: Mapping[str, Sequence[str]]
    first: Mapping[str, float]
    slots: int
    looking: int = 0
    least: float = 1.0
    """What is not worth handing on."""


class Summing(World):
    """Devices that add up: `delta` is what each holds for a vertex of its own, or for a copy."""

    empties = True
    """Whether a copy that is sent is emptied; a test says no."""

    def begin(self) -> None:
        self.delta = [dict.fromkeys(self.case.owner, 0.0) for _ in range(self.case.devices)]
        self.rank = dict.fromkeys(self.case.owner, 0.0)
        for vertex, amount in self.case.first.items():
            self.add(self.case.owner[vertex], vertex, amount)

    def add(self, me: int, vertex: str, amount: float) -> None:
        """Do as `serving.add_up`: copies are always work, sums of one's own if they are enough."""
        self.delta[me][vertex] += amount
        owner = self.case.owner[vertex]
        if owner != me and (owner, vertex) not in self.outbox[me]:
            self.outbox[me].append((owner, vertex))
        if owner == me and self.delta[me][vertex] > self.case.least:
            self.local[me] += [] if vertex in self.local[me] else [vertex]

    def arrive(self, me: int, message: Any) -> None:
        self.add(me, *message)

    def pack(self, me: int, item: str) -> Any:
        amount = self.delta[me][item]
        if self.empties:
            self.delta[me][item] = 0.0
        return item, amount

    def serve(self, me: int, item: str) -> None:
        taken, self.delta[me][item] = self.delta[me][item], 0.0
        self.rank[item] += taken
        for neighbor in self.case.edges[item]:
            self.add(me, neighbor, taken / 2 / len(self.case.edges[item]))

    def check(self) -> None:
        """All that there was is still there: half of what went on, and all of what could not."""
        under_way = sum(amount for _, amount in self.content.values())
        held = sum(sum(delta.values()) for delta in self.delta)
        ranked = sum(rank / (2 if self.case.edges[v] else 1) for v, rank in self.rank.items())
        there = ranked + held + under_way
        assert there == sum(self.case.first.values()), "something was lost, or counted twice"
        if self.board[self.case.devices * LINE]:
            for vertex, owner in self.case.owner.items():
                for device in range(self.case.devices):
                    most = self.case.least if device == owner else 0
                    assert self.delta[device][vertex] <= most, "it was called over with work left"

    def values(self) -> Any:
        return tuple(tuple(delta.values()) for delta in self.delta), tuple(self.rank.values())


def _place(generator: Any) -> Iterator[Any]:
    """Give where a generator is, and its local numbers, down to the innermost."""
    while generator is not None:
        frame = generator.gi_frame
        if frame is None:
            return
        yield frame.f_lasti
        yield tuple((name, value) for name, value in sorted(frame.f_locals.items())
                    if isinstance(value, (bool, int, np.integer)))  # fmt: skip
        generator = generator.gi_yieldfrom


class Found(NamedTuple):
    """How many states there are, and the items served in each that is the end."""

    states: int
    ends: set[tuple[str, ...]]
    hanging: int
    """States from which the end cannot be reached."""


def at(case: Any, schedule: Sequence[int], kind: type[World] = World) -> World:
    """Return the world after a schedule."""
    world = kind(case)
    for device in schedule:
        world.step(device)
    return world


def explored(case: Any, most: int = 1 << 20, kind: type[World] = World) -> Found:
    """Go through all schedules."""
    first = kind(case)
    numbers = {first.key(): 0}
    before: list[list[int]] = [[]]
    ends: set[int] = set()
    served: set[tuple[str, ...]] = set()
    open_: list[tuple[int, ...]] = [()]
    while open_:
        schedule = open_.pop()
        world = at(case, schedule, kind)
        here, ready = numbers[world.key()], list(world.running)
        if not ready:
            ends.add(here)
            served.add(tuple(sorted(world.served)))
        for turn, device in enumerate(ready):
            if turn > 0:
                world = at(case, schedule, kind)
            world.step(device)
            key = world.key()
            if key not in numbers:
                numbers[key] = len(before)
                before.append([])
                open_.append((*schedule, device))
                assert len(before) < most, "more states than expected"
            before[numbers[key]].append(here)
    reached, last = set(ends), list(ends)
    while last:
        for state in before[last.pop()]:
            if state not in reached:
                reached.add(state)
                last.append(state)
    return Found(len(before), served, len(before) - len(reached))
