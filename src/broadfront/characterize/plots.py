"""The pictures of a characterisation, one function each: what Figures 2 to 9 of the paper show.

A picture without anything to show is not drawn.

References
----------
Wu, Wang, Pan, Yang, Owens: Performance characterization of high-level programming models for GPU
graph analytics (IISWC 2015), section VI.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from broadfront.characterize.findings import Findings, Row
from broadfront.characterize.ways import MODELS, OPERATORS
from broadfront.scaling.look import COLOURS, INK, MARKERS, Picture, bars, line, logarithmic
from broadfront.scaling.relative import Spread

MTEPS = "MTEPS (10⁶ edges/s)"
FULL = 0.82


def draw(findings: Findings, folder: str | PathLike[str]) -> list[Path]:
    """Draw every picture there is something for, and return their paths."""
    goal = Path(folder)
    goal.mkdir(parents=True, exist_ok=True)
    return [picture.save(goal / f"{name}.png") for name, picture in pictures(findings).items()]


def pictures(findings: Findings) -> dict[str, Picture]:
    """Return the pictures there is something for, by name."""
    drawn = {name: picture(findings) for name, picture in PICTURES.items()}
    return {name: picture for name, picture in drawn.items() if picture is not None}


def runtime(findings: Findings) -> Picture | None:
    """Time over that of the operators, by primitive and graph (Figure 2)."""
    return _over_operators(
        findings, "Time over that of the operators", lambda row: row.seconds, "time, relative"
    )


def memory(findings: Findings) -> Picture | None:
    """Memory over that of the operators, by primitive and graph (Figure 9)."""
    return _over_operators(
        findings, "Peak memory over that of the operators", lambda row: row.memory_bytes,
        "memory, relative", straight=True,
    )  # fmt: skip


def _over_operators(
    findings: Findings, title: str, value: Callable[[Row], float], up: str, straight: bool = False
) -> Picture | None:
    rows = findings.of("models")
    primitives = list(dict.fromkeys(row.primitive for row in rows))
    if not rows:
        return None
    picture = Picture(title, primitives)
    for name, axes in zip(primitives, picture.panels, strict=True):
        mine = [row for row in rows if row.primitive == name]
        base = {row.graph: value(row) for row in mine if row.way == OPERATORS}
        groups: dict[str, dict[str, Spread]] = {}
        for row in mine:
            found = value(row) / max(base[row.graph], 1e-9)
            groups.setdefault(row.graph, {})[row.way] = Spread(found, found, found)
        if not straight:
            logarithmic(axes)
        bars(axes, groups, MODELS)
        if not straight:
            picture.share_height([axes])
    picture.label("", up)
    picture.legend("")
    return picture


def frontier_tree(findings: Findings) -> Picture | None:
    """Edges per second over the edges of a frontier, on a tree (Figure 3)."""
    return _rates(findings.of("tree"), "Edges per second over the frontier's edges, on a tree")


def frontier_graphs(findings: Findings) -> Picture | None:
    """Edges per second over the edges of a frontier, on the graphs (as Figure 3)."""
    return _rates(
        findings.of("models", "bfs"), "Edges per second over the frontier's edges, all iterations"
    )


def _rates(rows: Sequence[Row], title: str) -> Picture | None:
    panels = list(dict.fromkeys((row.graph, row.primitive) for row in rows if row.steps))
    if not panels:
        return None
    picture = Picture(title, [f"{graph}: {primitive}" for graph, primitive in panels])
    for key, axes in zip(panels, picture.panels, strict=True):
        mine = [row for row in rows if (row.graph, row.primitive) == key]
        for row in mine:
            place = MODELS.index(row.way)
            points = sorted(
                (step.edges, step.edges / step.microseconds)
                for step in row.steps if step.edges and step.microseconds > 0
            )  # fmt: skip
            across, up = [edges for edges, _ in points], [rate for _, rate in points]
            axes.plot(
                across, up, label=row.way, linestyle="", marker=MARKERS[place], markersize=4,
                color=COLOURS[place], alpha=0.75,
            )  # fmt: skip
        logarithmic(axes)
        logarithmic(axes, across=True)
    picture.label("edges of the frontier", "10⁶ edges/s")
    picture.legend("")
    return picture


def by_iteration(findings: Findings) -> Picture | None:
    """Edges per second in each iteration of breadth-first search (Figure 4)."""
    rows = [row for row in findings.of("models", "bfs") if row.steps]
    graphs = list(dict.fromkeys(row.graph for row in rows))
    if not graphs:
        return None
    picture = Picture("Breadth-first search, iteration by iteration", graphs)
    for graph, axes in zip(graphs, picture.panels, strict=True):
        for row in (row for row in rows if row.graph == graph):
            points = [(number, step.edges / step.microseconds)
                      for number, step in enumerate(row.steps, 1)
                      if step.edges and step.microseconds > 0]  # fmt: skip
            across, up = [number for number, _ in points], [rate for _, rate in points]
            line(axes, across, up, row.way, MODELS.index(row.way))
        logarithmic(axes)
        axes.xaxis.get_major_locator().set_params(integer=True)
    picture.label("iteration", "10⁶ edges/s")
    picture.legend("")
    return picture


def degree(findings: Findings) -> Picture | None:
    """Edges per second by average degree, of regular and of scale-free graphs (Figure 5)."""
    rows = findings.of("degree")
    families = list(dict.fromkeys(row.family for row in rows))
    if not families:
        return None
    picture = Picture("Breadth-first search by average degree", families)
    for family, axes in zip(families, picture.panels, strict=True):
        _lines(axes, [row for row in rows if row.family == family], lambda row: row.teps / 1e6)
        axes.set_xscale("log", base=2)
        ticks = sorted({row.parameter for row in rows if row.family == family})
        axes.set_xticks(ticks, list(map(str, ticks)))
        axes.xaxis.minorticks_off()
    picture.share_height(picture.panels)
    picture.label("edges at a vertex", MTEPS)
    picture.legend("")
    return picture


def skew(findings: Findings) -> Picture | None:
    """Time by skew, of breadth-first search and PageRank (Figure 6)."""
    rows = findings.of("skew")
    primitives = list(dict.fromkeys(row.primitive for row in rows))
    if not primitives:
        return None
    picture = Picture("R-MAT by skew: the same vertices and edges drawn", primitives)
    for name, axes in zip(primitives, picture.panels, strict=True):
        mine = sorted((row for row in rows if row.primitive == name), key=lambda row: row.parameter)
        _lines(axes, mine, lambda row: row.seconds * 1e3)
        ticks = sorted({row.parameter for row in mine})
        axes.set_xticks(ticks, [f"{tick} : 1" for tick in ticks])
        picture.share_height([axes])
    picture.label("a : b", "milliseconds")
    picture.legend("")
    return picture


def _lines(axes: Any, rows: Sequence[Row], value: Callable[[Row], float]) -> None:
    for place, way in enumerate(MODELS):
        mine = [row for row in rows if row.way == way]
        line(axes, [row.parameter for row in mine], [value(row) for row in mine], way, place)
    logarithmic(axes)


def phases(findings: Findings) -> Picture | None:
    """Where the time of a breadth-first search goes, by model (Figure 7)."""
    rows = findings.of("models", "bfs")
    graphs = list(dict.fromkeys(row.graph for row in rows))
    if not graphs:
        return None
    picture = Picture("Breadth-first search: shares of the time of a call", graphs)
    for graph, axes in zip(graphs, picture.panels, strict=True):
        mine = [row for row in rows if row.graph == graph]
        left = [0.0] * len(mine)
        for place, name in enumerate(mine[0].phases):
            shares = [100 * row.phases[name] / max(sum(row.phases.values()), 1e-12) for row in mine]
            axes.barh(
                [row.way for row in mine], shares, FULL, left, label=name, color=COLOURS[place]
            )
            left = [before + share for before, share in zip(left, shares, strict=True)]
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.set_xlabel("percent", fontsize=9, color=INK)
    picture.legend("")
    return picture


def bandwidth(findings: Findings) -> Picture | None:
    """Edges per second over bytes per second of breadth-first search (Figure 8)."""
    rows = [row for study in ("models", "searches") for row in findings.of(study, "bfs")
            if row.bytes_read]  # fmt: skip
    if not rows:
        return None
    names = {"models": "models (bytes counted)", "searches": "Graph500 (bytes derived)"}
    studies = list(dict.fromkeys(row.study for row in rows))
    picture = Picture("Breadth-first search: edges over bytes, per second",
                      [names[study] for study in studies])  # fmt: skip
    for study, axes in zip(studies, picture.panels, strict=True):
        mine = [row for row in rows if row.study == study]
        for place, way in enumerate(dict.fromkeys(row.way for row in mine)):
            points = sorted(
                ((row.bytes_read + row.bytes_written) / row.seconds / 1e9, row.teps / 1e6)
                for row in mine if row.way == way
            )  # fmt: skip
            across, up = [rate for rate, _ in points], [rate for _, rate in points]
            line(axes, across, up, way, place)
        logarithmic(axes)
        logarithmic(axes, across=True)
    picture.label("GB/s", MTEPS)
    picture.legend("")
    return picture


def searches(findings: Findings) -> Picture | None:
    """Edges per second of the searches of Graph500, beside the operators."""
    rows = [*findings.of("models", "bfs"), *findings.of("searches")]
    graphs = list(dict.fromkeys(row.graph for row in findings.of("searches")))
    if not graphs:
        return None
    picture = Picture("The searches of Graph500 beside the operators", graphs)
    for graph, axes in zip(graphs, picture.panels, strict=True):
        mine = [row for row in rows if row.graph == graph
                and (row.study == "searches" or row.way == OPERATORS)]  # fmt: skip
        axes.barh([row.way for row in mine], [row.teps / 1e6 for row in mine], FULL,
                  color=[COLOURS[0 if row.way == OPERATORS else 4] for row in mine])  # fmt: skip
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.grid(visible=False)
        axes.set_xlabel(MTEPS, fontsize=9, color=INK)
    return picture


PICTURES: dict[str, Callable[[Findings], Picture | None]] = {
    picture.__name__: picture
    for picture in (
        runtime, frontier_tree, frontier_graphs, by_iteration, degree, skew, phases, bandwidth,
        memory, searches,
    )
}  # fmt: skip
