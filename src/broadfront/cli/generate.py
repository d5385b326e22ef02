"""`broadfront generate`: a graph from a few numbers and a seed, into a file."""

from __future__ import annotations

import argparse
from typing import Any

from broadfront.cli import convert, display, graphs
from broadfront.graph import generate as generators


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    forms = generators.known()
    width = max(map(len, forms.values()))
    about = generators.summaries()
    listing = "\n".join(f"  {form:<{width}}  {about[name]}" for name, form in forms.items())
    command: argparse.ArgumentParser = commands.add_parser(
        "generate",
        help="make a graph from a few numbers and a seed",
        description="Generate a graph, the same for any number of threads, and write it.",
        epilog=f"SPEC is one of\n{listing}\n\nand takes :weights=LOW-HIGH and :seed=N, as in "
        "rgg:18:weights=1-63:seed=7",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("spec", metavar="SPEC", help="as kron:20 or grid:1000x1000; see below")
    command.add_argument("out", metavar="OUT", help="the file to write, its suffix the format")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="another graph of a kind")
    command.add_argument("--simple", action="store_true", help="drop self-loops")
    graphs.add_output(command)
    return command


def run(options: argparse.Namespace) -> None:
    """Generate, write, and tell."""
    with display.showing_progress(options):
        graph = generators.generate(options.spec, seed=options.seed, simple=options.simple)
    convert.save(graph, options)
