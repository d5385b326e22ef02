"""What a caller gives to run is a program, a graph, and tables by name; what is none is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broadfront.errors import OptionError
from broadfront.execution.program import Program
from broadfront.graph.expected import expect_graph


def expect_run(program: object, graph: object, init: object, parameters: object) -> None:
    """Refuse what cannot be run."""
    if not isinstance(program, Program):
        raise OptionError(f"program={program!r:.60}: expected a bf.Program")
    expect_graph(graph)
    expect_table(init, "init")
    expect_table(parameters, "parameters")


def expect_table(given: Any, name: str) -> None:
    """Refuse what does not map names to values; None is an empty table."""
    if given is None:
        return
    if not isinstance(given, Mapping) or not all(isinstance(word, str) for word in given):
        raise OptionError(f"{name}={given!r:.60}: expected a dictionary of names and values")
