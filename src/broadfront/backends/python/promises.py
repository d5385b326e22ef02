"""What a program promises, tried out: the same run in another order, which must not matter.

``unordered=True`` says that it does not matter in which order functors go through the edges of a
vertex: the other run has every row of the graph turned around. ``synchronous=False`` says that an
`Advance` may see proposals as they come: in the other run it does, from the last source to the
first, and a priority is left aside. What may be any of several by its own declaration is not
compared: fields that combine by ``any``, and sources that are recorded.

Invariant: a promise that holds passes; that one passes does not prove that it holds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import FunctorError, OptionError
from broadfront.execution.faults import place_of
from broadfront.execution.program import Program
from broadfront.execution.refusals import needs_ids, refuse_on_many
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance

Array = NDArray[Any]
CLOSE = {4: 1e-3, 8: 1e-6}
"""By the bytes of a real number, how much sums may differ that are added in another order."""


class Promise(NamedTuple):
    """What is promised, by whom, and how the other run differs."""

    text: str
    whose: str
    turned: bool
    """Whether rows are turned around; else proposals count as they come."""


def promises_of(program: Program) -> list[Promise]:
    """Return the promises of a program, its dtypes settled, that some run relies on."""
    made = []
    if program.unordered and _is_renumbered(program):
        made.append(Promise("unordered=True", f"program {program.name!r}", True))
    for operator in program.operators:
        if isinstance(operator, Advance) and comes_as_it_may(operator):
            whose = f"the Advance of {place_of(operator.functor)}"
            return [*made, Promise("synchronous=False", whose, False)]
    return made


def comes_as_it_may(operator: Advance) -> bool:
    """Tell whether an operator promises that it does not matter when proposals count.

    With `activate` they wait all the same; up to a goal only some vertices have their answer.
    """
    return operator.synchronous is False and operator.activate is None and operator.goal is None


def _is_renumbered(program: Program) -> bool:
    """Tell whether several devices number vertices anew, so that rows are in another order."""
    try:
        refuse_on_many(program, True)
    except (OptionError, FunctorError):
        return False
    return not needs_ids(program)


def turned_around(graph: Graph) -> tuple[Graph, Array]:
    """Return a graph with every row the other way around, and where its arcs were."""
    both, places = _turned(graph)
    if graph.transpose is not graph:
        both._transpose = _turned(graph.transpose)[0]
    return both, places


def _turned(graph: Graph) -> tuple[Graph, Array]:
    rows = zip(graph.offsets[:-1].tolist(), graph.offsets[1:].tolist(), strict=True)
    places = np.array([place for begin, end in rows for place in range(end - 1, begin - 1, -1)],
                      np.int64)  # fmt: skip
    weights = None if graph.weights is None else graph.weights[places]
    turned = Graph(
        graph.offsets, graph.targets[places], weights, directed=graph.directed,
        self_loops=graph.num_self_loops, parallel=graph.has_parallel_edges,
        edge_data={name: column[places] for name, column in graph.edge_data.items()},
        vertex_data=graph.vertex_data,
    )  # fmt: skip
    turned._transpose = turned if graph.transpose is graph else None
    return turned, places


def refuse_broken(promise: Promise, program: Program, one: Any, other: Any) -> None:
    """Raise `FunctorError` where two runs, arrays by field and a frontier each, differ."""
    any_of = {name for name, field in program.fields.items() if field.combine == "any"} | {
        operator.record_source for operator in program.operators if isinstance(operator, Advance)
    }
    for name in program.fields.keys() - any_of:
        left, right = one[0][name], other[0][name]
        if len(wrong := np.flatnonzero(_differ(left, right))):
            place = int(wrong[0])
            raise FunctorError(
                f"{promise.whose} promises {promise.text}, and it is not so: state.{name}[{place}] "
                f"is {left[place]} in one order and {right[place]} in another: leave "
                f"{promise.text} out"
            )
    if sorted(one[1].tolist()) != sorted(other[1].tolist()):
        raise FunctorError(
            f"{promise.whose} promises {promise.text}, and it is not so: another order leaves "
            f"another frontier: leave {promise.text} out"
        )


def _differ(left: Array, right: Array) -> Any:
    if left.dtype.names is not None:
        columns = [_differ(left[name], right[name]) for name in left.dtype.names]
        return np.any(columns, axis=0)
    if left.dtype.kind == "f":
        close = CLOSE[left.dtype.itemsize]
        differ = ~np.isclose(left, right, rtol=close, atol=1e-9, equal_nan=True)
    else:
        differ = left != right
    return differ if differ.ndim == 1 else differ.any(axis=1)
