"""A vertex program as operators, in one of two styles.

    gather    Reduce over the frontier, into `gathered`
    apply     Compute over the frontier; notes in `changed` who did
    scatter   "expand":    Advance, whose frontier is the next one
              "activate":  Filter of who changed, Advance that sets flags, Filter over all vertices

Where gathering depends on the neighbour alone and all vertices are active, ``"activate"`` gathers
and applies in one Reduce; ``"expand"`` keeps the two apart, as its model does.

``"expand"`` is gather-apply-expand-contract: proposals meet by atomics, and a vertex enters the
next frontier once, in the queue of the Advance. ``"activate"`` is gather-apply-activate: neighbours
are flagged, and a pass over the flags of all vertices makes the next frontier. Flags are plain
stores of the same number, without atomics; only where the neighbour alone decides are they
proposals, which may be looked at while they are made, so that everyone stops at the first.

Invariant: `signal` is 0 everywhere when a superstep scatters.

References
----------
Fu, Personick, Thompson: MapGraph (GRADES 2014); Elsen, Vaidyanathan: VertexAPI2 (2013); compared by
Wu, Wang, Pan, Yang, Owens: Performance characterization of high-level programming models for GPU
graph analytics (IISWC 2015).
"""

from __future__ import annotations

import numpy as np

from broadfront.execution.program import Phase, Program
from broadfront.models.gas.program import VertexProgram, arguments
from broadfront.models.meeting import meeting
from broadfront.operators.describe import (
    Advance,
    Compute,
    Field,
    Filter,
    Functor,
    Operator,
    Reduce,
)
from broadfront.operators.monoid import Monoid


def lowered(program: VertexProgram, style: str, directed: bool) -> Program:
    """Return the operators of a vertex program, made once for each style and kind of graph."""
    both_sides = directed and "both" in (program.gather_along, program.scatter_along)
    key = (style, both_sides)
    if key not in program._lowered:
        program._lowered[key] = _lower(program, style, both_sides)
    return program._lowered[key]


def _lower(program: VertexProgram, style: str, both_sides: bool) -> Program:
    fields = dict(program.fields)
    gathers, scatters = (
        _sides(along, both_sides) for along in (program.gather_along, program.scatter_along)
    )
    if program.scatter is None:
        step = _all_active(program, style, gathers)
    else:
        fields["changed"] = Field(np.int32)
        fields["signal"] = Field(np.uint8, combine="max")
        scatter = _expand if style == "expand" else _activate
        step = [
            *_gathering(program, gathers, "frontier"),
            Compute(_applying(program), over="frontier"),
            *scatter(program.scatter, scatters),
        ]
    if program.gather is not None and not _is_fused(step):
        fields["gathered"] = Field(type(program.identity))
    phase = Phase(step, until=program.until, limit=program.limit)
    return Program(fields, phases=[phase], parameters=program.parameters, name=program.name)


def _sides(along: str, both_sides: bool) -> tuple[str, ...]:
    """Return the sides to go along; of an undirected graph both are one."""
    if along != "both":
        return (along,)
    return ("in", "out") if both_sides else ("out",)


# ---------------------------------------------------------------------- gather and apply


def _is_fused(step: list[Operator]) -> bool:
    return len(step) == 1


def _all_active(program: VertexProgram, style: str, sides: tuple[str, ...]) -> list[Operator]:
    """Return the superstep of a program in which all vertices are active."""
    gather = program.gather
    if gather is not None and arguments(gather) == 2 and len(sides) == 1 and style == "activate":
        return [Reduce(
            gather, program.apply, program.identity, program.sum, program.sums, along=sides[0]
        )]  # fmt: skip
    apply = program.apply if gather is None else _from_gathered(program.apply)
    return [*_gathering(program, sides, "vertices"), Compute(apply, sums=program.sums)]


