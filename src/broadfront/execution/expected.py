"""What a caller gives to run is a program, a graph, and tables by name; what is none is refused."""

from __future__ import annotations

from broadfront.errors import OptionError
from broadfront.execution.program import Program
from broadfront.given import table
from broadfront.graph.expected import expect_graph


def expect_run(program: object, graph: object, init: object, parameters: object) -> None:
    """Refuse what cannot be run."""
    if not isinstance(program, Program):
        raise OptionError(f"program={program!r:.60}: expected a bf.Program")
    expect_graph(graph)
    for given, name in ((init, "init"), (parameters, "parameters")):
        if given is not None:
            table(given, name)
