"""What a generator is: a function from a few numbers to edges, known by its name.

`generator` registers the function and turns its edges into a graph, so that a generator file holds
the edges alone. The text form of a graph (``kron:20:16``) is read off the function's signature:
positional parameters by position, keyword-only ones as ``key=value``, neighbouring `Side`
parameters joined by ``x``.

Invariant: ``generate(graph.origin.name)`` is the graph that a direct call returned.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, NamedTuple, ParamSpec

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.clock import Clock
from broadfront.given import flag, number, whole
from broadfront.graph.build import Columns, index_dtype
from broadfront.graph.csr import Graph
from broadfront.graph.edges import assemble
from broadfront.graph.numbering import Numbered

Array = NDArray[Any]
Parameters = ParamSpec("Parameters")
NewArray = Callable[..., Array]
"""``array(length, dtype)`` makes an array, as `numpy.empty` does."""
Side = Annotated[int, "one side of a rectangle"]


class Edges(NamedTuple):
    """Raw edges: any order, duplicates and self-loops allowed."""

    source: Array
    target: Array
    num_vertices: int
    directed: bool = False


GENERATORS: dict[str, Callable[..., Edges]] = {}
CHECKS: dict[str, Callable[[Any, str], Any]] = {"float": number, "bool": flag}
"""What arguments are, by how they are annotated; all others are whole numbers."""


def generator(make: Callable[Parameters, Edges]) -> Callable[Parameters, Graph]:
    """Register `make` under its name, and let it return a graph."""
    form = inspect.signature(make)

    @wraps(make)
    def edges_of(*values: Parameters.args, **options: Parameters.kwargs) -> Edges:
        given = form.bind(*values, **options)
        for word, value in given.arguments.items():
            check = CHECKS.get(str(form.parameters[word].annotation), whole)
            given.arguments[word] = check(value, word)
        return make(*given.args, **given.kwargs)

    GENERATORS[make.__name__] = edges_of

    @wraps(make)
    def graph(*values: Parameters.args, **options: Parameters.kwargs) -> Graph:
        clock = Clock()
        edges = edges_of(*values, **options)
        return built(edges, False, clock, _spelled(make, values, options))

    return graph


def built(edges: Edges, simple: bool, clock: Clock, name: str) -> Graph:
    """Build the graph of raw edges."""
    numbered = Numbered(Columns(edges.source, edges.target), edges.num_vertices, None)
    return assemble(numbered, edges.directed, simple, clock, name)


def filled(
    write: Callable[[int, int, Array, Array], object],
    edges: int,
    num_vertices: int,
    grain: int,
    array: NewArray = np.empty,
) -> Edges:
    """Return `edges` edges, written on all threads by ``write(begin, end, source, target)``."""
    index = index_dtype(num_vertices, 0)
    source, target = array(edges, index), array(edges, index)
    pieces = threads.ranges(edges, grain)
    threads.run(
        lambda piece: write(*pieces[piece], source, target), len(pieces), "generating edges"
    )
    return Edges(source, target, num_vertices)


def gathered(
    emit: Callable[[int, int, Array, Array, int], int], num_vertices: int, grain: int
) -> Edges:
    """Return the edges that ``emit(begin, end, source, target, slot)`` finds per range of vertices.

    It runs twice: with empty arrays it counts, then it writes from `slot` on.
    """
    index = index_dtype(num_vertices, 0)
    pieces = threads.ranges(num_vertices, grain)
    nothing = np.empty(0, index)
    counts = threads.run(
        lambda piece: emit(*pieces[piece], nothing, nothing, 0), len(pieces), "counting edges"
    )
    slots = np.concatenate(([0], np.cumsum(counts)))
    source, target = np.empty(slots[-1], index), np.empty(slots[-1], index)
    if slots[-1] > 0:
        threads.run(
            lambda piece: emit(*pieces[piece], source, target, slots[piece]),
            len(pieces), "generating edges",
        )  # fmt: skip
    return Edges(source, target, num_vertices)


# ---------------------------------------------------------------------- the text form


def parameters(make: Callable[..., Edges]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a generator, its seed left out."""
    found = inspect.signature(make, eval_str=True).parameters
    return {name: parameter for name, parameter in found.items() if name != "seed"}


def positions(make: Callable[..., Edges]) -> list[list[str]]:
    """Return the parameters that stand at each position of the text form."""
    groups: list[list[str]] = []
    sides = False
    for name, parameter in parameters(make).items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            break
        if sides and parameter.annotation is Side:
            groups[-1].append(name)
        else:
            groups.append([name])
        sides = parameter.annotation is Side
    return groups


def form(name: str) -> str:
    """Return how a generator is written, such as ``kron:SCALE[:EDGE_FACTOR]``."""
    make = GENERATORS[name]
    known = parameters(make)
    text = name
    for group in positions(make):
        part = ":" + "x".join(word.upper() for word in group)
        text += part if known[group[0]].default is inspect.Parameter.empty else f"[{part}]"
    for word, parameter in known.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            text += f"[:{word}={_written(parameter.default)}]"
    return text


def summary(name: str) -> str:
    """Return the first line of a generator's documentation."""
    return inspect.getdoc(GENERATORS[name]).partition("\n")[0]  # type: ignore[union-attr]


def _spelled(make: Callable[..., Edges], values: Any, options: Any) -> str:
    given = inspect.signature(make).bind(*values, **options).arguments
    text = make.__name__
    for group in positions(make):
        if not all(word in given for word in group):
            break
        text += ":" + "x".join(_written(given.pop(word)) for word in group)
    return text + "".join(f":{word}={_written(value)}" for word, value in given.items())


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
