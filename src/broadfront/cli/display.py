"""What a person sees: a progress line while it lasts, then facts in aligned lines."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import clock, progress
from broadfront.graph.csr import Graph
from broadfront.graph.origin import Origin
from broadfront.sizes import size_text

BAR_WIDTH = 40


@contextmanager
def showing_progress(options: argparse.Namespace) -> Iterator[None]:
    """Show progress on standard error where that is a terminal."""
    if options.json or options.quiet or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description:<40}"), BarColumn(), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    with bar:
        task = bar.add_task("starting", total=None)

        def listen(stage: str, done: int, total: int) -> None:
            bar.update(task, description=stage, completed=done, total=total)

        def compiling(begins: bool) -> None:
            if begins:
                bar.update(task, description="compiling kernels (first use only)", total=None)

        with clock.watching(compiling), progress.listening(listen):
            yield


def hear_nothing(compiling: bool) -> None:
    """Watch compiling without a word: the command line says what it says in its progress."""


def teller(options: argparse.Namespace) -> Callable[[str], None]:
    """Return what tells a line about long work, unless it is to be quiet."""
    return say_nothing if options.quiet else say


def say(line: str) -> None:
    """Print a line about the work on standard error."""
    if sys.stderr is not None:
        print(f"broadfront: {line}", file=sys.stderr, flush=True)  # noqa: T201


def say_nothing(line: str) -> None:
    """Keep a line to oneself."""


def facts_of(graph: Graph) -> dict[str, Any]:
    """Return everything `info` tells, as plain values."""
    return {**graph.describe(), "origin": asdict(graph.origin)}


def print_json(facts: Mapping[str, Any]) -> None:
    """Print one JSON object on one line; what JSON has no number for becomes text."""
    print(json.dumps(_finite(facts), allow_nan=False))  # noqa: T201


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print names and values in two aligned columns."""
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value}")  # noqa: T201


def print_lines(lines: Sequence[str]) -> None:
    """Print lines as they are."""
    print("\n".join(lines))  # noqa: T201


def print_heading(text: str) -> None:
    """Print a line of its own below an empty one."""
    print(f"\n{text}")  # noqa: T201


def graph_lines(graph: Graph) -> dict[str, str]:
    """Return what a person wants to know of a graph, a line each."""
    facts = graph.describe()
    origin = graph.origin
    lines = {
        "graph": origin.name,
        "vertices": f"{graph.num_vertices:,} ({facts['isolated']:,} isolated)",
        "edges": f"{graph.num_edges:,} ({facts['self_loops']:,} self-loops)",
        "directed": "yes" if graph.directed else "no",
        "weights": "none",
        "degree": f"min {facts['degree_min']:,}, mean {facts['degree_mean']:.2f}, "
        f"max {facts['degree_max']:,}",
        "labels": str(facts["labels"]),
        "memory": size_text(graph.nbytes),
        "read": read_line(origin),
        "time": f"{origin.seconds:.3f} s",
    }
    if "weight_min" in facts:
        lines["weights"] = f"{facts['weights']}, {facts['weight_min']} to {facts['weight_max']}"
    elif facts["weights"]:
        lines["weights"] = str(facts["weights"])
    if origin.compile_seconds:
        lines["time"] += f", and {origin.compile_seconds:.1f} s compiling (first use only)"
    return lines


def read_line(origin: Origin) -> str:
    """Return what was read and merged, as a person wants to know it."""
    dropped = " dropped" if origin.self_loops_dropped else ""
    return (
        f"{origin.edges_read:,} edges, {origin.duplicates:,} duplicates merged, "
        f"{origin.self_loops:,} self-loops{dropped}"
    )


def _block() -> str:
    """Return what bars are made of: a full block, where the output has one."""
    try:
        "█".encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return "#"
    return "█"


def degree_bars(degrees: NDArray[Any]) -> dict[str, str]:
    """Return how many vertices have each degree, by powers of two, as bars of a logarithm."""
    classes = np.zeros(len(degrees), np.int64)
    positive = degrees > 0
    classes[positive] = 1 + np.floor(np.log2(degrees[positive])).astype(np.int64)
    counts = np.bincount(classes)
    longest = max(1.0, float(np.log1p(counts.max(initial=0))))
    bars = {}
    block = _block()
    for power, count in enumerate(counts.tolist()):
        low, high = (0, 0) if power == 0 else (2 ** (power - 1), 2**power - 1)
        name = f"{low:,}" if low == high else f"{low:,}-{high:,}"
        bars[name] = (
            f"{block * round(BAR_WIDTH * np.log1p(count) / longest):<{BAR_WIDTH}} {count:,}"
        )
    return bars
