"""A template with a drawn code, in a drawn world: thousands of programs by a few compiled loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

import broadfront as bf
from written.judge import judged, refusal
from written.opcodes import conditions, expressions
from written.templates import MOST_ROUNDS, SOUND, TEMPLATES
from written.worlds import World, places, worlds

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
            return bf.run(self.program, graph, frontier=self.world.frontier, init=init, **where)

        refused = _refusal(self.template, graph.targets.dtype)
        return judged(run, self.program, self.where, refused)

    def runnable(self) -> str:
        return f"{HEAD}\n{self!r}.check()\n"


@lru_cache
def _refusal(template: str, vertex: Any) -> str | None:
    """Return why several devices refuse a template, if they do."""
    return refusal(TEMPLATES[template], vertex)


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
    return Case(template, tuple(code), world, init, draw(places()))
