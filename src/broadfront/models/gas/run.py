"""Running a vertex program: lowered to operators, then run as any program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from numpy.typing import ArrayLike

from broadfront.errors import OptionError
from broadfront.execution.answer import Answer
from broadfront.execution.options import Options
from broadfront.execution.run import run as run_program
from broadfront.given import is_one_of
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.models.gas.lower import lowered
from broadfront.models.gas.program import OWN_FIELDS, STYLES, VertexProgram


def run(
    program: VertexProgram,
    graph: Graph,
    *,
    frontier: ArrayLike = (),
    init: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    style: str = "expand",
    **options: Unpack[Options],
) -> Answer:
    """Run a vertex program on a graph.

    Parameters
    ----------
    frontier
        The vertices that are active at first, as in `broadfront.run`; a program without scatter has
        no use for it.
    init, parameters, options
        As in `broadfront.run`.
    style
        How it becomes operators: ``"expand"`` (gather, apply, expand and contract, as MapGraph) or
        ``"activate"`` (gather, apply, activate, as VertexAPI2). Answers are the same; what the
        record counts is not.

    Examples
    --------
    >>> import numpy as np
    >>> import broadfront as bf
    >>> def arrive(vertex, state):
    ...     state.depth[vertex] = state.iteration
    ...     return True
    >>> def is_new(neighbor, state):
    ...     return state.depth[neighbor] < 0
    >>> depth = {"depth": bf.Field(np.int32, fill=-1)}
    >>> search = bf.gas.VertexProgram(depth, apply=arrive, scatter=is_new)
    >>> bf.gas.run(search, bf.generate("path:5"), frontier=[1])["depth"]
    array([1, 0, 1, 2, 3], dtype=int32)
    """
    if not isinstance(program, VertexProgram):
        raise OptionError(f"program={program!r:.60}: expected a VertexProgram")
    expect_graph(graph)
    if not is_one_of(style, STYLES):
        raise OptionError(f"style={style!r}: expected {' or '.join(map(repr, STYLES))}")
    operators = lowered(program, style, graph.directed)
    answer = run_program(
        operators, graph, frontier=frontier, init=init, parameters=parameters, **options
    )
    fields = {name: array for name, array in answer.fields.items() if name not in OWN_FIELDS}
    return Answer(fields, answer.frontier, answer.record)
