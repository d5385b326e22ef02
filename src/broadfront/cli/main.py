"""`broadfront`: the command, its subcommands and its exit codes.

Exit codes: 0 done, 1 something is wrong with the input or the machine (one line on standard error),
2 the command was misspelt, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from broadfront import clock
from broadfront.cli import (
    bench,
    cache,
    characterize,
    compare,
    convert,
    devices,
    display,
    generate,
    graph500,
    info,
    partition,
    scaling,
)
from broadfront.cli.primitives import PRIMITIVES
from broadfront.errors import BroadfrontError

SUBCOMMANDS = (
    info,
    convert,
    generate,
    partition,
    devices,
    *PRIMITIVES,
    compare,
    bench,
    scaling,
    graph500,
    characterize,
    cache,
)

EPILOG = """\
A GRAPH is a file or a generated graph:
  roads.gr.gz  web.mtx  follows.csv  table.parquet  graph.bfg     by suffix, also .gz .xz .zst
  kron:20  uniform:20:16  grid:1000x1000  rgg:18:weights=1-63     see: broadfront generate --help

examples:
  broadfront info kron:16
  broadfront bfs kron:20 --verify
  broadfront bfs kron:20 --devices 2 --trace bfs.perfetto.json
  broadfront sssp roads.gr.gz --source 1 --out distances.parquet
  broadfront info routes.dat --columns 2,4
  broadfront convert roads.gr.gz roads.bfg
  broadfront partition roads.bfg -n 4 --by metis
  broadfront generate rgg:18:weights=1-63 rgg.bfg
  broadfront compare roads.bfg sssp --devices 4
  broadfront bench --graphs kron:16 grid:1000x1000
  broadfront scaling --quick --plots pictures
  broadfront graph500 --scale 20
  broadfront characterize kron:14 roads.gr.gz --html page.html
"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    from broadfront import __version__

    top = argparse.ArgumentParser(
        prog="broadfront",
        description="Graph analytics on many devices.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"broadfront {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    for subcommand in SUBCOMMANDS:
        subcommand.add(commands).set_defaults(run=subcommand.run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = parser().parse_args(arguments)
    if arguments is None:
        _spare_blas()
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        with clock.watching(display.hear_nothing):
            options.run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("broadfront: stopped", file=sys.stderr)  # noqa: T201
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (BroadfrontError, OSError, MemoryError) as error:
        print(f"broadfront: error: {_one_line(error)}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def _spare_blas() -> None:
    """Keep Numba from loading SciPy's linear algebra in this process, a fifth of a short command.

    Numba looks for it once, when it first compiles or loads, and does without `dot` where it is
    missing. Kernels never need it; a program of which this is only a part may, and is left alone.
    """
    name = "scipy.linalg.cython_blas"
    if name not in sys.modules and "numba.np.arraymath" not in sys.modules:
        sys.modules[name] = None  # type: ignore[assignment]
        try:
            import_module("numba.np.arraymath")
        finally:
            del sys.modules[name]


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and not isinstance(error, BroadfrontError) and error.filename:
        return f"{error.filename}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return f"out of memory: {error}" if str(error) else "out of memory"
    return " ".join(str(error).split())