def _gathering(program: VertexProgram, sides: tuple[str, ...], over: str) -> list[Operator]:
    """Return the operators that leave in `gathered` what each vertex gathers."""
    gather = program.gather
    if gather is None:
        return []
    if arguments(gather) == 2 and over == "frontier":
        gather = _at_edges(gather)
    applies = [_keep, _keep_with(program.sum)]
    return [
        Reduce(gather, apply, program.identity, program.sum, along=side, over=over)
        for side, apply in zip(sides, applies, strict=False)
    ]


def _at_edges(gather: Functor) -> Functor:
    def gather_at_edge(neighbor, vertex, edge, state):
        return gather(neighbor, state)

    return gather_at_edge


def _keep(vertex, total, state):
    state.gathered[vertex] = total


def _keep_with(how: str | Monoid) -> Functor:
    """Return what adds the total of the other side to what is gathered."""
    meet = meeting(how)

    def keep_both(vertex, total, state):
        state.gathered[vertex] = meet(state.gathered[vertex], total)

    return keep_both


def _from_gathered(apply: Functor) -> Functor:
    def apply_gathered(vertex, state):
        return apply(vertex, state.gathered[vertex], state)

    return apply_gathered


def _applying(program: VertexProgram) -> Functor:
    """Return what applies at a vertex of the frontier, and notes whether it scatters.

    It does if it changed, and in the first superstep. It leaves no signal behind.
    """
    apply = program.apply if program.gather is None else _from_gathered(program.apply)

    def apply_and_note(vertex, state):
        state.signal[vertex] = 0
        scatters = apply(vertex, state) or state.iteration == 0
        state.changed[vertex] = state.iteration + 1 if scatters else 0

    return apply_and_note


# ---------------------------------------------------------------------- scatter


def _changed_now(vertex, state):
    return state.changed[vertex] == state.iteration + 1


def _is_signalled(vertex, state):
    return state.signal[vertex] == 1


def _take_signal(vertex, state):
    signalled = state.signal[vertex] == 1
    if signalled:
        state.signal[vertex] = 0
    return signalled


CHANGED = Filter(_changed_now, over="vertices")
SIGNALLED = Filter(_is_signalled, over="vertices")


def _expand(scatter: Functor, sides: tuple[str, ...]) -> list[Operator]:
    """Return the Advance whose frontier is the next one; the other side needs one more."""
    whether = scatter if arguments(scatter) == 4 else _every_edge

    def signal(vertex, neighbor, edge, state):
        if state.changed[vertex] != state.iteration + 1:
            return 0
        return 1 if whether(vertex, neighbor, edge, state) else 0

    wants = _wanting(scatter) if arguments(scatter) == 2 else None
    advances = [_signalling(signal, wants, side) for side in sides]
    if len(advances) == 1:
        return [*advances]
    return [advances[0], CHANGED, advances[1], SIGNALLED]


def _activate(scatter: Functor, sides: tuple[str, ...]) -> list[Operator]:
    """Return what flags neighbours of those that changed, and makes a frontier of the flags."""
    whether = scatter if arguments(scatter) == 4 else _every_edge

    def flag(vertex, neighbor, edge, state):
        if whether(vertex, neighbor, edge, state):
            state.signal[neighbor] = 1
        return 0

    def offer(vertex, neighbor, edge, state):
        return 1

    wants = _wanting(scatter) if arguments(scatter) == 2 else None
    steps: list[Operator] = []
    for side in sides:
        changed = CHANGED if steps else Filter(_changed_now)
        steps += [changed, _signalling(flag if wants is None else offer, wants, side)]
    return [*steps, Filter(_take_signal, over="vertices")]


def _every_edge(vertex, neighbor, edge, state):
    return True


def _signalling(functor: Functor, wants: Functor | None, side: str) -> Advance:
    """Return the Advance along a side; where the neighbour alone decides, it may pull.

    Where it reads `signal`, it is to stop at a neighbour that has it: order makes no difference.
    """
    return Advance(functor, into="signal", cond=wants, along=side, synchronous=False)


def _wanting(scatter: Functor) -> Functor:
    def wants_signal(vertex, state):
        return state.signal[vertex] == 0 and scatter(vertex, state)

    return wants_signal
