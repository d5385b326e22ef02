"""`broadfront partition`: split a graph, and tell what the split costs."""

from __future__ import annotations

import argparse
from typing import Any

from broadfront.cli import display, graphs
from broadfront.partition.partition import Partition
from broadfront.partition.split import PARTITIONERS, split


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "partition",
        help="split a graph among devices, and tell what the split costs",
        description="Split a graph into parts and tell edges cut, balance and ghosts.",
        epilog="example: broadfront partition roads.gr.gz --parts 4 --by metis --out roads.npz",
    )
    command.add_argument("graph", metavar="GRAPH", help="a file, or a generated graph as kron:20")
    command.add_argument(
        "-n", "--parts", dest="count", type=int, required=True, metavar="N",
        help="the number of parts",
    )  # fmt: skip
    command.add_argument("--by", choices=tuple(PARTITIONERS), help="by default the graph decides")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="another choice")
    command.add_argument(
        "--speeds", type=_speeds, metavar="A,B,...", help="relative speeds of the devices, as 2,1,1"
    )
    command.add_argument(
        "--factor", type=float, default=1.0, metavar="SHARE",
        help="how far --by biased follows neighbours: 0 not at all, 1 always",
    )  # fmt: skip
    command.add_argument("--time-limit", type=float, metavar="SECONDS", help="stop after this")
    command.add_argument("--out", metavar="FILE", help="write the owners there (.npz)")
    graphs.add_reading(command)
    graphs.add_output(command)
    return command


def run(options: argparse.Namespace) -> None:
    """Split, measure, write and tell."""
    graph = graphs.read_graph(options)
    with display.showing_progress(options):
        partition = split(
            graph, options.count, options.by,
            seed=options.seed, speeds=options.speeds, factor=options.factor,
            time_limit=options.time_limit,
        )  # fmt: skip
        partition.quality()
        if options.out:
            partition.save(options.out)
    if options.json:
        display.print_json(facts_of(partition))
        return
    display.print_lines(repr(partition).splitlines())
    display.print_heading(_row("part", "vertices", "arcs", "cut", "ghosts"))
    quality = partition.quality()
    columns = (quality.vertices, quality.arcs, quality.arcs_cut, quality.ghosts)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    display.print_lines(
        [_row(str(part), *(f"{number:,}" for number in row)) for part, row in enumerate(rows)]
    )


def facts_of(partition: Partition) -> dict[str, Any]:
    """Return everything this tells, as plain values."""
    quality = partition.quality()
    return {
        "vertices": partition.graph.num_vertices,
        "edges": partition.graph.num_edges,
        "parts": partition.count,
        "by": partition.name,
        "seconds": partition.seconds,
        "edges_cut": quality.edges_cut,
        "fraction_cut": quality.fraction_cut,
        "vertex_balance": quality.vertex_balance,
        "edge_balance": quality.edge_balance,
        "replication": quality.replication,
        "part_vertices": quality.vertices.tolist(),
        "part_arcs": quality.arcs.tolist(),
        "part_arcs_cut": quality.arcs_cut.tolist(),
        "part_ghosts": quality.ghosts.tolist(),
    }


def _row(first: str, *others: str) -> str:
    return f"{first:<5}" + "".join(f"{other:>14}" for other in others)


def _speeds(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: expected numbers, as in 2,1,1") from error
