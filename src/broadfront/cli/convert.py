"""`broadfront convert`: a graph from one format into another."""

from __future__ import annotations

import argparse
import os
from typing import Any

from broadfront.cli import display, graphs
from broadfront.clock import Clock
from broadfront.graph.csr import Graph
from broadfront.sizes import size_text


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "convert",
        help="read a graph and write it in another format",
        description="Read a graph and write it in the format that the suffix of OUT names: "
        ".bfg (opens at once), .mtx .el .wel .txt .csv .tsv .edges .dat .gr .graph .parquet, "
        "also with .gz .xz .zst.",
        epilog="example: broadfront convert USA-road-d.NY.gr.gz ny.bfg",
    )
    command.add_argument("graph", metavar="IN", help="a file, or a generated graph as kron:20")
    command.add_argument("out", metavar="OUT", help="the file to write")
    graphs.add_reading(command)
    graphs.add_output(command)
    return command


def run(options: argparse.Namespace) -> None:
    """Read, write, and tell both."""
    save(graphs.read_graph(options), options)


def save(graph: Graph, options: argparse.Namespace) -> None:
    """Write the graph to ``options.out`` and tell what was written."""
    clock = Clock()
    with display.showing_progress(options):
        graph.save(options.out)
    written = {
        "path": options.out, "bytes": os.path.getsize(options.out), "seconds": clock.seconds
    }  # fmt: skip
    if options.json:
        display.print_json({**display.facts_of(graph), "written": written})
        return
    display.print_facts(
        {
            **display.graph_lines(graph),
            "written": f"{options.out}, {size_text(os.path.getsize(options.out))}, "
            f"{clock.seconds:.3f} s",
        }
    )
