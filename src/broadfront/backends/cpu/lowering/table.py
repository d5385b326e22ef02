"""The lowering of every operator: a row for each."""

from __future__ import annotations

from typing import Any

from broadfront.backends.cpu.lowering.advance import LoweredAdvance
from broadfront.backends.cpu.lowering.compute import LoweredCompute
from broadfront.backends.cpu.lowering.filter import LoweredFilter
from broadfront.backends.cpu.lowering.intersect import LoweredIntersect
from broadfront.backends.cpu.lowering.levels import LoweredLevels
from broadfront.backends.cpu.lowering.lowered import Lowering, Uses
from broadfront.backends.cpu.lowering.once import LoweredOnce
from broadfront.backends.cpu.lowering.reduce import LoweredReduce
from broadfront.backends.cpu.lowering.unite import LoweredUnite
from broadfront.execution.program import Program
from broadfront.operators.describe import (
    Advance,
    Compute,
    Filter,
    Intersect,
    Levels,
    Once,
    Operator,
    Reduce,
    Unite,
)

LOWERINGS: dict[type[Any], type[Lowering[Any]]] = {
    Advance: LoweredAdvance,
    Compute: LoweredCompute,
    Filter: LoweredFilter,
    Intersect: LoweredIntersect,
    Levels: LoweredLevels,
    Once: LoweredOnce,
    Reduce: LoweredReduce,
    Unite: LoweredUnite,
}


def lowering_of(operator: Operator) -> Lowering[Any]:
    """Return the lowering of an operator."""
    return LOWERINGS[type(operator)](operator)


def lowerings(program: Program) -> list[Lowering[Any]]:
    """Return the lowerings of a program's operators, in order; made once."""
    kept = program._loops
    if lowerings not in kept:
        kept[lowerings] = [lowering_of(operator) for operator in program.operators]
    made: list[Lowering[Any]] = kept[lowerings]
    return made


def used_by(program: Program, several: bool) -> Uses:
    """Return which of the arrays that operators share a program needs; found out once."""
    kept, key = program._loops, (used_by, several)
    if key not in kept:
        together = Uses()
        for lowering in lowerings(program):
            together = together.together(lowering.uses(several))
        kept[key] = together
    uses: Uses = kept[key]
    return uses
