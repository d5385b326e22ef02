"""What a program allows of the order of the vertices: whether one device may number them anew.

It may where several devices may that number vertices anew (`broadfront.execution.refusals`): where
functors use the number of a vertex only to look up what belongs to it. Numbers that operators
themselves store, as the source of a proposal or the smallest vertex of a set, are put back into
those of the graph when the run is over.

``exact`` programs have the same answer in any order of vertices and edges, but for choices that the
program leaves open. Others add up real numbers: another order, other bits. For these the order must
follow from the call alone, and not from what ran before it.

Invariant: what is not understood keeps the ids of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from broadfront.errors import FunctorError, OptionError
from broadfront.execution.access import access
from broadfront.execution.columns import columns_read, refuse_columns
from broadfront.execution.loops import made_once
from broadfront.execution.program import Program
from broadfront.execution.refusals import calls_atomics, refuse_on_many
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance, Intersect, Levels, Operator, Reduce, Unite


class Relabelling(NamedTuple):
    """How a program runs with vertices numbered anew."""

    recorded: frozenset[str]
    """Fields that hold vertices, of which proposals came."""
    united: frozenset[str]
    """Fields that hold the smallest vertex of a set."""
    exact: bool
    """Whether the answer is the same in any order."""


def relabelling(program: Program, graph: Graph) -> Relabelling | None:
    """Return how a program runs with the vertices of a graph numbered anew; None if it may not."""
    columns = columns_read(program, graph)
    if columns.edge:
        return None
    if columns.vertex:
        try:
            refuse_columns(program, graph, many=True)
        except (FunctorError, OptionError):
            return None
    vertex, size = graph.targets.dtype, graph.num_vertices
    found = made_once(program, (relabelling, vertex), lambda: (_read(program.on(vertex)),))[0]
    if found is None:
        return None
    for field in (program.on(vertex).fields[name] for name in found.recorded):
        if 0 <= field.fill < size or np.iinfo(field.dtype).max < size:
            return None  # what it is filled with could be a vertex, and could be none
    return found


def _read(program: Program) -> Relabelling | None:
    operators = program.operators
    if "ids" in program.names_read or any(isinstance(step, Intersect) for step in operators):
        return None
    if any(field.per == "edge" for field in program.fields.values()):
        return None
    try:
        refuse_on_many(program, relabel=True)
    except (FunctorError, OptionError):
        return None
    recorded = {step.record_source for step in operators
                if isinstance(step, Advance) and step.record_source is not None}  # fmt: skip
    united = {step.into for step in operators if isinstance(step, Unite)}
    others = {name for step in operators for name in _named(step)} | program.names_read
    for name in recorded | united:
        field = program.fields[name]
        if name in others or not field.per_vertex or np.dtype(field.dtype).kind not in "iu":
            return None
    if recorded & united:
        return None
    exact = all(_is_exact(step, program) for step in operators)
    return Relabelling(frozenset(recorded), frozenset(united), exact)


def _named(operator: Operator) -> Iterator[str]:
    """Give the fields that an operator names, but for those that it puts vertices in."""
    if isinstance(operator, Advance):
        yield operator.into
    if isinstance(operator, Levels) and operator.by is not None:
        yield operator.by
    yield from operator.totals


def _is_exact(operator: Operator, program: Program) -> bool:
    """Tell whether it does not matter in which order an operator meets vertices and edges."""
    if isinstance(operator, Levels):
        return False
    if isinstance(operator, Reduce) and operator.combine not in ("min", "max"):
        return False
    if isinstance(operator, Advance):
        combine = program.fields[operator.into].combine
        if combine not in (None, "any", "min", "max", "or") and _is_real(operator.into, program):
            return False
    if any(_is_real(name, program) for name in operator.totals):
        return False
    return not any(
        calls_atomics(functor) or access(functor, roles).walks for functor, roles in operator.roles
    )


def _is_real(name: str, program: Program) -> bool:
    """Tell whether a field holds more than whole numbers."""
    field = program.fields[name]
    return field.several or np.dtype(field.dtype).kind == "f"
