"""What each operator means.

One sentence for all: an operator sees what was there before it, and nothing of what it does itself.
An `Advance` hears all proposals before any of them counts; a `Reduce` and a level of `Levels` hear
all offers before any is applied. Sums are added in the order of the vertices.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from broadfront.backends.python.course import Course
from broadfront.backends.python.numbers import as_python
from broadfront.backends.python.promises import comes_as_it_may
from broadfront.backends.python.state import fitting
from broadfront.errors import VertexError
from broadfront.operators.describe import (
    Advance,
    Compute,
    Field,
    Filter,
    Intersect,
    Levels,
    Once,
    Operator,
    Reduce,
    Unite,
    refuse_intersecting,
)
from broadfront.operators.monoid import Monoid

COMBINES: dict[str, tuple[Callable[..., bool], Callable[..., Any]]] = {
    "min": (lambda new, old, fill: new < old, lambda new, old: new),
    "max": (lambda new, old, fill: new > old, lambda new, old: new),
    "sum": (lambda new, old, fill: True, lambda new, old: old + new),
    "or": (lambda new, old, fill: new | old != old, lambda new, old: old | new),
    "any": (lambda new, old, fill: old == fill, lambda new, old: new),
}
"""For each way to combine: whether a proposal changes what is there, and into what."""
Arcs = Callable[[int, Course], Iterator[tuple[int, int]]]
TOTALS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda total, offer: total + offer, "min": min, "max": max,
}  # fmt: skip


def _combining(field: Field, course: Course) -> tuple[Callable[..., bool], Callable[..., Any]]:
    """Return whether a proposal changes what is there, and into what, as functions."""
    monoid = field.combine
    if not isinstance(monoid, Monoid):
        changes, combined = COMBINES[monoid or "min"]
        return _of_values(changes, combined) if field.width is not None else (changes, combined)

    def meet(new: Any, old: Any) -> Any:
        return course.meeting(monoid, old, new)

    if monoid.idempotent:
        return lambda new, old, fill: meet(new, old) != old, meet
    return lambda new, old, fill: True, meet


def _of_values(
    changes: Callable[..., bool], combined: Callable[..., Any]
) -> tuple[Callable[..., bool], Callable[..., Any]]:
    """Return the same for tuples, in which each value meets its like."""

    def some_changes(new: Any, old: Any, fill: Any) -> bool:
        return any(map(changes, new, old, fill))

    def all_combined(new: Any, old: Any) -> Any:
        pairs = zip(new, old, strict=True)
        return tuple(combined(one, other) if changes(one, other, 0) else other
                     for one, other in pairs)  # fmt: skip

    return some_changes, all_combined


def _adding(combine: str | Monoid, course: Course) -> Callable[[Any, Any], Any]:
    if isinstance(combine, Monoid):
        return lambda total, offer: course.meeting(combine, total, offer)
    return TOTALS[combine]


def do(operator: Operator, course: Course) -> None:
    """Do what an operator says, to the arrays and the frontier of a run."""
    match operator:
        case Advance() if course.as_they_come and comes_as_it_may(operator):
            course.frontier = advance_at_once(operator, course, course.frontier)
        case Advance(priority=None):
            course.frontier = advance(operator, course, course.frontier)
        case Advance():
            advance_in_order(operator, course)
        case Filter(functor=functor):
            asked = _vertices(operator, course)
            course.frontier = [vertex for vertex in asked if course.at_vertex(functor, vertex)]
        case Compute():
            asked = _vertices(operator, course)
            told = [course.at_vertex(operator.functor, vertex) for vertex in asked]
            _add_up(operator.sums, told, course)
        case Once(functor=functor):
            course.once(functor)
        case Reduce():
            reduce(operator, course)
        case Levels():
            go_by_levels(operator, course)
        case Intersect():
            intersect(operator, course)
        case Unite():
            unite(operator, course)


def advance(operator: Advance, course: Course, sources: Iterable[int]) -> list[int]:
    """Propose along the edges of some vertices; return who improves, and enters the frontier."""
    field, out = course.program.fields[operator.into], course.arrays[operator.into]
    changes, combined = _combining(field, course)
    wants = operator.cond
    arcs, ask = _side(operator.along, course)
    after: dict[int, Any] = {}
    origin = {}
    for source in sources:
        for neighbor, edge in arcs(source, course):
            if wants is not None and not course.at_vertex(wants, neighbor):
                continue
            said = ask(operator.functor, source, neighbor, edge)
            proposal = fitting(said, out.dtype, f"state.{operator.into}")
            present = after.get(neighbor, out[neighbor].item())
            if changes(proposal, present, field.fill):
                after[neighbor] = combined(proposal, present)
                origin[neighbor] = source
    before = {vertex: out[vertex].item() for vertex in after}
    for vertex, value in after.items():
        out[vertex] = fitting(value, out.dtype, f"state.{operator.into}")
        if operator.record_source is not None:
            course.arrays[operator.record_source][vertex] = origin[vertex]
    return sorted(
        vertex for vertex in after if operator.activate is None
        or course.at_vertex(operator.activate, vertex, before[vertex], out[vertex].item())
    )  # fmt: skip


def advance_at_once(operator: Advance, course: Course, sources: Sequence[int]) -> list[int]:
    """Do as `advance` with each proposal counting as it comes, from the last source on.

    Where there is a priority nobody goes first, and it goes on until nobody waits.
    """
    field, out = course.program.fields[operator.into], course.arrays[operator.into]
    changes, combined = _combining(field, course)
    arcs, ask = _side(operator.along, course)
    waiting, changed = list(sources), dict[int, None]()
    while waiting:
        source = waiting.pop()
        for neighbor, edge in arcs(source, course):
            if operator.cond is not None and not course.at_vertex(operator.cond, neighbor):
                continue
            said = ask(operator.functor, source, neighbor, edge)
            proposal = fitting(said, out.dtype, f"state.{operator.into}")
            present = out[neighbor].item()
            if changes(proposal, present, field.fill):
                value = combined(proposal, present)
                out[neighbor] = fitting(value, out.dtype, f"state.{operator.into}")
                if operator.record_source is not None:
                    course.arrays[operator.record_source][neighbor] = source
                changed[neighbor] = None
        if operator.priority is not None and not waiting:
            waiting, changed = list(changed), dict[int, None]()
    return sorted(changed)


def advance_in_order(operator: Advance, course: Course) -> None:
    """Serve who comes first, those of the same priority together, until nobody waits."""
    assert operator.priority is not None
    priority, goal = operator.priority, None
    if operator.goal is not None:
        goal = int(course.once(operator.goal))
        if not 0 <= goal < course.graph.num_vertices:
            raise VertexError("the goal of an Advance is not a vertex of the graph")
    waiting = [(course.at_vertex(priority, vertex), vertex) for vertex in course.frontier]
    heapq.heapify(waiting)
    while waiting:
        lowest = waiting[0][0]
        if goal is not None and course.at_vertex(priority, goal) < lowest:
            break
        served = set()
        while waiting and waiting[0][0] == lowest:
            _, vertex = heapq.heappop(waiting)
            if course.at_vertex(priority, vertex) == lowest:  # or it has improved since
                served.add(vertex)
        for vertex in advance(operator, course, sorted(served)):
            heapq.heappush(waiting, (course.at_vertex(priority, vertex), vertex))
    course.frontier = []


def reduce(operator: Reduce, course: Course) -> None:
    """Combine what the neighbours of each vertex offer, then apply it to all."""
    add = _adding(operator.combine, course)
    arcs, ask = _side(operator.along, course)
    offers = []
    if operator.of_neighbor:
        offers = [course.at_vertex(operator.functor, vertex) for vertex in _everyone(course)]
    totals = {}
    for vertex in _vertices(operator, course):
        total = as_python(operator.identity)
        for neighbor, edge in arcs(vertex, course):
            if operator.of_neighbor:
                offer = offers[neighbor]
            else:
                offer = ask(operator.functor, neighbor, vertex, edge)
            total = add(total, offer)
        totals[vertex] = total
    told = [course.at_vertex(operator.apply, vertex, total) for vertex, total in totals.items()]
    _add_up(operator.sums, told, course)


def go_by_levels(operator: Levels, course: Course) -> None:
    """Sum the offers of a level's neighbours, apply the sums, go on to the next level."""
    if operator.by is not None:
        course.levels = defaultdict(list)
        for vertex, level in enumerate(course.arrays[operator.by].tolist()):
            if 0 <= level < course.graph.num_vertices:
                course.levels[level].append(vertex)
    for level in sorted(course.levels, reverse=operator.descending):
        instead = operator.instead
        if operator.when is None or not course.once(operator.when):
            instead = None
        totals = {}
        for vertex in course.levels[level]:
            if instead is not None:
                at_vertex = course.at_vertex if operator.descending else course.back_at_vertex
                totals[vertex] = at_vertex(instead, vertex)
            else:
                totals[vertex] = sum(_offers(operator, vertex, course), 0.0)
        for vertex, total in totals.items():
            course.at_vertex(operator.apply, vertex, total)


