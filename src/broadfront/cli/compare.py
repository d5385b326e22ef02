"""`broadfront compare`: one device, bulk-synchronous and asynchronous, side by side."""

from __future__ import annotations

import argparse
from typing import Any

from broadfront.cli import display, graphs
from broadfront.errors import require
from broadfront.partition.split import PARTITIONERS
from broadfront.scaling.executions import QUESTIONS, compare


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "compare",
        help="run a primitive synchronously and asynchronously",
        description="Run a primitive on one device, bulk-synchronously and asynchronously, fused "
        "or driven by Python, with and without priorities, and show time, work and messages.",
        epilog="example: broadfront compare roads.gr.gz sssp --devices 4 --plot compared.png",
    )
    command.add_argument("graph", metavar="GRAPH", help="a file, or a generated graph")
    command.add_argument("primitive", metavar="PRIMITIVE", help=f"of {' '.join(QUESTIONS)}")
    command.add_argument(
        "--source", metavar="VERTEX", help="by default the vertex of largest degree"
    )
    command.add_argument("--devices", type=int, default=4, metavar="N", help="by default 4")
    command.add_argument(
        "--partitioner", default="metis", choices=tuple(PARTITIONERS), metavar="NAME",
        help=f"of {' '.join(PARTITIONERS)}; by default metis",
    )  # fmt: skip
    command.add_argument("--repeats", type=int, default=5, metavar="N", help="by default 5")
    command.add_argument("--plot", metavar="FILE", help="draw it (extra: plots)")
    graphs.add_reading(command)
    graphs.add_output(command)
    return command


def run(options: argparse.Namespace) -> None:
    """Read, run in every way, and show."""
    if options.plot:
        require("matplotlib", "plots")
    graph = graphs.read_graph(options)
    with display.showing_progress(options):
        found = compare(
            graph, options.primitive, source=options.source, devices=options.devices,
            partitioner=options.partitioner, repeats=max(1, options.repeats),
        )  # fmt: skip
    if options.plot:
        found.plot(options.plot)
    if options.json:
        display.print_json({"title": found.title, "rows": found.facts()})
        return
    display.print_lines([found.title, *found.table()])
