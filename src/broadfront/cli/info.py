"""`broadfront info`: what a graph is."""

from __future__ import annotations

import argparse
from typing import Any

from broadfront.cli import display, graphs


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "info",
        help="tell what a graph is: size, direction, weights, degrees",
        description="Read or generate a graph and tell what it is.",
        epilog="example: broadfront info routes.dat --columns 2,4",
    )
    command.add_argument("graph", metavar="GRAPH", help="a file, or a generated graph as kron:20")
    graphs.add_reading(command)
    graphs.add_output(command)
    return command


def run(options: argparse.Namespace) -> None:
    """Print the facts, and how the degrees are spread."""
    graph = graphs.read_graph(options)
    if options.json:
        display.print_json(display.facts_of(graph))
        return
    display.print_facts(display.graph_lines(graph))
    if graph.num_vertices:
        display.print_heading("degree  vertices (bars by logarithm)")
        display.print_facts(display.degree_bars(graph.degrees))
