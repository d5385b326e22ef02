"""A program: its fields, and its phases of operators. The library owns the loop.

    BFS = Program(
        fields={"depth": Field(np.uint32, fill=UNREACHED, combine="min")},
        phases=[Phase([Advance(one_hop_further, into="depth", while_=unreached)])],
    )

A phase runs its operators in order, once, or again and again: while the frontier is not empty
(where it advances), or until ``until(state)`` is true. All phases of a program are one compiled
call on the threads of a device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from broadfront.errors import OptionError
from broadfront.operators.describe import (
    Advance,
    Compute,
    Field,
    Functor,
    Intersect,
    Levels,
    Operator,
    Reduce,
    Unite,
)

BALANCES = ("by_vertex", "by_degree", "by_edges")
RESERVED = ("weight", "offsets", "targets", "in_offsets", "in_targets", "num_vertices", "ids")
"""Attributes of the state that the graph provides."""
FEW = 4
"""Iterations that are over sooner than a graph is prepared for them."""


@dataclass(frozen=True)
class Phase:
    """Operators in order, and how often.

    Parameters
    ----------
    step
        The operators.
    until
        ``until(state)``: stop after the iteration in which it is true. Without it, a phase that
        advances runs until the frontier is empty, and any other phase runs once.
    limit
        At most so many iterations.
    alternate
        Let the operators take turns, one an iteration, in place of all of them in each.
    """

    step: Sequence[Operator]
    until: Functor | None = None
    limit: int | None = None
    alternate: bool = False

    @property
    def advances(self) -> bool:
        """Whether the phase runs on a frontier."""
        return any(isinstance(operator, Advance) for operator in self.step)

    @property
    def repeats(self) -> bool:
        """Whether the phase may run more than a few times."""
        few = self.limit is not None and self.limit <= FEW
        return (self.advances or self.until is not None or self.limit is not None) and not few

    @property
    def reduces(self) -> list[Reduce]:
        """The reductions to which each neighbour offers the same to all."""
        reduces = [operator for operator in self.step if isinstance(operator, Reduce)]
        return [operator for operator in reduces if operator.of_neighbor]


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
        Several phases, one after the other.
    parameters
        Names of numbers that each run sets, read by functors as attributes of the state.
    """

    fields: Mapping[str, Field]
    step: Sequence[Operator] = ()
    phases: Sequence[Phase] = ()
    parameters: Sequence[str] = ()
    name: str = "program"
    _loops: dict[Any, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )
    _settled: dict[Any, Program] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )

    def __post_init__(self) -> None:
        if bool(self.step) == bool(self.phases):
            raise OptionError("a program has either a step or phases")
        for name in (*self.fields, *self.parameters):
            if not name.isidentifier() or name.startswith("_") or name in RESERVED:
                raise OptionError(f"{name!r} cannot be the name of a field or parameter")
        arranged = False
        intersects = 0
        for phase in self.all_phases:
            for operator in phase.step:
                self._check(operator)
                intersects += isinstance(operator, Intersect)
                if isinstance(operator, Levels):
                    arranged = arranged or operator.by is not None
                    if not arranged:
                        raise OptionError("the first Levels of a program needs by=")
        if intersects > 1:
            raise OptionError("a program has at most one Intersect")

    @property
    def all_phases(self) -> Sequence[Phase]:
        """The phases, also of a program given by one step."""
        return self.phases or (Phase(self.step),)

    def on(self, vertex: Any) -> Program:
        """Return the program with the dtypes it has where vertex ids are of dtype `vertex`."""
        if all(field.dtype != "vertex" for field in self.fields.values()):
            return self
        settled = self._settled.get(vertex)
        if settled is None:
            fields = {name: field.on(vertex) for name, field in self.fields.items()}
            settled = self._settled[vertex] = replace(self, fields=fields)
        return settled

    @property
    def reduces(self) -> list[Reduce]:
        """The reductions to which each neighbour offers the same to all."""
        return [operator for phase in self.all_phases for operator in phase.reduces]

    @property
    def reduces_often(self) -> bool:
        """Whether such a reduction runs often enough to prepare the graph for it."""
        return any(phase.reduces and phase.repeats for phase in self.all_phases)

    def looks_back(self, large: bool) -> bool:
        """Whether some operator goes along incoming arcs, on a graph that is `large` or not."""
        return any(
            _looks_back(operator, large) for phase in self.all_phases for operator in phase.step
        )

    def _check(self, operator: Operator) -> None:
        named = []
        if isinstance(operator, Advance):
            named = [operator.into, *([operator.trail] if operator.trail else [])]
            if operator.into in self.fields and self.fields[operator.into].combine is None:
                raise OptionError(f"field {operator.into!r} takes proposals and has no combine")
            if operator.direction not in (None, "push", "pull"):
                raise OptionError(f"direction={operator.direction!r}: expected 'push' or 'pull'")
            if operator.goal is not None and operator.priority is None:
                raise OptionError("an Advance with a goal needs a priority")
            if operator.balance not in (None, *BALANCES):
                raise OptionError(f"balance={operator.balance!r}: expected {', '.join(BALANCES)}")
        elif isinstance(operator, (Compute, Reduce)):
            named = list(operator.sums)
            if len(named) > 2:
                raise OptionError(f"{len(named)} sums; an operator keeps at most 2")
        elif isinstance(operator, Levels) and operator.by is not None:
            named = [operator.by]
            kind = self.fields[operator.by].dtype if operator.by in self.fields else int
            if kind != "vertex" and np.dtype(kind).kind not in "iu":
                raise OptionError(f"field {operator.by!r} holds levels and is not of integers")
        elif isinstance(operator, Intersect) and operator.total is not None:
            named = [operator.total]
        elif isinstance(operator, Unite):
            named = [operator.into]
            if operator.into in self.fields and not _holds_vertices(self.fields[operator.into]):
                raise OptionError(f"field {operator.into!r} takes ids; it must be Field('vertex')")
        for name in named:
            if name not in self.fields:
                raise OptionError(f"no field {name!r}; there are {', '.join(self.fields)}")


def _holds_vertices(field: Field) -> bool:
    kinds = ("vertex", np.dtype(np.int32), np.dtype(np.int64))
    return field.length is None and field.dtype in kinds


def _looks_back(operator: Operator, large: bool) -> bool:
    if isinstance(operator, Reduce) and not operator.in_tiles(large):
        return True
    if isinstance(operator, Levels) and not operator.descending:
        return True
    if isinstance(operator, Advance) and operator.while_ and operator.direction != "push":
        return True
    functors = [value for value in vars(operator).values() if callable(value)]
    return any("in_targets" in functor.__code__.co_names for functor in functors)
