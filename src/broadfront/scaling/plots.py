"""The pictures of a study, one function for each: what Figures 5 to 12 of the paper show.

Bars are geometric means over graphs, with the range from the least to the most of them; a dashed
line is the base. A picture without anything to show is not drawn.

References
----------
Pan, Wang, Wu, Yang, Owens: Multi-GPU graph analytics (IPDPS 2017), section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path

from broadfront.scaling.findings import Findings, Row
from broadfront.scaling.look import Picture, bars, line, logarithmic
from broadfront.scaling.relative import Relation, Spread, against_base, grouped
from broadfront.scaling.tables import COMPARED, Value

Relations = dict[Row, Relation]
Name = Callable[[Row], str]
Values = dict[tuple[str, str, str], Spread]
"""By panel, group and kind of bar."""
ALL = "all"
SPLITTING = "partition time"


def draw(findings: Findings, folder: str | PathLike[str]) -> list[Path]:
    """Draw every picture there is something for, and return their paths."""
    goal = Path(folder)
    goal.mkdir(parents=True, exist_ok=True)
    relations = against_base(findings.rows)
    cores = f"all devices share {findings.machine.get('cores', '?')} cores"
    paths = []
    for name, picture in PICTURES.items():
        if drawn := picture(relations):
            drawn.note(cores)
            paths.append(drawn.save(goal / f"{name}.png"))
    return paths


def strong(relations: Relations) -> Picture | None:
    """Edges per second over devices, on the largest graph of each family (Figure 5, top)."""
    rows = of_study(relations, "strong")
    panels = {
        f"{row.family}: {row.graph}": [
            one for one in rows if (one.family, one.graph) == (row.family, row.graph)
        ]
        for row in largest(rows)
    }
    return rates("Strong scaling: the same graph on more devices", panels)


def weak(relations: Relations) -> Picture | None:
    """Edges per second over devices, as many edges on each (Figure 5, bottom)."""
    titles = {"weak-edges": "more edges at each vertex", "weak-vertices": "more vertices"}
    found = {title: of_study(relations, study) for study, title in titles.items()}
    panels = {title: list(rows) for title, rows in found.items() if rows}
    return rates("Weak scaling: as many edges drawn for each device", panels)


def rates(title: str, panels: dict[str, list[Row]]) -> Picture | None:
    """Return lines of edges per second over devices, a panel for each graph or kind of growth."""
    if not any(row.devices > 1 for rows in panels.values() for row in rows):
        return None
    picture = Picture(title, list(panels))
    names = unique(row.primitive for rows in panels.values() for row in rows)
    for axes, rows in zip(picture.panels, panels.values(), strict=True):
        ordered = sorted(rows, key=lambda row: row.devices)
        for place, name in enumerate(names):
            mine = [row for row in ordered if row.primitive == name and row.teps]
            if mine:
                across = [row.devices for row in mine]
                line(axes, across, [(row.teps or 0) / 1e9 for row in mine], name, place)
        ticks = {row.devices: f"{row.devices}×{row.threads}" for row in ordered}
        logarithmic(axes)
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(ticks), list(ticks.values()))
        axes.xaxis.minorticks_off()
    picture.share_height(picture.panels)
    picture.label("devices × threads", "GTEPS (10⁹ edges/s)")
    picture.legend("primitive")
    return picture


def speed_up(relations: Relations) -> Picture | None:
    """Speed-up by primitive, over all graphs (Figure 6)."""
    return scaled(relations, "Speed-up against one device, over all graphs",
                  lambda row, related: related.speed_up, lambda row: ALL, primitive_of,
                  "speed-up")  # fmt: skip


def speed_up_by_primitive(relations: Relations) -> Picture | None:
    """Speed-up by family, a panel for each primitive (Figure 7)."""
    return scaled(relations, "Speed-up against one device, by primitive",
                  lambda row, related: related.speed_up, primitive_of, family_of,
                  "speed-up")  # fmt: skip


def speed_up_by_family(relations: Relations) -> Picture | None:
    """Speed-up by primitive, a panel for each family (Figure 8)."""
    return scaled(relations, "Speed-up against one device, by family of graphs",
                  lambda row, related: related.speed_up, family_of, primitive_of,
                  "speed-up")  # fmt: skip


def memory(relations: Relations) -> Picture | None:
    """Memory of all devices over that of one (Figure 11)."""
    return scaled(relations, "Memory of all devices over that of one",
                  lambda row, related: related.relative_memory, lambda row: ALL, primitive_of,
                  "memory, relative")  # fmt: skip


def redundancy(relations: Relations) -> Picture | None:
    """Edges visited on all devices over those on one."""
    return scaled(relations, "Redundancy: edges visited over those of one device",
                  lambda row, related: row.redundancy, lambda row: ALL, primitive_of,
                  "edges visited, relative")  # fmt: skip


def scaled(
    relations: Relations, title: str, value: Value, panel: Name, group: Name, up: str
) -> Picture | None:
    """Return bars for each number of devices, in groups and panels."""
    rows = of_study(relations, "strong")
    many = {row: related for row, related in rows.items() if row.devices > 1}
    kinds = unique(
        f"{row.devices}×{row.threads}" for row in sorted(many, key=lambda row: row.devices)
    )
    values = grouped(
        many, value, lambda row: (panel(row), group(row), f"{row.devices}×{row.threads}")
    )
    return panels_of_bars(title, values, kinds, "devices × threads", up)


def frontiers(relations: Relations) -> Picture | None:
    """Vertices in the frontier of breadth-first search, iteration by iteration (Figure 9)."""
    rows = largest(row for row in of_study(relations, "strong") if row.frontier)
    if not rows:
        return None
    picture = Picture("Frontier of breadth-first search on one device", [""])
    axes = picture.panels[0]
    for place, row in enumerate(rows):
        across = range(1, len(row.frontier) + 1)
        line(axes, across, row.frontier, f"{row.family}: {row.graph}", place)
    logarithmic(axes)
    logarithmic(axes, across=True)
    picture.label("iteration", "vertices in the frontier")
    picture.legend("graph")
    return picture


def partitioners(relations: Relations) -> Picture | None:
    """Partition time, run time, workload and memory relative to random (Figure 12)."""
    return compared(relations, "partitioners", "Partitioners")


def ids(relations: Relations) -> Picture | None:
    """Run time, workload and memory with ids kept, relative to relabelled."""
    return compared(relations, "ids", "Ids of the graph kept")


def memory_schemes(relations: Relations) -> Picture | None:
    """Run time, workload and memory of memory schemes, relative to the first (Figure 10)."""
    return compared(relations, "memory", "Memory schemes")


def compared(relations: Relations, study: str, title: str) -> Picture | None:
    """Return bars for each way to run, a group for each quantity and a panel for each primitive.

    The time to partition has no primitive, and has a panel of its own, by family.
    """
    mine = of_study(relations, study)
    base = next(iter(mine), None)
    others = {row: related for row, related in mine.items() if base and row.variant != base.variant}
    if not base or not others:
        return None
    values: Values = {}
    for quantity, value in COMPARED.items():
        if quantity != SPLITTING:
            found = grouped(others, value, lambda row: (row.primitive, row.variant))
            values |= {(name, quantity, kind): one for (name, kind), one in found.items()}
        elif study == "partitioners":
            split = {(row.graph, row.variant): row for row in others}
            one_each = {row: others[row] for row in split.values()}
            values |= grouped(one_each, value, lambda row: (SPLITTING, row.family, row.variant))
    title = f"{title}, relative to {base.variant}, on {base.devices}×{base.threads}"
    kinds = unique(row.variant for row in others)
    return panels_of_bars(title, values, kinds, "", f"over that of {base.variant}")


def panels_of_bars(
    title: str, values: Values, kinds: list[str], legend: str, up: str
) -> Picture | None:
    """Return bars by panel, group and kind."""
    if not values:
        return None
    names = unique(panel for panel, _, _ in values)
    picture = Picture(title, names if names != [ALL] else [""])
    panels = dict(zip(names, picture.panels, strict=True))
    for name, axes in panels.items():
        groups: dict[str, dict[str, Spread]] = {}
        for (panel, group, kind), found in values.items():
            if panel == name:
                groups.setdefault(group, {})[kind] = found
        if name == SPLITTING:
            logarithmic(axes)
        bars(axes, groups, kinds)
    picture.share_height([axes for name, axes in panels.items() if name != SPLITTING])
    picture.label("", up)
    picture.legend(legend)
    picture.note("geometric means over graphs, thin lines from the least to the most")
    return picture


def largest(rows: Iterable[Row]) -> list[Row]:
    """Return a row of the largest graph of each family, in the order of families."""
    found: dict[str, Row] = {}
    for row in rows:
        if row.family not in found or row.edges > found[row.family].edges:
            found[row.family] = row
    return list(found.values())


def of_study(relations: Relations, study: str) -> Relations:
    """Return the rows of a study."""
    return {row: related for row, related in relations.items() if row.study == study}


def primitive_of(row: Row) -> str:
    """Return the primitive of a row."""
    return row.primitive


def family_of(row: Row) -> str:
    """Return the family of a row."""
    return row.family


def unique(names: Iterable[str]) -> list[str]:
    """Return names in their order, each once."""
    return list(dict.fromkeys(names))


PICTURES: dict[str, Callable[[Relations], Picture | None]] = {
    picture.__name__: picture
    for picture in (
        strong, weak, speed_up, speed_up_by_primitive, speed_up_by_family, frontiers,
        memory_schemes, memory, partitioners, ids, redundancy,
    )
}  # fmt: skip
