"""What a back end of CPU devices must know of an operator: a `Lowering`, of which each has one.

A loop is composed, memory is allocated and messages are bounded by going through the lowerings of a
program's operators (`table`). What most operators have in common is here: nothing of their own in
memory, and on several devices what the plan says, before and after their section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from numpy.typing import NDArray

from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.exchange.bounds import Bounds
from broadfront.backends.cpu.loop.across import Across
from broadfront.backends.cpu.loop.phases import chained
from broadfront.backends.cpu.operators.tiles import Tiles
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Operator
from broadfront.partition.outline import Outline

Section = Callable[..., Any]
Kind = TypeVar("Kind", bound=Operator)


class Loop(NamedTuple):
    """What the loop of a program, its dtypes settled, is compiled for."""

    program: Program
    names: tuple[str, ...]
    """The attributes of the state, in order."""
    large: bool = False
    """Whether it is for graphs that are worth a layout of their own."""
    across: Across | None = None
    """What crosses between devices; None for one device."""

    def place(self, name: str) -> int:
        """Return where a field is in the state."""
        return self.names.index(name)

    def places(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """Return where fields are in the state."""
        return tuple(map(self.place, names))

    @property
    def has_marks(self) -> bool:
        """Whether some `Advance` has no priority: then there are marks on vertices."""
        return any(operator.advances and not operator.by_priority
                   for operator in self.program.operators)  # fmt: skip

    @property
    def may_pull(self) -> bool:
        """Whether some `Advance` may leave the frontier as a bitmap."""
        return any(operator.may_pull for operator in self.program.operators)


class Portion(NamedTuple):
    """What a device has of a graph, and the workspace it has it in; a whole graph has no ghosts."""

    graph: Graph
    """The whole one."""
    space: Workspace
    threads: int
    positions: int
    """How long an array with an entry per vertex is, ghosts among them."""
    owned: int
    arcs: int
    shared: int = 0
    """For each peer the vertices that are its ghosts, together."""
    devices: int = 1
    relabelled: bool = False
    several: bool = False
    layout: Tiles | None = None

    @classmethod
    def whole(
        cls, graph: Graph, space: Workspace, threads: int, layout: Tiles | None = None
    ) -> Portion:
        """Return what one device has that has the graph as it is."""
        size = graph.num_vertices
        return cls(graph, space, threads, size, size, graph.num_arcs, layout=layout)

    @classmethod
    def part(
        cls,
        graph: Graph,
        space: Workspace,
        threads: int,
        outline: Outline,
        arcs: int,
        layout: Tiles | None = None,
    ) -> Portion:
        """Return what one of several devices has, given the outline of its part."""
        return cls(
            graph, space, threads, outline.positions, outline.owned, arcs,
            int(outline.shared.sum()), outline.count, outline.relabelled, True, layout,
        )  # fmt: skip


class Uses(NamedTuple):
    """Which of the arrays that operators share one of them needs in full."""

    marks: bool = False
    """Marks on vertices, queues for all of them, and what they gather in."""
    gathers: bool = False
    """A queue for all vertices, and what threads gather in."""
    next_queue: bool = False
    """The second queue."""
    bitmaps: bool = False
    """The frontier as a bitmap."""
    hubs: bool = False
    """A list of the vertices that all threads walk together."""
    sums: bool = False
    """The edges before each vertex of a queue."""
    partials: bool = False
    """Totals of blocks of vertices."""
    enters_again: bool = False
    """Places for vertices that each peer may make enter the frontier once more."""

    def together(self, other: Uses) -> Uses:
        """Return what either needs."""
        return Uses(*(one or another for one, another in zip(self, other, strict=True)))


class Lowering(Generic[Kind]):
    """An operator as CPU devices run it."""

    always_agrees = False
    """Whether devices agree on the frontier after it, whatever else there is to agree upon."""

    def __init__(self, operator: Kind) -> None:
        self.operator = operator

    def section(self, loop: Loop) -> Section:
        """Return the compiled section of the operator itself."""
        raise NotImplementedError

    def whole(self, loop: Loop) -> Section:
        """Return the section with what comes before and after it on several devices."""
        return chained(self.between(loop, [self.section(loop)]))

    def between(self, loop: Loop, sections: list[Section]) -> list[Section]:
        """Return sections between what comes before and after the operator."""
        across, operator = loop.across, self.operator
        if across is None:
            return sections
        agrees = self.agrees(across)
        return [*across.before(operator), *sections, *across.after(operator, agrees)]

    def agrees(self, across: Across) -> bool:
        """Tell whether all devices agree on something after the operator."""
        return self.always_agrees or bool(across.plan.agreed[self.operator])

    def uses(self, several: bool) -> Uses:
        """Return which arrays that operators share it needs, on one or `several` devices."""
        return Uses()

    def memory(self, program: Program, portion: Portion) -> Mapping[str, Any]:
        """Return what it alone works in, by the name of the member of `Work`."""
        return {}

    def messages(self, bounds: Bounds) -> Iterator[NDArray[Any]]:
        """Give for each message of its own the most bytes of it to every device."""
        yield from ()
