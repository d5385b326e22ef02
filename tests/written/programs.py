"""Whole programs, drawn: fields, functors as source, operators, phases.

What a program means must not depend on who comes first. So no operator reads at a neighbour what it
sets itself, what several edges set is combined, and a phase that advances has a limit, or proposals
that only ever improve. An `Advance` may read the field that it proposes to: it sees nothing of its
own proposals.

Now and then a program has one mistake, which several devices must refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from written.expressions import Atoms, conditions, numbers
from written.fields import ATOMICS, PARENT, TOTALS, Drawn, atoms_at, per_vertex, shared
from written.script import Script
from written.worlds import worlds

MONOTONE = {
    "min": "state.{0}[source] + abs({1})",
    "max": "min(state.{0}[source], {1})",
    "or": "state.{0}[source] | abs({1})",
}
"""Proposals that come to an end, whoever sees which of them."""
HEADS = {
    "edge": "source, neighbor, edge, state",
    "offer": "neighbor, vertex, edge, state",
    "neighbor": "neighbor, state",
    "vertex": "vertex, state",
    "apply": "vertex, total, state",
    "activate": "vertex, before, after, state",
    "once": "state",
}
MISTAKES = ("far",)
"""What several devices must refuse: to look where another device may be."""
FAR = ("state.{0}[0]", "state.{0}[state.parent[{1}]]")
LOOP = """\
    found = {zero}
    for arc in range(state.{rows}offsets[vertex], state.{rows}offsets[vertex + 1]):
        found = {way}(found, state.{name}[state.{rows}targets[arc]])
