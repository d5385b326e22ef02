"""What a person sees of a benchmark: times, ratios, what loading took, and the notes."""

from __future__ import annotations

from broadfront.benchmark.results import Report, Result
from broadfront.report.table import aligned, seconds_text
from broadfront.sizes import size_text

WORDS = {"lacks": "-", "skipped": "skipped", "stopped": "stopped", "wrong": "WRONG",
         "failed": "failed", "done": "-"}  # fmt: skip


def lines(report: Report) -> list[str]:
    """Return the whole text, a line each."""
    parts = [times(report), ratios(report), loading(report), notes(report)]
    return [line for part in parts if part for line in (*part, "")][:-1]


def times(report: Report) -> list[str]:
    """Return the table of medians."""
    found: dict[tuple[str, str], dict[str, Result]] = {}
    for result in report.results:
        found.setdefault((result.graph, result.primitive), {})[result.system] = result
    rows = [
        [*cell, *(_time(row.get(name)) for name in report.titles)] for cell, row in found.items()
    ]
    settings = report.settings
    checked = "every answer verified" if settings["verify"] else "answers not verified"
    plural = "s" if settings["threads"] > 1 else ""
    title = f"Median of {settings['repeats']}, {settings['threads']} thread{plural}, {checked}"
    return [title, *aligned(["graph", "primitive", *report.titles.values()], rows)]


def ratios(report: Report) -> list[str]:
    """Return how Broadfront compares with the best peer in each cell, and on the whole."""
    found = report.ratios()
    if not found:
        return []
    rows = [[row.graph, row.primitive, report.titles[row.peer], f"{row.ratio:.2f}"]
            for row in found]  # fmt: skip
    mean = report.geometric_mean()
    rows.append(["geometric mean", "", "", f"{mean:.2f}"])
    title = "Time of the best peer over Broadfront's; above 1, Broadfront is quicker"
    return [title, *aligned(["graph", "primitive", "best peer", "ratio"], rows)]


def loading(report: Report) -> list[str]:
    """Return what is not in the times: loading, converting, compiling, and memory."""
    rows = []
    for graph in report.graphs:
        name = graph["name"]
        converted = [row for row in report.conversions if row["graph"] == name]
        results = [row for row in report.results if row.graph == name]
        for form in dict.fromkeys(row["form"] for row in converted):
            seconds = {row["system"]: row["seconds"] for row in converted if row["form"] == form}
            rows.append([name, f"convert, {form}", *_each(report, seconds)])
        compiling: dict[str, float] = {}
        for row in results:
            compiling[row.system] = compiling.get(row.system, 0.0) + row.compile_seconds
        spent = {system: seconds for system, seconds in compiling.items() if seconds}
        if spent:
            rows.append([name, "compile", *_each(report, spent)])
        peaks = [max((row.memory_peak for row in results if row.system == system), default=0)
                 for system in report.titles]  # fmt: skip
        rows.append([name, "peak memory", *(size_text(peak) if peak else "-" for peak in peaks)])
    if not rows:
        return []
    loaded = [f"{row['name']} {seconds_text(row['load_seconds'])}" for row in report.graphs]
    return [
        "Apart from the times above",
        *aligned(["graph", "", *report.titles.values()], rows),
        f"loading: {', '.join(loaded)}",
    ]


def notes(report: Report) -> list[str]:
    """Return what the reader must know: who is absent, who differs, who was not asked."""
    found = []
    if report.stopped:
        found.append("stopped by Ctrl-C; what is here was measured before")
    if report.absent:
        found.append(f"absent: {', '.join(report.absent)} (pip install 'broadfront[bench]')")
    told: dict[str, list[str]] = {}
    for result in report.results:
        if result.note:
            text = f"{report.titles[result.system]} {result.primitive}: {result.note}"
            told.setdefault(text, []).append(result.graph)
    for text, graphs in told.items():
        everywhere = len(graphs) == len(report.graphs)
        found.append(text if everywhere else f"{text} ({', '.join(graphs)})")
    return ["Notes", *(f"  {line}" for line in found)] if found else []


def _each(report: Report, seconds: dict[str, float]) -> list[str]:
    return [seconds_text(seconds[name]) if name in seconds else "-" for name in report.titles]


def _time(result: Result | None) -> str:
    if result is None:
        return "-"
    return WORDS[result.status] if result.median is None else seconds_text(result.median)
