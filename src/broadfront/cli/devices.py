"""`broadfront devices`: which devices there are here."""

from __future__ import annotations

import argparse
from typing import Any

from broadfront.cli import display
from broadfront.devices.choose import present


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "devices", help="list the devices there are", description="List the devices there are."
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    return command


def run(options: argparse.Namespace) -> None:
    """Tell what there is, and how a run asks for it."""
    rows = present()
    if options.json:
        display.print_json({"devices": rows})
        return
    display.print_lines(
        [
            f"{row['name']:<6} {row['threads']} threads, {row['about']}" for row in rows
        ]
        + ["       --devices 4        four of it, which share its threads",
           "       --devices cpu*2,cpu*1  two, with two threads and with one"]
    )  # fmt: skip
