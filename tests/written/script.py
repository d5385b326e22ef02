"""A drawn program as the text of a script that anybody can run; loading it is running its top."""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import broadfront as bf
from written.judge import LONGEST
from written.worlds import World

HEAD = "import numpy as np\n\nimport broadfront as bf\nfrom broadfront import atomics\n"
TAIL = """
for where in ({{"devices": "python"}}, {{"threads": 1}}, {{"threads": 2}}, {where!r}):
    answer = bf.run(program, graph, **start, **where)
    print(where, {{name: answer[name].tolist() for name in program.fields}}, answer.frontier)
"""


@dataclass(frozen=True)
class Script:
    """Definitions of functors, the program made of them, and a world.

    `marks` names what the program does that several devices cannot do.
    """

    functors: tuple[str, ...]
    program: str
    world: World
    init: dict[str, list[float]] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()

    def text(self) -> str:
        arrays = ", ".join(f'"{name}": np.array({row})' for name, row in self.init.items())
        start = (
            f'start = {{\n    "frontier": {list(self.world.frontier)},\n'
            f'    "init": {{{arrays}}},\n    "parameters": {self.parameters},\n}}\n'
        )
        parts = [HEAD, *self.functors, self.program, self.world.text(), start]
        return "\n".join(parts)

    def runnable(self, where: dict[str, Any]) -> str:
        """Return the text with runs on several back ends at its end."""
        return self.text() + TAIL.format(where=where)

    def loaded(self) -> Loaded:
        """Return what the script makes. Its lines are there for whoever asks by file and line."""
        text = self.text()
        name = f"<written {crc32(text.encode()):08x}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        made: dict[str, Any] = {"__name__": "written_program"}
        exec(compile(text, name, "exec"), made)
        return Loaded(made["program"], made["graph"], made["start"])


@dataclass(frozen=True)
class Loaded:
    """A program, a graph, and what a run starts with."""

    program: bf.Program
    graph: bf.Graph
    start: dict[str, Any]

    def run(self, **where: Any) -> Any:
        return bf.run(self.program, self.graph, **self.start, **where, time_limit=LONGEST)
