"""`broadfront bfs`, `sssp`, `components`, `pagerank`, `betweenness`, `triangles`: run, tell, keep.

A primitive is a row of `PRIMITIVES`: its name, what it does, the options of its own, and the call.
All of them read a graph alike, answer alike, and can verify, write and trace their answer.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from broadfront.algorithms.betweenness import betweenness
from broadfront.algorithms.bfs import bfs
from broadfront.algorithms.components import METHODS, connected_components
from broadfront.algorithms.pagerank import pagerank
from broadfront.algorithms.sssp import sssp
from broadfront.algorithms.triangles import triangles
from broadfront.cli import display, graphs, trace, where
from broadfront.clock import Clock
from broadfront.errors import OptionError
from broadfront.graph import files
from broadfront.graph.csr import Graph
from broadfront.report.result import Result

Options = argparse.Namespace


@dataclass(frozen=True)
class Primitive:
    """A subcommand that runs one primitive."""

    name: str
    about: str
    options: Callable[[argparse.ArgumentParser], None]
    call: Callable[[Graph, Options, dict[str, Any]], Result]

    def add(self, commands: Any) -> argparse.ArgumentParser:
        """Add the subcommand."""
        command: argparse.ArgumentParser = commands.add_parser(
            self.name, help=self.about, description=f"Read or generate a graph and {self.about}."
        )
        command.add_argument("graph", metavar="GRAPH", help="a file, or a generated graph")
        self.options(command)
        command.add_argument("--threads", type=int, metavar="N", help="by default all that pay")
        where.add(command)
        command.add_argument("--time-limit", type=float, metavar="SECONDS", help="stop after this")
        command.add_argument("--verify", action="store_true", help="check the answer")
        command.add_argument(
            "--checked", action="store_true", help="check every index, which is slow"
        )
        command.add_argument(
            "--out", metavar="FILE", help="write a row per vertex: .parquet, .csv or .npy"
        )
        trace.add(command)
        graphs.add_reading(command)
        graphs.add_output(command)
        return command

    def run(self, options: Options) -> None:
        """Read, run, verify, write, tell."""
        graph = graphs.read_graph(options)
        with display.showing_progress(options):
            settings = {
                "threads": options.threads, "time_limit": options.time_limit,
                "checked": options.checked,
            }  # fmt: skip
            result = self.call(graph, options, {**settings, **where.chosen(graph, options)})
        checked = None
        if options.verify:
            clock = Clock()
            result.verify()
            checked = clock.seconds
        if options.out:
            write(result, options.out)
        if options.save_memory:
            result.report.memory_profile().save(options.save_memory)
        if options.trace:
            trace.write(result, options.trace, options.trace_format)
        tell(self.name, result, checked, options)


def tell(name: str, result: Result, checked: float | None, options: Options) -> None:
    """Print the summary, for a person or a machine."""
    if options.json:
        facts = {
            "primitive": name, "summary": result.summary(), **result.totals(),
            "verified": checked is not None, "graph": display.facts_of(result.graph),
        }  # fmt: skip
        display.print_json(facts)
        return
    origin = result.graph.origin
    lines = [repr(result), f"  {origin.name} took {origin.seconds:.2f} s to load"]
    if checked is not None:
        lines.append(f"  verified in {checked:.2f} s")
    if options.out:
        lines.append(f"  written to {options.out}")
    display.print_lines(lines)


def write(result: Result, path: str) -> None:
    """Write a row per vertex, in the format that the suffix names."""
    suffix = files.suffixes(path)[0]
    if suffix not in (".csv", ".parquet", ".npy"):
        raise OptionError(f"{path}: unknown suffix {suffix!r}; known: .parquet .csv .npy")
    with files.written(path) as stream:
        if suffix == ".npy":
            np.save(stream, next(iter(result.labelled_columns().values())))
        elif suffix == ".csv":
            stream.write(result.to_pandas().to_csv(index=False).encode())
        else:
            result.to_pandas().to_parquet(stream, index=False)


# ---------------------------------------------------------------------- the six


def _no_options(command: argparse.ArgumentParser) -> None:
    pass


def _source_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--source", action="append", metavar="VERTEX",
        help="where to start; several give the nearest; by default the vertex of largest degree",
    )  # fmt: skip
    command.add_argument(
        "--each", action="store_true", help="search from each source by itself, not the nearest"
    )
    command.add_argument("--target", metavar="VERTEX", help="stop when this vertex is reached")


def _sssp_options(command: argparse.ArgumentParser) -> None:
    _source_options(command)
    command.add_argument("--parents", action="store_true", help="find the tree of paths too")


def _components_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--method", choices=METHODS, default=METHODS[0], help="the quick one, or the simple one"
    )


def _pagerank_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--damping", type=float, default=0.85, metavar="SHARE")
    command.add_argument("--tol", type=float, default=1e-6, help="stop below this total change")
    command.add_argument(
        "--max-iterations", type=int, metavar="N", help="by default 100, or enough for --tol"
    )
    command.add_argument("--weighted", action="store_true", help="follow edges by their weights")


def _betweenness_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--sources", type=int, metavar="K", help="a random sample of so many")
    command.add_argument("--raw", action="store_true", help="do not normalise")
    command.add_argument("--weighted", action="store_true", help="paths are shortest by weight")


def _named(graph: Graph, name: str) -> Any:
    """Return a vertex' label as the graph has it: an integer or a string."""
    if graph.labels.dtype.kind in "iu" and name.lstrip("-").isdecimal():
        return int(name)
    return name


def _search(graph: Graph, options: Options) -> dict[str, Any]:
    """Return where a search starts and ends."""
    if options.source:
        source: Any = [_named(graph, name) for name in options.source]
    elif graph.num_vertices == 0:
        raise OptionError("the graph has no vertex to start from")
    else:
        source = graph.labels_of([np.argmax(graph.degrees)])[0]
    target = None if options.target is None else _named(graph, options.target)
    return {"source": source, "each": options.each, "target": target}


def _bfs(graph: Graph, options: Options, settings: dict[str, Any]) -> Result:
    return bfs(graph, **_search(graph, options), **settings)


def _sssp(graph: Graph, options: Options, settings: dict[str, Any]) -> Result:
    return sssp(graph, **_search(graph, options), parents=options.parents, **settings)


def _components(graph: Graph, options: Options, settings: dict[str, Any]) -> Result:
    return connected_components(graph, method=options.method, **settings)


def _pagerank(graph: Graph, options: Options, settings: dict[str, Any]) -> Result:
    return pagerank(
        graph, options.damping, options.tol, options.max_iterations, weighted=options.weighted,
        **settings,
    )  # fmt: skip


def _betweenness(graph: Graph, options: Options, settings: dict[str, Any]) -> Result:
    return betweenness(graph, options.sources, not options.raw, options.weighted, **settings)


def _triangles(graph: Graph, options: Options, settings: dict[str, Any]) -> Result:
    return triangles(graph, **settings)


PRIMITIVES = (
    Primitive("bfs", "search it breadth-first", _source_options, _bfs),
    Primitive("sssp", "find shortest paths by weight", _sssp_options, _sssp),
    Primitive("components", "find its connected components", _components_options, _components),
    Primitive("pagerank", "rank its vertices", _pagerank_options, _pagerank),
    Primitive("betweenness", "find who is between", _betweenness_options, _betweenness),
    Primitive("triangles", "count its triangles", _no_options, _triangles),
)