"""


class Author:
    """Writes functors and operators, with what Hypothesis draws."""

    def __init__(self, draw: st.DrawFn, mistake: str | None) -> None:
        self.draw = draw
        self.fields: tuple[Drawn, ...] = draw(per_vertex())
        self.shared = (draw(shared()), *TOTALS)
        self.functors: list[str] = []
        self.mistake = mistake
        self.marks: set[str] = set()

    def maybe(self, one_in: int = 2) -> bool:
        return bool(self.draw(st.integers(0, one_in - 1)) == one_in - 1)

    def one_of(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def number(self, atoms: Atoms, real: bool, depth: int = 2) -> str:
        return str(self.draw(numbers(atoms, real, depth)))

    def condition(self, atoms: Atoms) -> str:
        return str(self.draw(conditions(atoms)))

    def define(self, kind: str, body: Sequence[str]) -> str:
        """Add a functor; return its name."""
        name = f"{kind}_{len(self.functors)}"
        lines = "\n".join(line.rstrip("\n") for line in body)
        self.functors.append(f"def {name}({HEADS[kind]}):\n{lines}\n")
        return name

    def common(self) -> Atoms:
        """Return what every functor may name."""
        first, total, measure = self.shared
        return (
            atoms_at([first], "0", "1")
            + atoms_at([total, measure], "0")
            + Atoms(("state.num_vertices", "state.given"))
        )

    def other_than(self, *names: str) -> list[Drawn]:
        return [field for field in self.fields if field.name not in names]

    def at_vertex(self, readable: Sequence[Drawn], vertex: str = "vertex") -> Atoms:
        atoms = atoms_at(readable, vertex) + Atoms((f"state.ids[{vertex}]",)) + self.common()
        if vertex == "vertex":
            atoms += Atoms((f"(state.offsets[{vertex} + 1] - state.offsets[{vertex}])",))
        return atoms

    def wrong(
        self, value: str, readable: Sequence[Drawn], place: str, others: Sequence[str] = ()
    ) -> str:
        """Return a number with the mistake of this program in it, if that is still to be made."""
        if self.mistake is None or self.marks or not self.maybe():
            return value
        self.marks.add(self.mistake)
        if self.mistake == "far":
            whole = [field.name for field in readable if not field.real] or ["parent"]
            return f"({self.one_of(FAR).format(self.one_of(whole), place)} + {value})"
        return f"({self.one_of((place, *others))} + {value})"

    # Operators, each as the text that makes it.

    def advance(self, monotone: bool = False) -> str:
        into = self.one_of([field for field in self.fields if field.combine])
        monotone = monotone and into.combine != "sum"
        hidden = {into.name} if monotone else set()
        cond = None if monotone or not self.maybe(3) else self.cond(hidden)
        lines = [] if cond or monotone else self.side_effects(into, hidden)
        readable = self.other_than(*hidden)
        atoms = atoms_at(readable, "source", "neighbor") + self.common()
        atoms += Atoms(("state.weight[edge]", "state.ids[source]", "state.ids[neighbor]"))
        atoms += Atoms(("state.toll[edge]", "state.rank[source]", "state.rank[neighbor]"))
        proposal = self.number(atoms, into.real)
        if monotone:
            proposal = MONOTONE[into.combine or ""].format(into.name, proposal)
        else:
            proposal = self.wrong(proposal, readable, "source", ("neighbor", "edge"))
        given = [self.define("edge", [*lines, f"    return {proposal}"]), f'into="{into.name}"']
        given += [f"cond={cond}"] if cond else []
        if not monotone and self.maybe(3):
            given.append(f"activate={self.activate(into, lines)}")
        if self.maybe(4):
            given.append(f'balance="{self.one_of(("by_vertex", "by_degree", "by_edges"))}"')
        if self.maybe(4):
            given.append(f'direction="{self.one_of(("push", "pull") if cond else ("push",))}"')
        if self.maybe(4):
            given.append('along="in"')
        if not monotone and self.maybe(4):
            given.append("synchronous=True")
        return f"bf.Advance({', '.join(given)})"

    def cond(self, hidden: set[str]) -> str:
        condition = self.condition(atoms_at(self.other_than(*hidden), "vertex") + self.common())
        return self.define("vertex", [f"    return {condition}"])

    def activate(self, into: Drawn, lines: Sequence[str]) -> str:
        readable = self.other_than(into.name) if not lines else []
        change = Atoms((), ("before", "after")) if into.real else Atoms(("before", "after"))
        condition = self.condition(change + self.at_vertex(readable))
        return self.define("activate", [f"    return {condition}"])

    def side_effects(self, into: Drawn, hidden: set[str]) -> list[str]:
        """Return statements that set a field of the source or of the neighbour."""
        lines = []
        others = self.other_than(into.name)
        if others and self.maybe(5):
            own = self.one_of(others)
            hidden.add(own.name)
            atoms = self.at_vertex(self.other_than(into.name, own.name), "source")
            lines.append(f"    state.{own.name}[source] = {self.number(atoms, own.real, 1)}")
        others = [field for field in self.other_than(into.name, *hidden) if field.combine]
        if others and self.maybe(5):
            near = self.one_of(others)
            hidden.add(near.name)
            readable = self.other_than(into.name, *hidden)
            atoms = atoms_at(readable, "source", "neighbor") + self.common()
            number = self.number(atoms + Atoms(("state.weight[edge]",)), near.real, 1)
            call = ATOMICS[near.combine or ""]
            lines.append(f"    atomics.{call}(state.{near.name}, neighbor, {number})")
        return lines

    def stores(self, atoms: Atoms, kept: Sequence[Drawn]) -> list[str]:
        """Return statements that set fields of the vertex."""
        others = self.other_than(*(field.name for field in kept))
        return [
            f"    state.{field.name}[vertex] = "
            + self.wrong(self.number(atoms, field.real), others, "vertex")
            for field in kept
        ]

    def compute(self) -> str:
        kept = self.draw(st.lists(st.sampled_from(self.fields), max_size=2, unique=True))
        lines = []
        atoms = self.at_vertex(self.fields)
        names = [field.name for field in kept]
        asked = self.other_than(*names)
        if asked and self.maybe(3):
            field = self.one_of(asked)
            lines.append(self.loop(field))
            atoms += Atoms((), ("found",)) if field.real else Atoms(("found",))
        if self.shared[0].combine and self.maybe(4):
            atoms = Atoms(*(keep_out(names, "state.shared") for names in atoms))
            lines.append(self.shared_effect(atoms))
        lines += self.stores(atoms, kept)
        sums, returned = self.sums(atoms)
        given = [self.define("vertex", [*lines, returned]), *sums]
        given += ['over="frontier"'] if self.maybe(3) else []
        return f"bf.Compute({', '.join(given)})"

    def loop(self, field: Drawn) -> str:
        """Return statements that look at all neighbours."""
        zero = "0.0" if field.real else "0"
        way, rows = self.one_of(("min", "max")), self.one_of(("", "in_"))
        return LOOP.format(zero=zero, name=field.name, way=way, rows=rows)

    def shared_effect(self, atoms: Atoms) -> str:
        """Return a statement that sets what all vertices share."""
        call, place = ATOMICS[self.shared[0].combine or ""], self.one_of((0, 1))
        return f"    atomics.{call}(state.shared, {place}, {self.number(atoms, False, 1)})"

    def sums(self, atoms: Atoms) -> tuple[list[str], str]:
        """Return which fields take totals, if any, and the statement that returns their terms."""
        totals = self.draw(st.lists(st.sampled_from(TOTALS), max_size=2, unique=True))
        if not totals:
            return [], "    return 0"
        terms = ", ".join(self.number(atoms, field.real, 1) for field in totals)
        names = "".join(f'"{field.name}", ' for field in totals)
        return [f"sums=({names})"], f"    return {terms}"

    def reduce(self) -> str:
        kept = self.draw(st.lists(st.sampled_from(self.fields), max_size=2, unique=True))
        real = all(field.real for field in kept) and bool(kept)
        identity = self.one_of(("0", "7", "-2"))
        if real:
            identity += ".0"
        if self.maybe():
            atoms = atoms_at(self.fields, "neighbor") + Atoms(("state.ids[neighbor]",))
            offer = self.wrong(self.number(atoms + self.common(), real), self.fields, "neighbor")
            functor = self.define("neighbor", [f"    return {offer}"])
        else:
            asked = self.other_than(*(field.name for field in kept))
            atoms = atoms_at(asked, "neighbor", "vertex") + self.common()
            atoms += Atoms(("state.weight[edge]", "state.ids[neighbor]", "state.ids[vertex]"))
            offer = self.wrong(self.number(atoms, real), asked, "neighbor", ("vertex",))
            functor = self.define("offer", [f"    return {offer}"])
        atoms = Atoms((), ("total",)) if real else Atoms(("total",))
        atoms += self.at_vertex(self.fields)
        lines = self.stores(atoms, kept)
        sums, returned = self.sums(atoms)
        apply = self.define("apply", [*lines, returned])
        given = [functor, apply, f"identity={identity}"]
        given += [f'combine="{self.one_of(("sum", "min", "max"))}"', *sums]
        given += ['along="out"'] if self.maybe(3) else []
        return f"bf.Reduce({', '.join(given)})"

    def filter(self) -> str:
        condition = self.condition(self.at_vertex(self.fields))
        over = ', over="vertices"' if self.maybe(3) else ""
        return f"bf.Filter({self.define('vertex', [f'    return {condition}'])}{over})"

    def once(self) -> str:
        first = self.shared[0]
        number = self.number(self.common(), first.real)
        line = f"    state.shared[{self.one_of((0, 1))}] = {number}"
        return f"bf.Once({self.define('once', [line])})"

    # Phases.

    def phase(self) -> str:
        if self.maybe(4):
            operators = [self.advance(monotone=True)]
            if "abs(" in self.functors[-1] or "min(state" in self.functors[-1]:
                return f"bf.Phase([{operators[0]}], limit=60)"
        else:
            kinds = (self.advance, self.compute, self.reduce, self.filter, self.once)
            operators = [self.one_of(kinds)() for _ in range(self.draw(st.integers(1, 3)))]
        given = [f"[{', '.join(operators)}]"]
        advances = any(text.startswith("bf.Advance") for text in operators)
        if advances or self.maybe():
            given.append(f"limit={self.draw(st.integers(1, 4))}")
            if self.maybe(3):
                until = self.define("once", [f"    return {self.condition(self.common())}"])
                given.append(f"until={until}")
        return f"bf.Phase({', '.join(given)})"


def keep_out(names: tuple[str, ...], beginning: str) -> tuple[str, ...]:
    return tuple(name for name in names if not name.startswith(beginning))


@st.composite
def scripts(draw: st.DrawFn, mistakes: Sequence[str] = ()) -> Script:
    """Draw a program with a world to run in."""
    mistake = draw(st.sampled_from((None, None, None, *mistakes)))
    author = Author(draw, mistake)
    phases = [author.phase() for _ in range(draw(st.integers(1, 3)))]
    if author.maybe(4):
        phases = [f"bf.Repeat([{', '.join(phases)}], limit={draw(st.integers(1, 3))})"]
    world = draw(worlds())
    fields = [*author.fields, PARENT, *author.shared]
    rows = ",\n".join(f"        {field.text()}" for field in fields)
    steps = ",\n".join(f"        {phase}" for phase in phases)
    program = (
        f"program = bf.Program(\n    fields={{\n{rows},\n    }},\n"
        f'    phases=[\n{steps},\n    ],\n    parameters=("given",),\n)\n'
    )
    init = {"parent": draw(st.lists(st.integers(0, world.size - 1),
                                    min_size=world.size, max_size=world.size))}  # fmt: skip
    for field in author.fields:
        if draw(st.booleans()):
            value = st.integers(-4, 9)
            init[field.name] = draw(st.lists(value, min_size=world.size, max_size=world.size))
    return Script(
        tuple(author.functors), program, world, init, {"given": draw(st.integers(-2, 3))},
        frozenset(author.marks),
    )  # fmt: skip
