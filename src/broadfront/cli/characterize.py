"""`broadfront characterize`: what graph programs do to this machine, in three models."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from broadfront.characterize import Findings, Settings, Study
from broadfront.characterize.measure import GRAPHS
from broadfront.characterize.ways import PRIMITIVES
from broadfront.cli import display, graphs
from broadfront.errors import OptionError, require

PAGES = (".html", ".htm")


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "characterize",
        help="count and time what three models do",
        description="Run breadth-first search, shortest paths, components and PageRank by "
        "operators, by gather-apply-scatter in two styles and over semirings, and the five "
        "searches of Graph500, and show barriers, kernel calls, atomics, bytes, memory and times. "
        "Each answer is verified; Ctrl-C shows what has been measured.",
        epilog="example: broadfront characterize kron:14 roads.gr.gz --html page.html",
    )
    command.add_argument(
        "graphs", nargs="*", metavar="GRAPH",
        help=f"files or generated graphs; by default {' '.join(GRAPHS)}",
    )  # fmt: skip
    command.add_argument(
        "--primitives", nargs="+", default=PRIMITIVES, metavar="NAME",
        help=f"of {' '.join(PRIMITIVES)}; by default all",
    )  # fmt: skip
    command.add_argument("--threads", type=int, metavar="N", help="by default all")
    command.add_argument(
        "--repeats", type=int, default=Settings.repeats, metavar="N",
        help=f"by default {Settings.repeats}",
    )  # fmt: skip
    command.add_argument(
        "--no-bytes", action="store_true",
        help="do not count bytes, for which every loop is compiled once more",
    )  # fmt: skip
    command.add_argument(
        "--no-sweeps", action="store_true", help="no trees, and no graphs by degree and skew"
    )
    command.add_argument(
        "--scale", type=int, default=Settings.scale, metavar="S",
        help=f"of those graphs: 2^S vertices; by default {Settings.scale}",
    )  # fmt: skip
    output = command.add_argument_group("results")
    output.add_argument(
        "--html", metavar="FILE", help="write all of it as one page to read (extra: plots)"
    )
    output.add_argument("--plots", metavar="FOLDER", help="draw the pictures (extra: plots)")
    graphs.add_output(command)
    return command


def run(options: argparse.Namespace) -> None:
    """Measure and show; after Ctrl-C or an error what was measured so far."""
    if options.html and Path(options.html).suffix.lower() not in PAGES:
        raise OptionError(f"--html {options.html}: expected a name that ends in {PAGES[0]}")
    if options.html or options.plots:
        require("matplotlib", "plots")
    study = Study(
        Settings(
            options.graphs or GRAPHS, options.primitives, options.threads, options.repeats,
            not options.no_bytes, not options.no_sweeps, options.scale,
        ),
        display.teller(options),
    )  # fmt: skip
    try:
        study.run()
    finally:
        if study.findings.rows:
            _show(study.findings, options)


def _show(findings: Findings, options: argparse.Namespace) -> None:
    """Print the tables or all numbers; draw and write the page if asked to."""
    if options.json:
        display.print_json(findings.to_plain())
    else:
        display.print_lines(findings.table().splitlines())
    tell = display.teller(options)
    if options.plots:
        for path in findings.plot(options.plots):
            tell(f"drawn: {path}")
    if options.html:
        tell(f"written: {findings.page(options.html)}")
