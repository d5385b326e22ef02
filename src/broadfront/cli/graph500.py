"""`broadfront graph500`: the Graph500 benchmark here, and its implementations compared."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from broadfront import threads
from broadfront.cli import display, graphs, where
from broadfront.clock import Allowance
from broadfront.devices.choose import PYTHON, choose
from broadfront.errors import OptionError, require
from broadfront.graph500.compare import Comparison, compare
from broadfront.graph500.flow import Benchmark, Settings
from broadfront.graph500.implementations import IMPLEMENTATIONS, OWN, Implementation, implementation
from broadfront.graph500.results import KERNELS

SCALE, SCALES, ROOTS, ROOTS_COMPARED = 16, (10, 12, 14, 16), 64, 8
PICTURES = (".png", ".svg", ".pdf")
OUT_OF_CORE = "out-of-core"
OWNERS = {"devices": OWN, "memory_limit": OWN, "block_memory": OUT_OF_CORE}
"""Options of one implementation."""


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "graph500",
        help="run the Graph500 benchmark",
        description="Generate a Kronecker graph, build it (kernel 1), search it from 64 roots "
        "(kernel 2), find shortest paths from them (kernel 3), validate every answer by the rules "
        "of the benchmark, and print the official block. Ctrl-C shows what has been measured.",
        epilog="example: broadfront graph500 --scale 20, or with --compare --plot teps.png",
    )
    command.add_argument(
        "--scale", type=int, default=SCALE, metavar="S", help=f"2^S vertices; by default {SCALE}"
    )
    command.add_argument(
        "--edgefactor", type=int, default=16, metavar="N", help="edges per vertex; by default 16"
    )
    command.add_argument(
        "--roots", type=int, metavar="N",
        help=f"by default {ROOTS}, or {ROOTS_COMPARED} with --compare",
    )  # fmt: skip
    command.add_argument("--seed", type=int, default=0, help="draws edges and roots; by default 0")
    command.add_argument(
        "--kernels", nargs="+", metavar="NAME",
        help=f"of {' '.join(KERNELS)}; by default those that the implementation has",
    )  # fmt: skip
    command.add_argument(
        "--no-validate", action="store_true", help="do not check the answers: not a valid result"
    )
    ways = command.add_argument_group("ways to run")
    ways.add_argument(
        "--implementation", default=OWN, metavar="NAME",
        help=f"of {' '.join(IMPLEMENTATIONS)}; by default {OWN}",
    )  # fmt: skip
    ways.add_argument("--threads", type=int, metavar="N", help="of all, or of each device")
    where.add_devices(ways)
    ways.add_argument(
        "--block-memory", type=where.size, metavar="BYTES",
        help=f"of {OUT_OF_CORE}: what a block of edges may take; by default 64M",
    )  # fmt: skip
    ways.add_argument(
        "--memory-limit", type=where.size, metavar="BYTES",
        help=f"of {OWN}: keep edges, graph and index on the disk (in TMPDIR), and so much of them "
        "in memory",
    )  # fmt: skip
    ways.add_argument("--time-limit", type=float, metavar="SECONDS", help="stop after this")
    comparison = command.add_argument_group("comparison")
    comparison.add_argument(
        "--compare", action="store_true", help="run all implementations over several scales"
    )
    comparison.add_argument(
        "--scales", nargs="+", type=int, default=SCALES, metavar="S",
        help=f"by default {' '.join(map(str, SCALES))}",
    )  # fmt: skip
    comparison.add_argument(
        "--plot", metavar="FILE", help=f"draw it: {' '.join(PICTURES)} (extra: plots)"
    )
    graphs.add_output(command)
    return command


def run(options: argparse.Namespace) -> None:
    """Run it or compare; after Ctrl-C or an error show what was measured so far."""
    if options.plot:
        if not options.compare:
            raise OptionError("--plot goes with --compare")
        if Path(options.plot).suffix.lower() not in PICTURES:
            known = " ".join(PICTURES)
            raise OptionError(f"--plot {options.plot}: expected a name that ends in {known}")
        require("matplotlib", "plots")
    limited = nullcontext() if options.threads is None else threads.limit(options.threads)
    with Allowance(options.time_limit), limited:
        if options.compare:
            _compare(options)
        else:
            _run_one(options)


def _run_one(options: argparse.Namespace) -> None:
    chosen = _chosen(options.implementation, options)
    kernels = options.kernels or [
        name for name in KERNELS if name == "bfs" or chosen.find_paths is not None
    ]
    settings = _settings(options, ROOTS, tuple(dict.fromkeys(kernels)))
    benchmark = Benchmark(settings, chosen, display.teller(options), _devices(options))
    try:
        benchmark.run()
    finally:
        if any(benchmark.outcome.searches.values()):
            if options.json:
                display.print_json(benchmark.outcome.to_plain())
            else:
                display.print_lines(benchmark.outcome.block())


def _compare(options: argparse.Namespace) -> None:
    every = [_chosen(name, options) for name in IMPLEMENTATIONS]
    settings = _settings(options, ROOTS_COMPARED, ("bfs",))
    found = Comparison()
    try:
        compare(settings, options.scales, every, display.teller(options), found)
    finally:
        if found.rows:
            if options.json:
                display.print_json(found.to_plain())
            else:
                display.print_lines(found.table())
            if options.plot:
                found.plot(Path(options.plot))


def _settings(options: argparse.Namespace, usual_roots: int, kernels: tuple[str, ...]) -> Settings:
    roots = usual_roots if options.roots is None else options.roots
    return Settings(
        options.scale, options.edgefactor, roots, options.seed, kernels, not options.no_validate,
        options.memory_limit,
    )  # fmt: skip


def _chosen(name: str, options: argparse.Namespace) -> Implementation:
    """Return an implementation with the options that are for it."""
    mine = {}
    for option, owner in OWNERS.items():
        given = getattr(options, option)
        if given is not None and name == owner:
            mine[option] = given
        elif given is not None and not options.compare:
            flag = option.replace("_", "-")
            raise OptionError(f"--{flag} is for --implementation {owner}, not for {name}")
    if "devices" in mine:
        mine["threads"] = options.threads
    return implementation(name, **mine)


def _devices(options: argparse.Namespace) -> int:
    return 1 if options.devices == PYTHON else len(choose(options.devices, options.threads))
