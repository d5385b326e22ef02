"""What a person sees of a study: times, speed-ups, work and memory, and the notes.

Times are medians by graph; what is relative is a geometric mean over the graphs of a family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from broadfront.report.table import aligned, seconds_text
from broadfront.scaling.findings import Findings, Row
from broadfront.scaling.relative import Relation, against_base, grouped

Value = Callable[[Row, Relation], float]

STRONG: dict[str, Value] = {
    "Speed-up against one device": lambda row, related: related.speed_up,
    "Redundancy: edges visited over those of one device": lambda row, related: row.redundancy,
    "Memory of all devices over that of one": lambda row, related: related.relative_memory,
}
COMPARED: dict[str, Value] = {
    "partition time": lambda row, related: related.relative_partition_time,
    "run time": lambda row, related: related.relative_time,
    "workload": lambda row, related: related.relative_workload,
    "memory": lambda row, related: related.relative_memory,
}
COMPARISONS = {
    "partitioners": "Partitioners",
    "ids": "Ids",
    "memory": "Memory schemes",
}


def lines(findings: Findings) -> list[str]:
    """Return the whole text, a line each."""
    relations = against_base(findings.rows)
    parts = [_times(findings)]
    strong = {row: related for row, related in relations.items() if row.study == "strong"}
    for title, value in STRONG.items():
        parts.append(_by_devices(title, strong, value))
    parts += [_weak(study, findings.rows, relations) for study in ("weak-edges", "weak-vertices")]
    parts += [_compared(study, relations) for study in COMPARISONS]
    parts.append(_notes(findings))
    return [line for part in parts if part for line in (*part, "")][:-1]


def _times(findings: Findings) -> list[str]:
    """Return the medians of strong scaling."""
    rows = [row for row in findings.rows if row.study == "strong"]
    if not rows:
        return []
    repeats = max(len(row.trials) for row in rows)
    title = f"Strong scaling, devices x threads, median of at most {repeats}"
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        cells.setdefault((row.graph, row.primitive), {})[row.where] = _time(row)
    return [title, *_wide(["graph", "primitive"], cells, _wheres(rows))]


def _by_devices(title: str, strong: dict[Row, Relation], value: Value) -> list[str]:
    """Return a value by family, primitive and devices, and over all graphs."""
    many = {row: related for row, related in strong.items() if row.devices > 1}
    if not many:
        return []
    by_family = grouped(many, value, lambda row: (row.family, row.primitive, row.where))
    by_primitive = grouped(many, value, lambda row: ("all graphs", row.primitive, row.where))
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for key, found in (*by_family.items(), *by_primitive.items()):
        family, primitive, where = key
        cells.setdefault((family, primitive), {})[where] = f"{found.mean:.2f}"
    return [title, *_wide(["family", "primitive"], cells, _wheres(many))]


def _weak(study: str, rows: Sequence[Row], relations: dict[Row, Relation]) -> list[str]:
    """Return weak scaling, a line for each primitive and number of devices."""
    mine = sorted((row for row in rows if row.study == study), key=lambda row: row.devices)
    if not mine:
        return []
    found = []
    for primitive in dict.fromkeys(row.primitive for row in mine):
        for row in mine:
            if row.primitive == primitive:
                rate = "-" if row.teps is None else f"{row.teps / 1e6:,.1f}"
                speed = relations[row].speed_up if row in relations else None
                factor = "-" if speed is None else f"{speed / row.devices:.0%}"
                found.append([primitive, row.graph, row.where, f"{row.edges:,}", _time(row), rate,
                              _number(speed), factor])  # fmt: skip
    title = {"weak-edges": "Weak scaling, edges at a vertex grow with devices",
             "weak-vertices": "Weak scaling, vertices grow with devices"}[study]  # fmt: skip
    head = ["primitive", "graph", "devices x threads", "edges", "time", "MTEPS", "speed-up",
            "factor"]  # fmt: skip
    return [title, *aligned(head, found)]


def _compared(study: str, relations: dict[Row, Relation]) -> list[str]:
    """Return the means of ways to run, each against the base of its study."""
    mine = {row: related for row, related in relations.items() if row.study == study}
    if not mine:
        return []
    first = next(iter(mine))
    means: dict[str, dict[tuple[str, str, str], float]] = {}
    for name, value in COMPARED.items():
        if name != "partition time" or study == "partitioners":
            found = grouped(mine, value, lambda row: (row.family, row.primitive, row.variant))
            means[name] = {key: one.mean for key, one in found.items()}
    keys = dict.fromkeys(
        (row.family, row.primitive, row.variant) for row in mine if row.variant != first.variant
    )
    rows = [
        [f"{family} {primitive}", variant,
         *(_number(means[name].get((family, primitive, variant))) for name in means)]
        for family, primitive, variant in keys
    ]  # fmt: skip
    title = f"{COMPARISONS[study]} on {first.where}, relative to {first.variant}"
    return [title, *aligned(["", study, *means], rows)]


def _notes(findings: Findings) -> list[str]:
    told = ["stopped by Ctrl-C; what is here was measured before"] if findings.stopped else []
    told += findings.notes
    seen: dict[str, list[str]] = {}
    for row in findings.rows:
        if row.note:
            text = f"{row.study} {row.variant} {row.primitive}: {row.status}, {row.note}"
            seen.setdefault(text, []).append(row.graph)
    told += [f"{text} ({', '.join(graphs)})" for text, graphs in seen.items()]
    return ["Notes", *(f"  {line}" for line in told)] if told else []


def _wide(
    head: list[str], cells: dict[tuple[str, str], dict[str, str]], columns: list[str]
) -> list[str]:
    rows = [[*key, *(row.get(column, "-") for column in columns)] for key, row in cells.items()]
    return aligned([*head, *columns], rows)


def _wheres(rows: Iterable[Row]) -> list[str]:
    ordered = sorted(rows, key=lambda row: (row.devices, row.threads))
    return list(dict.fromkeys(row.where for row in ordered))


def _time(row: Row) -> str:
    return row.status.upper() if row.seconds is None else seconds_text(row.seconds)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