def _offers(operator: Levels, vertex: int, course: Course) -> Iterator[float]:
    if not operator.descending:
        for neighbor, edge in _incoming(vertex, course):
            yield course.back_along(operator.gather, neighbor, vertex, edge)
        return
    for neighbor, edge in _outgoing(vertex, course):
        yield course.along(operator.gather, neighbor, vertex, edge)


def intersect(operator: Intersect, course: Course) -> None:
    """Tell of common neighbours: of the ends of each edge, triangle by triangle, or by vertex."""
    graph, functor = course.graph, operator.functor
    refuse_intersecting(graph.directed, graph.has_parallel_edges)
    around = [set(graph.neighbors(vertex).tolist()) - {vertex} for vertex in _everyone(course)]
    triangles = [
        (first, second, third)
        for first in _everyone(course) for second in sorted(around[first]) if second > first
        for third in sorted(around[first] & around[second]) if third > second
    ]  # fmt: skip
    if operator.total is not None:
        course.arrays[operator.total][0] = len(triangles)
    if functor is None:
        return
    if operator.each == "triangle":
        for first, second, third in triangles:
            course.at_vertex(functor, first, second, third)
    elif operator.each == "vertex":
        corners = Counter(corner for triangle in triangles for corner in triangle)
        for vertex in _everyone(course):
            course.at_vertex(functor, vertex, corners[vertex])
    else:
        for first in _everyone(course):
            for edge in course.out_edges(first):
                second = int(graph.targets[edge])
                if second > first:
                    common = len(around[first] & around[second])
                    course.at_vertex(functor, first, second, edge, common)


