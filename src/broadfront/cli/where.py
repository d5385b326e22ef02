"""Where a primitive runs: `--devices`, `--partitioner`, `--execution`, `--memory` and the like."""

from __future__ import annotations

import argparse
import re
from typing import Any

from broadfront.devices.choose import PYTHON
from broadfront.graph.csr import Graph
from broadfront.partition.partition import Partition
from broadfront.partition.split import PARTITIONERS
from broadfront.sizes import bytes_in


def add_devices(command: argparse._ActionsContainer) -> None:
    """Add the option that names devices."""
    command.add_argument(
        "--devices", type=devices, metavar="N",
        help="a number of devices, names as in cpu*2,cpu, or python; see: broadfront devices",
    )  # fmt: skip


def add(command: argparse.ArgumentParser) -> None:
    """Add the options that say where something runs."""
    add_devices(command)
    command.add_argument(
        "--partitioner", metavar="NAME",
        help=f"how devices share the graph: {', '.join(PARTITIONERS)}, or a file that "
        "`broadfront partition --out` wrote",
    )  # fmt: skip
    command.add_argument(
        "--keep-ids", action="store_true", help="do not number the vertices of each device anew"
    )
    command.add_argument(
        "--execution",
        choices=("bsp", "async"),
        help="go from iteration to iteration together, or each by itself",
    )
    command.add_argument(
        "--memory", metavar="HOW",
        help="what queues and boxes begin with: minimal, fixed (all that may be needed, without "
        "checks), or a file that --save-memory wrote",
    )  # fmt: skip
    command.add_argument(
        "--save-memory",
        metavar="FILE",
        help="write what was needed, for --memory in runs like this",
    )
    command.add_argument(
        "--memory-limit", type=size, metavar="BYTES", help="for each device; 512M or 4G will do"
    )


def chosen(graph: Graph, options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a run that the command line has given."""
    settings: dict[str, Any] = {
        "devices": options.devices, "memory": options.memory, "memory_limit": options.memory_limit,
        "execution": options.execution,
    }  # fmt: skip
    by = options.partitioner
    if by is not None:
        settings["partitioner"] = Partition.load(by, graph) if by.endswith(".npz") else by
    if options.keep_ids:
        settings["relabel"] = False
    return settings


def devices(text: str) -> int | str | list[str]:
    """Return a number of devices, or their names."""
    if text == PYTHON:
        return text
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else text.split(",")


def size(text: str) -> int:
    """Return a number of bytes."""
    told = bytes_in(text)
    if told is None:
        raise argparse.ArgumentTypeError(f"{text!r}: expected bytes, as in 4000000, 512M or 4G")
    return told
