"""The options every subcommand that reads a graph shares, and reading by them."""

from __future__ import annotations

import argparse
from typing import Any

from broadfront.cli.display import showing_progress
from broadfront.cli.where import size
from broadfront.graph.csr import Graph
from broadfront.graph.read import read


def add_reading(command: argparse.ArgumentParser) -> None:
    """Add the options that say how to read a graph."""
    group = command.add_argument_group("reading")
    direction = group.add_mutually_exclusive_group()
    direction.add_argument(
        "--directed", action="store_true", default=None, help="edges have a direction"
    )
    direction.add_argument(
        "--undirected", dest="directed", action="store_false", help="edges go both ways"
    )
    group.add_argument("--simple", action="store_true", default=None, help="drop self-loops")
    group.add_argument(
        "--columns",
        type=_columns,
        metavar="S,T[,W]",
        help="columns of source, target and weight in an edge list or table, "
        "by name or by position from 0",
    )
    group.add_argument(
        "--vertices", type=int, metavar="N", help="the vertices are 0..N-1, isolated ones included"
    )
    group.add_argument(
        "--ids", choices=("integer", "string"), help="what the ids of an edge list are"
    )
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether the first line of an edge list names its columns",
    )
    group.add_argument(
        "--map",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="map a plain file to memory, or copy it, for files that others may change",
    )
    group.add_argument(
        "--unpack-limit",
        type=size,
        metavar="BYTES",
        help="that a packed file may unpack to; 4G will do; "
        "by default 1G, or 100 times the file where that is more",
    )


def add_output(command: argparse.ArgumentParser) -> None:
    """Add the options that say how to answer."""
    command.add_argument("--json", action="store_true", help="answer as one JSON object")
    command.add_argument("--quiet", action="store_true", help="show no progress")


def read_graph(options: argparse.Namespace) -> Graph:
    """Read the graph that the command line names."""
    with showing_progress(options):
        return read(options.graph, **reading(options))


def reading(options: argparse.Namespace) -> dict[str, Any]:
    """Return how the command line says to read."""
    return {
        "directed": options.directed,
        "simple": options.simple,
        "columns": options.columns,
        "num_vertices": options.vertices,
        "ids": options.ids,
        "header": options.header,
        "map": options.map,
        "unpack_limit": options.unpack_limit,
    }


def _columns(text: str) -> tuple[int | str, ...]:
    names = text.split(",")
    if len(names) not in (2, 3) or not all(names):
        raise argparse.ArgumentTypeError(f"{text!r}: expected two or three columns, as in 2,4")
    return tuple(int(name) if name.isdecimal() else name for name in names)
