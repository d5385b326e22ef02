"""`broadfront convert`: a graph from one format into another."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import Any

from broadfront.cli import display, graphs
from broadfront.cli.where import size
from broadfront.clock import Clock
from broadfront.graph.csr import Graph
from broadfront.graph.external.convert import convert
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
    command.add_argument(
        "--memory-limit", type=size, metavar="BYTES",
        help="the most that the process may hold; what is larger is built on the disk, beside OUT, "
        "which is a .bfg file then; 512M or 4G will do",
    )  # fmt: skip
    graphs.add_reading(command)
    graphs.add_output(command)
    return command


def run(options: argparse.Namespace) -> None:
    """Read, write, and tell both."""
    if options.memory_limit is None:
        save(graphs.read_graph(options), options)
        return
    clock = Clock()
    with display.showing_progress(options):
        graph = convert(
            options.graph, options.out, memory_limit=options.memory_limit,
            **graphs.reading(options),
        )  # fmt: skip
    tell_built(graph, options, clock.seconds)


def tell_built(graph: Graph, options: argparse.Namespace, seconds: float) -> None:
    """Tell what was built on the disk, of which nothing is in memory."""
    nbytes = os.path.getsize(options.out)
    if options.json:
        facts = {name: getattr(graph, name) for name in (
            "num_vertices", "num_edges", "directed", "weighted"
        )}  # fmt: skip
        written = {"path": options.out, "bytes": nbytes, "seconds": seconds}
        display.print_json({**facts, "origin": asdict(graph.origin), "written": written})
        return
    display.print_facts(
        {
            "graph": graph.origin.name,
            "vertices": f"{graph.num_vertices:,}",
            "edges": f"{graph.num_edges:,} ({graph.num_self_loops:,} self-loops)",
            "directed": "yes" if graph.directed else "no",
            "read": display.read_line(graph.origin),
            "written": f"{options.out}, {size_text(nbytes)}, {seconds:.3f} s",
        }
    )


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