def unite(operator: Unite, course: Course) -> None:
    """Give each vertex the smallest one that it reaches by edges that count, whatever their way."""
    root = list(_everyone(course))

    def find(vertex: int) -> int:
        while root[vertex] != vertex:
            vertex = root[vertex]
        return vertex

    for source in _everyone(course):
        for edge in course.out_edges(source):
            neighbor = int(course.graph.targets[edge])
            if operator.functor is None or course.along(operator.functor, source, neighbor, edge):
                low, high = sorted((find(source), find(neighbor)))
                root[high] = low
    course.arrays[operator.into][:] = [find(vertex) for vertex in _everyone(course)]


def _vertices(operator: Filter | Compute | Reduce, course: Course) -> Sequence[int]:
    return course.frontier if operator.over == "frontier" else _everyone(course)


def _everyone(course: Course) -> range:
    return range(course.graph.num_vertices)


def _side(along: str, course: Course) -> tuple[Arcs, Callable[..., Any]]:
    """Return how to find the arcs of a vertex on a side, and how to call a functor of one."""
    return (_outgoing, course.along) if along == "out" else (_incoming, course.back_along)


def _outgoing(vertex: int, course: Course) -> Iterator[tuple[int, int]]:
    """Return the neighbours to which arcs go, with the places of these."""
    for edge in course.out_edges(vertex):
        yield int(course.graph.targets[edge]), edge


def _incoming(vertex: int, course: Course) -> Iterator[tuple[int, int]]:
    """Return the neighbours from which arcs come, with the places of these."""
    for edge in course.in_edges(vertex):
        yield int(course.graph.transpose.targets[edge]), edge


def _add_up(sums: tuple[str, ...], told: list[Any], course: Course) -> None:
    """Store the totals of what a functor has returned, for each field that takes one."""
    for place, name in enumerate(sums):
        array = course.arrays[name]
        terms = told if len(sums) == 1 else [each[place] for each in told]
        plain = [int(term) if isinstance(term, int) else term for term in terms]
        total = sum(plain, 0 if array.dtype.kind != "f" else 0.0)
        array[0] = np.asarray(fitting(total, array.dtype, f"state.{name}"), array.dtype)
