"""A template with a drawn code, in a drawn world: thousands of programs by a few compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

import broadfront as bf
from broadfront.execution.refusals import needs_ids
from broadfront.execution.synchronous import choices
from written.elements import FURTHER_TEMPLATES, SEARCH
from written.judge import LONGEST, compare, judged, refusal
from written.opcodes import conditions, expressions
from written.templates import MOST_ROUNDS
from written.templates import TEMPLATES as FIRST_TEMPLATES
from written.worlds import World, places, worlds

TEMPLATES = FIRST_TEMPLATES | FURTHER_TEMPLATES
SOUND = tuple(TEMPLATES)
FEW = ("push, then compute", "level by level")
HEAD = """\
# PYTHONPATH=tests python this.py
from written.cases import Case
from written.worlds import World
"""


@dataclass(frozen=True)
class Case:
    """One program in one world; its `repr` makes it again."""

    template: str
    code: tuple[int, ...]
    world: World
    init: dict[str, tuple[int, ...]]
    where: dict[str, Any]

    @property
    def program(self) -> bf.Program:
        return TEMPLATES[self.template]

    def check(self) -> str:
        """Return what came of it on all back ends; raise where they do not agree."""
        graph = self.world.graph()
        init: dict[str, Any] = {name: np.array(row) for name, row in self.init.items()}
        init["code"] = np.array(self.code, np.int64)

        def run(**where: Any) -> Any:
            return bf.run(
                self.program, graph, frontier=self.world.frontier, init=init, time_limit=LONGEST,
                **where,
            )  # fmt: skip

        refused = _refusal(self.template, graph.targets.dtype, self.where.get("relabel"))
        if self.template == SEARCH:
            self._check_each(graph, init)
        return judged(run, self.program, self.where, refused)

    def _check_each(self, graph: bf.Graph, init: dict[str, Any]) -> None:
        """Compare a search from each vertex of the frontier by itself, all in one call."""
        sources = list(self.world.frontier)
        rows = {name: np.tile(row, (len(sources), 1)) for name, row in init.items() if name != "a"}
        begin: dict[str, Any] = {**rows, "a": dict.fromkeys(sources, 0)}
        answer = bf.run_each(self.program, graph, frontier=sources, init=begin, time_limit=LONGEST)
        for row, source in enumerate(sources):
            alone: dict[str, Any] = {**init, "a": {source: 0}}
            expected = bf.run(self.program, graph, frontier=[source], init=alone, devices="python")
            found = {name: answer[name][row] for name in self.program.fields}
            compare(expected, replace(expected, fields=found), self.program, {"each": source})

    def runnable(self) -> str:
        return f"{HEAD}\n{self!r}.check()\n"


@lru_cache
def _refusal(template: str, vertex: Any, relabel: bool | None) -> str | None:
    """Return why several devices refuse a template, if they do."""
    program = TEMPLATES[template]
    if relabel and needs_ids(choices(program).strict.program.on(vertex)):
        return "it uses numbers of vertices as values"
    return refusal(program, vertex)


@st.composite
def cases(draw: st.DrawFn, templates: Sequence[str] = SOUND) -> Case:
    """Draw a program of one of the templates."""
    template = draw(st.sampled_from(templates))
    world = draw(worlds())
    code = [
        *draw(expressions()), *draw(expressions()), *draw(conditions()),
        draw(st.integers(1, MOST_ROUNDS)),
    ]  # fmt: skip
    row = st.lists(st.integers(-5, 9), min_size=world.size, max_size=world.size)
    init = {name: tuple(draw(row)) for name in "abc" if draw(st.booleans())}
    where = draw(places())
    if template == SEARCH and draw(st.booleans()):
        where |= {"execution": draw(st.sampled_from(("async", "bsp"))), "threads": 1}
    elif draw(st.booleans()):
        where["relabel"] = draw(st.booleans())
    return Case(template, tuple(code), world, init, where)
