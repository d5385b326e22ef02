"""A program: its fields, and its phases of operators. The library owns the loop.

    BFS = Program(
        fields={"depth": Field(np.uint32, fill=UNREACHED, combine="min")},
        phases=[Phase([Advance(one_hop_further, into="depth", cond=unreached)])],
    )

A phase runs its operators in order, once, or again and again: while the frontier is not empty
(where it advances), or until ``until(state)`` is true. All phases of a program are one compiled
call on the threads of a device.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from keyword import iskeyword
from typing import Any

from numpy.typing import DTypeLike, NDArray

from broadfront.errors import OptionError
from broadfront.execution.names import COUNTERS, check_counting, names_in
from broadfront.execution.parameters import check_dtypes
from broadfront.execution.phase import Phase as Phase
from broadfront.execution.repeat import Repeat, check_members, flattened, repeats_in
from broadfront.functors import check_functor
from broadfront.given import listed
from broadfront.operators.checks import (
    check_all_answers,
    check_answers,
    check_arguments,
    check_takes,
)
from broadfront.operators.describe import (
    Advance,
    Field,
    Functor,
    Intersect,
    Levels,
    Operator,
    Reduce,
)
from broadfront.operators.roles import STATE

RESERVED = (
    "weight", "offsets", "targets", "in_offsets", "in_targets", "num_vertices", "ids", "in_weight",
)  # fmt: skip
"""Attributes of the state that the graph provides."""
INCOMING = frozenset({"in_offsets", "in_targets", "in_weight"})


NAMES: dict[str, Any] = {"str": str, "str | None": str | None}
"""What the parts of operators are that name something, by how they are annotated."""


@dataclass(frozen=True)
class Program:
    """Fields and phases; `step` is short for one phase.

    Parameters
    ----------
    fields
        Name and `Field` of everything the functors read and write.
    step
        The operators of the only phase.
    phases
        Several phases, one after the other; a `Repeat` among them runs its own again and again.
    parameters
        Names of numbers that each run sets, read by functors as attributes of the state: whole
        numbers as int64, others as float64, each with a loop of its own. Or names with dtypes, and
        numbers become these: one loop for all.
    unordered
        A promise that it does not matter in which order functors go through the edges of a vertex,
        as for a sum or a minimum. Several devices then number vertices anew, which is quicker.
    """

    fields: Mapping[str, Field]
    step: Sequence[Operator] = ()
    phases: Sequence[Phase | Repeat] = ()
    parameters: Sequence[str] | Mapping[str, DTypeLike] = ()
    unordered: bool = False
    name: str = "program"
    _loops: dict[Any, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )
    _settled: dict[Any, Program] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )

    def __post_init__(self) -> None:
        if not isinstance(self.fields, Mapping):
            raise OptionError(
                f"fields={self.fields!r:.60}: expected a dictionary of names and fields"
            )
        for name in ("step", "phases"):
            listed(getattr(self, name), name)
        if not isinstance(self.parameters, Mapping):
            listed(self.parameters, "parameters")
        if bool(self.step) == bool(self.phases):
            raise OptionError("a program has either a step or phases")
        self._check_names()
        check_members(self.members, Phase)
        for until in self.untils:
            check_functor(until, "until=")
            check_takes(until, (STATE,), "until=")
            check_answers(until, "until=")
        arranged = False
        intersects = 0
        for operator in self.operators:
            self._check(operator)
            intersects += isinstance(operator, Intersect)
            if isinstance(operator, Levels):
                arranged = arranged or operator.by is not None
                if not arranged:
                    raise OptionError("the first Levels of a program needs by=")
        if intersects > 1:
            raise OptionError("a program has at most one Intersect")

    @cached_property
    def members(self) -> Sequence[Phase | Repeat]:
        """The phases in order, also of a program given by one step."""
        return self.phases or (Phase(self.step),)

    @cached_property
    def all_phases(self) -> Sequence[Phase]:
        """All phases, those inside a `Repeat` too."""
        return tuple(flattened(self.members))

    @cached_property
    def operators(self) -> Sequence[Operator]:
        """All operators, in order."""
        return tuple(operator for phase in self.all_phases for operator in phase.step)

    @cached_property
    def goes_round(self) -> bool:
        """Whether there is a `Repeat`."""
        return any(repeats_in(self.members))

    @cached_property
    def untils(self) -> Sequence[Functor]:
        """The functors that end phases and rounds."""
        ending: list[Phase | Repeat] = [*self.all_phases, *repeats_in(self.members)]
        return tuple(member.until for member in ending if member.until is not None)

    def on(self, vertex: Any) -> Program:
        """Return the program with the dtypes it has where vertex ids are of dtype `vertex`."""
        if self._is_settled:
            return self
        settled = self._settled.get(vertex)
        if settled is None:
            fields = {name: field.on(vertex) for name, field in self.fields.items()}
            settled = self._settled[vertex] = replace(self, fields=fields)
        return settled

    @cached_property
    def _is_settled(self) -> bool:
        return all(field.dtype != "vertex" for field in self.fields.values())

    @cached_property
    def only_advances(self) -> bool:
        """Whether all that it does is to follow edges from the frontier."""
        return all(step.advances for step in self.operators)

    @cached_property
    def looks_once(self) -> bool:
        """Whether all that it does is to look at every edge once."""
        return all(step.looks_once for step in self.operators)

    @cached_property
    def goes_once(self) -> bool:
        """Whether all it does is to go from its frontier once, along the edges or nowhere.

        What always pulls goes through everything, however small the frontier is.
        """
        return not self.goes_round and all(
            phase.until is None and phase.limit in ((1,) if phase.advances else (1, None))
            and all(step.takes_frontier for step in phase.step)
            and not any(isinstance(step, Advance) and step.direction == "pull"
                        for step in phase.step)
            for phase in self.all_phases
        )  # fmt: skip

    @cached_property
    def advances_back(self) -> bool:
        """Whether some `Advance` goes against the arcs."""
        return any(step.goes_back for step in self.operators)

    @cached_property
    def reduces(self) -> Sequence[Reduce]:
        """The reductions to which each neighbour offers the same to all."""
        return tuple(operator for phase in self.all_phases for operator in phase.reduces)

    @cached_property
    def reduces_often(self) -> bool:
        """Whether such a reduction runs often enough to prepare the graph for it."""
        often = self.goes_round
        return any(phase.reduces and (phase.repeats or often) for phase in self.all_phases)

    def looks_back(self, large: bool) -> bool:
        """Whether some operator goes along incoming arcs, on a graph that is `large` or not."""
        return self.reads_incoming or any(step.needs_in_edges(large) for step in self.operators)

    @cached_property
    def reads_incoming(self) -> bool:
        """Whether some functor reads the rows of incoming arcs."""
        return any(map(_reads_incoming, self.operators))

    @cached_property
    def names_read(self) -> frozenset[str]:
        """All names in functors: what is not among them, no functor reads from its state."""
        held = [value for operator in self.operators for value in vars(operator).values()]
        functors = filter(callable, held)
        return frozenset().union(*(names_in(functor) for functor in (*functors, *self.untils)))

    def look_again(self) -> None:
        """Forget what functors name: they call others than before."""
        for name in NAMED:
            self.__dict__.pop(name, None)

    @cached_property
    def reads_weights(self) -> bool:
        """Whether some functor names the weights; no loop depends on their dtype otherwise."""
        return "weight" in self.names_read

    @cached_property
    def reads_in_weights(self) -> bool:
        """Whether some functor names the weights of incoming edges."""
        return "in_weight" in self.names_read

    @cached_property
    def counters(self) -> tuple[str, ...]:
        """The counters that the state has: all if some functor names one, else none."""
        return () if self.names_read.isdisjoint(COUNTERS) else COUNTERS

    @property
    def state_names(self) -> tuple[str, ...]:
        """The attributes of the state, in order."""
        return self.state_names_with(())

    def state_names_with(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the attributes of the state, in order, with these columns of the graph."""
        return (*self.fields, *self.parameters, *columns, *RESERVED, *self.counters)

    def weights(self, given: NDArray[Any] | None) -> NDArray[Any] | tuple[()]:
        """Return weights as the state holds them: none where there are none, or nobody reads."""
        return given if given is not None and self.reads_weights else ()

    def in_weights(self, given: NDArray[Any] | None) -> NDArray[Any] | tuple[()]:
        """Return the weights of incoming edges as the state holds them."""
        return given if given is not None and self.reads_in_weights else ()

    def pulls_later(self, large: bool) -> bool:
        """Whether incoming arcs are of no use until some `Advance` finds that a pull pays.

        That operator must be the first of its iteration, which then begins again. A loop that goes
        round is never left.
        """
        if self.goes_round:
            return False
        backwards = [
            (operator, operator is phase.step[0])
            for phase in self.all_phases
            for operator in phase.step
            if _looks_back(operator, large)
        ]
        return all(
            first and operator.may_push and not _reads_incoming(operator)
            for operator, first in backwards
        )  # fmt: skip

    def _check_names(self) -> None:
        """Refuse names that a state cannot have; see `broadfront.execution.states`."""
        names = [*self.fields, *self.parameters]
        for place, name in enumerate(names):
            if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
                raise OptionError(
                    f"{name!r} cannot be the name of a field or parameter: it is no Python name"
                )
            if name.startswith("_") or name in (*RESERVED, *COUNTERS):
                taken = "it begins with _" if name.startswith("_") else "the state has one already"
                raise OptionError(f"{name!r} cannot be the name of a field or parameter: {taken}")
            if name in names[:place]:
                raise OptionError(f"{name!r} is the name of two fields or parameters")
        if isinstance(self.parameters, Mapping):
            check_dtypes(self.parameters)
        for name, declared in self.fields.items():
            if not isinstance(declared, Field):
                raise OptionError(f"field {name!r} is {declared!r:.60}: expected a Field")

    def _check(self, operator: Operator) -> None:
        """Refuse an operator whose fields are not there, or not as compiled code takes them."""
        if not isinstance(operator, Operator):
            raise OptionError(f"{operator!r:.60} is no operator")
        for part in dataclasses.fields(operator):
            functor = getattr(operator, part.name)
            if not isinstance(functor, NAMES.get(str(part.type), object)):
                kind = type(operator).__name__
                raise OptionError(f"{kind}({part.name}={functor!r:.60}): expected a name")
            if part.type == "Functor" or (part.type == "Functor | None" and functor is not None):
                check_functor(functor, f"{type(operator).__name__}({part.name}=...)")
        check_arguments(operator)
        operator.check(self.fields)
        check_all_answers(operator)
        if isinstance(operator, Advance):
            check_counting(operator)


NAMED = ("names_read", "reads_weights", "reads_in_weights", "reads_incoming", "counters")
"""What is known of a program by the names in its functors."""


def _looks_back(operator: Operator, large: bool) -> bool:
    return operator.needs_in_edges(large) or _reads_incoming(operator)


def _reads_incoming(operator: Operator) -> bool:
    """Tell whether a functor of an operator reads the rows of incoming arcs."""
    functors = [value for value in vars(operator).values() if callable(value)]
    return any(not INCOMING.isdisjoint(names_in(functor)) for functor in functors)
