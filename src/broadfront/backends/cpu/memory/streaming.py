"""Runs in less memory than the graph takes: arcs come from files, a little at a time.

Where a mapped graph does not fit in `memory_limit`, its vertices, fields and queues are held in
memory as ever and counted, and what the limit leaves beside them is what there may be of the arcs
(`broadfront.residence.Guard`). What is made of the arcs for a run, such as incoming arcs or tiles,
is made in files, too. The loop and its operators are those of any other run, and so are the bits of
the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from broadfront.backends.cpu.memory.need import Case, graph_bytes, refuse
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.graph.external.turned import beside, turn
from broadfront.residence import LARGEST_FOLIO, PART, Guard, guarding

ALWAYS = False
"""Whether mapped graphs are streamed whatever the limit is; for tests."""


def allowed(case: Case, most: int | None) -> Case:
    """Return the case as it is to be run: streamed where it must be; refuse what does not fit."""
    if most is None:
        return case
    if case.graph.mapped and guarding() and (ALWAYS or max(case.bytes_at_first()) > most):
        case = case._replace(streamed=True)
    refuse(case, most)
    return case


@contextmanager
def streaming(case: Case, most: int | None) -> Iterator[Guard | None]:
    """Guard the arcs of a streamed run inside the block; for others there is no guard."""
    if most is None or not case.streamed:
        yield None
        return
    first, last = case.span()
    budget = case.least_of_arcs + max(0, (most - first) // 2, most - last)
    arrays = case.graph.arc_arrays
    whole = takes_whole_pages(case.program, budget, case.threads * len(arrays))
    with Guard(arrays, budget, beside(case.graph), whole) as guard:
        if case.graph.has_transpose:
            guard.add(*case.graph.transpose.arc_arrays)
        for layout in case.graph.layouts:
            guard.add(*(part for part in layout if isinstance(part, np.ndarray)))
        yield guard


def takes_whole_pages(program: Program, budget: int, at_once: int) -> bool:
    """Tell whether large pages may come in whole, which is cheaper: so many arrays at once.

    Rows may lie across two of them. Runs by priority go through many rows before they look.
    """
    if any(step.by_priority for step in program.operators):
        return False
    return 2 * budget // PART >= 2 * at_once * LARGEST_FOLIO


def held_by_graph(case: Case, looks_back: bool, guard: Guard | None) -> int:
    """Return the bytes of a run's graph; of arcs that are streamed all that there may be."""
    held = graph_bytes(case.graph, looks_back, case.streamed)
    return held if guard is None else held + guard.budget


def turn_back(graph: Graph, guard: Guard | None) -> None:
    """Build the incoming arcs of a streamed run on the disk, unless they are there."""
    if guard is not None and not graph.has_transpose:
        turned = turn(graph, guard.budget, guard.folder)
        guard.add(*turned.arc_arrays)
