"""`broadfront bench`: Broadfront beside its peers, on the same graphs."""

from __future__ import annotations

import argparse
import json
from typing import Any

from broadfront import threads
from broadfront.benchmark import table
from broadfront.benchmark.cases import DEFAULT_GRAPHS
from broadfront.benchmark.measure import Bench, Settings
from broadfront.benchmark.results import HOME, Report
from broadfront.benchmark.systems import ENTRIES
from broadfront.benchmark.systems.system import PRIMITIVES
from broadfront.cli import display
from broadfront.errors import VerificationError
from broadfront.graph import files


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "bench",
        help="compare it with other libraries, on this machine",
        description="Time and verify the primitives of Broadfront and of every installed peer on "
        "the same graphs from the same sources.",
        epilog="example: broadfront bench --graphs kron:16 roads.gr.gz --primitives bfs sssp",
    )
    command.add_argument(
        "--primitives", nargs="+", default=list(PRIMITIVES), metavar="NAME",
        help=f"of {' '.join(PRIMITIVES)}; by default all",
    )  # fmt: skip
    command.add_argument(
        "--graphs", nargs="+", default=list(DEFAULT_GRAPHS), metavar="GRAPH",
        help=f"files or generated graphs, small ones first; by default {' '.join(DEFAULT_GRAPHS)}",
    )  # fmt: skip
    command.add_argument(
        "--systems", nargs="+", metavar="NAME",
        help=f"of {' '.join(ENTRIES)}; by default all that are installed",
    )  # fmt: skip
    command.add_argument("--repeats", type=int, default=5, metavar="N", help="by default 5")
    command.add_argument("--threads", type=int, metavar="N", help="by default the cores there are")
    command.add_argument(
        "--limit-seconds", type=float, default=60.0, metavar="SECONDS",
        help="what a peer may take for a primitive on a graph, repeats included; by default 60",
    )  # fmt: skip
    command.add_argument("--seed", type=int, default=0, help="draws the sources; by default 0")
    command.add_argument("--no-verify", action="store_true", help="do not check the answers")
    command.add_argument("--json", metavar="FILE", help="write everything measured as JSON")
    command.add_argument("--quiet", action="store_true", help="show no progress")
    return command


def run(options: argparse.Namespace) -> None:
    """Run, and print the tables; after Ctrl-C or an error those of what was measured so far."""
    settings = Settings(
        primitives=tuple(dict.fromkeys(options.primitives)),
        graphs=tuple(dict.fromkeys(options.graphs)),
        systems=None if options.systems is None else tuple(options.systems),
        repeats=options.repeats,
        threads=threads.count() if options.threads is None else options.threads,
        limit_seconds=options.limit_seconds,
        verify=not options.no_verify,
        seed=options.seed,
    )
    bench = Bench(settings, display.teller(options))
    try:
        bench.run()
    except BaseException:
        if bench.report.results:
            tell(bench.report, options.json)
        raise
    tell(bench.report, options.json)
    for result in bench.report.results:
        if result.system == HOME and result.status == "wrong":
            raise VerificationError(f"{result.primitive} on {result.graph}", result.note)


def tell(report: Report, path: str | None) -> None:
    """Print the tables, and write the JSON if asked to."""
    display.print_lines(table.lines(report))
    if path:
        with files.written(path) as stream:
            stream.write(json.dumps(report.to_plain(), indent=1).encode())
