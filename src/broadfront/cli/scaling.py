"""`broadfront scaling`: how primitives scale over devices, on this machine."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from broadfront.cli import display
from broadfront.errors import OptionError, VerificationError, require
from broadfront.scaling import Findings, Settings, Study, load
from broadfront.scaling.families import FAMILIES
from broadfront.scaling.plan import PRIMITIVES, SCHEMES, STUDIES

SUFFIX = ".json"


def add(commands: Any) -> argparse.ArgumentParser:
    """Add the subcommand."""
    command: argparse.ArgumentParser = commands.add_parser(
        "scaling",
        help="study how primitives scale over devices",
        description="Measure strong and weak scaling, and compare partitioners, ids and memory "
        "schemes, as the multi-GPU paper of Gunrock does. Each answer is checked against that of "
        "one device; Ctrl-C shows what has been measured.",
        epilog="example: broadfront scaling --quick --save here.json --plots pictures",
    )
    command.add_argument(
        "--studies", nargs="+", default=STUDIES, metavar="NAME",
        help=f"of {' '.join(STUDIES)}; by default all",
    )  # fmt: skip
    command.add_argument(
        "--primitives", nargs="+", default=PRIMITIVES, metavar="NAME",
        help=f"of {' '.join(PRIMITIVES)}; by default all",
    )  # fmt: skip
    graphs = command.add_argument_group("graphs")
    graphs.add_argument(
        "--families", nargs="+", metavar="NAME",
        help=f"of {' '.join(FAMILIES)}; by default all, or with --graphs none",
    )  # fmt: skip
    graphs.add_argument(
        "--graphs", nargs="+", default=(), metavar="FAMILY=GRAPH",
        help="files or generated graphs, as in road=NY.gr.gz",
    )  # fmt: skip
    graphs.add_argument(
        "--data", metavar="FOLDER", help="where to look for files of soc, web and road"
    )
    graphs.add_argument("--quick", action="store_true", help="small graphs: a minute or two")
    ways = command.add_argument_group("ways to run")
    ways.add_argument(
        "--devices", nargs="+", type=int, metavar="N", help="by default 1 2 4 8; 1 is always there"
    )
    ways.add_argument(
        "--threads", type=int, default=1, metavar="N", help="of each device; by default 1"
    )
    ways.add_argument(
        "--compared-on", type=int, metavar="N",
        help="devices on which partitioners, ids and schemes are compared; by default 4",
    )  # fmt: skip
    ways.add_argument("--partitioners", nargs="+", metavar="NAME", help="by default all")
    ways.add_argument(
        "--schemes", nargs="+", metavar="NAME", help=f"of memory: {' '.join(SCHEMES)}"
    )
    ways.add_argument("--repeats", type=int, default=5, metavar="N", help="by default 5")
    ways.add_argument(
        "--limit-seconds", type=float, default=20.0, metavar="SECONDS",
        help="a primitive in a study is not repeated again after so long; by default 20",
    )  # fmt: skip
    ways.add_argument("--seed", type=int, default=0, help="draws the sources; by default 0")
    output = command.add_argument_group("results")
    output.add_argument("--save", metavar="FILE.json", help="keep them, and beside it as .csv")
    output.add_argument("--plots", metavar="FOLDER", help="draw them (extra: plots)")
    output.add_argument(
        "--from", dest="source", metavar="FILE.json", help="measure nothing, show what was saved"
    )
    output.add_argument("--quiet", action="store_true", help="show no progress")
    return command


def run(options: argparse.Namespace) -> None:
    """Measure or load, and show; after Ctrl-C or an error what was measured so far."""
    if options.save and Path(options.save).suffix.lower() != SUFFIX:
        raise OptionError(f"--save {options.save}: expected a name that ends in {SUFFIX}")
    if options.plots:
        require("matplotlib", "plots")
    if options.source:
        show(load(options.source), options)
        return
    study = Study(settings(options), display.teller(options))
    try:
        study.run()
    except BaseException:
        if study.findings.rows:
            show(study.findings, options)
        raise
    show(study.findings, options)
    for row in study.findings.rows:
        if row.status == "wrong":
            raise VerificationError(f"{row.primitive} on {row.graph}, {row.variant}", row.note)


def settings(options: argparse.Namespace) -> Settings:
    """Return what the options ask for."""
    asked: dict[str, Any] = {name: getattr(options, name) for name in vars(Settings())}
    if options.partitioners is None:
        del asked["partitioners"]
    if options.schemes is not None:
        for name in options.schemes:
            if name not in SCHEMES:
                raise OptionError(f"--schemes {name}: unknown; known: {' '.join(SCHEMES)}")
        asked["schemes"] = {name: SCHEMES[name] for name in options.schemes}
    return Settings(**asked)


def show(findings: Findings, options: argparse.Namespace) -> None:
    """Print the tables; keep and draw if asked to."""
    display.print_lines(findings.table().splitlines())
    if options.save:
        findings.save(options.save)
        findings.save(Path(options.save).with_suffix(".csv"))
    if options.plots:
        pictures = findings.plot(options.plots)
        display.print_lines([f"drawn: {', '.join(path.name for path in pictures) or 'nothing'}"])
