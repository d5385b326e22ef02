"""What a study found: a row for each set-up, as values that can be kept, shown and plotted."""

from __future__ import annotations

import csv
import io
import json
import statistics
from dataclasses import asdict, dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broadfront.errors import FormatError, OptionError, require
from broadfront.graph import files
from broadfront.report.machine import machine

if TYPE_CHECKING:
    import pandas

KIND = "broadfront scaling study"


@dataclass(frozen=True)
class Row:
    """A primitive on a graph in one set-up.

    Attributes
    ----------
    study, family, graph, vertices, edges, primitive
        What was asked.
    devices, threads, partitioner, ids, scheme
        Where: devices of so many threads each; ids ``relabelled`` or ``kept``; the memory scheme.
    status, note
        ``done``, ``wrong`` where the answer differs from that of one device, or ``failed``; why.
    edges_reached
        The edges that edges per second count: those of the component, over all sources or rounds.
    trials, first_seconds, compile_seconds, partition_seconds
        Seconds of each repeat; of the first call and compiling in it, which are apart; of deciding
        who owns what.
    iterations, edges_visited, redundancy, imbalance, bytes_sent, memory_bytes
        By the record of the first call: `redundancy` against one device, memory of all devices.
    frontier
        Its size in each of the first 8,192 iterations, of breadth-first search on one device in
        strong scaling.
    """

    study: str
    family: str
    graph: str
    vertices: int
    edges: int
    primitive: str
    devices: int
    threads: int
    partitioner: str = "random"
    ids: str = "relabelled"
    scheme: str = "default"
    status: str = "done"
    note: str = ""
    edges_reached: int = 0
    trials: tuple[float, ...] = ()
    first_seconds: float = 0.0
    compile_seconds: float = 0.0
    partition_seconds: float = 0.0
    iterations: int = 0
    edges_visited: int = 0
    redundancy: float = 1.0
    imbalance: float = 1.0
    bytes_sent: int = 0
    memory_bytes: int = 0
    frontier: tuple[int, ...] = ()

    @property
    def seconds(self) -> float | None:
        """The median of the trials, None unless done."""
        return statistics.median(self.trials) if self.status == "done" and self.trials else None

    @property
    def teps(self) -> float | None:
        """Traversed edges per second."""
        return None if self.seconds is None else self.edges_reached / max(self.seconds, 1e-9)

    @property
    def where(self) -> str:
        """Devices x threads."""
        return f"{self.devices}x{self.threads}"

    @property
    def variant(self) -> str:
        """What this row has of its own in its study."""
        names = {"partitioners": self.partitioner, "ids": self.ids, "memory": self.scheme}
        return names.get(self.study, self.where)


@dataclass
class Findings:
    """Everything that was measured, in the order of measuring.

    Attributes
    ----------
    settings
        As asked for.
    notes
        What the reader must know of what is not there.
    rows
        A `Row` for each set-up.
    stopped
        Whether Ctrl-C ended it.
    machine
        What it ran on.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    stopped: bool = False
    machine: dict[str, Any] = field(default_factory=machine)

    def flat(self) -> list[dict[str, Any]]:
        """Return the rows with all numbers that follow from them, as plain values."""
        from broadfront.scaling.relative import against_base

        relations = against_base(self.rows)
        left_out = ("trials", "frontier")
        return [
            {name: value for name, value in asdict(row).items() if name not in left_out}
            | {"repeats": len(row.trials), "seconds": row.seconds, "teps": row.teps}
            | (asdict(relations[row]) if row in relations else {})
            for row in self.rows
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per set-up, relative numbers included."""
        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame(self.flat())

    def table(self) -> str:
        """Return the tables as text."""
        from broadfront.scaling.tables import lines

        return "\n".join(lines(self))

    def plot(self, folder: str | PathLike[str]) -> list[Path]:
        """Draw what there is to draw into a folder, a picture each, and return their paths."""
        from broadfront.scaling.plots import draw

        return draw(self, folder)

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything as ``.json``, which `load` reads, or the rows as ``.csv``."""
        suffix = Path(path).suffix.lower()
        if suffix not in (".json", ".csv"):
            raise OptionError(f"--save {path}: expected a name that ends in .json or .csv")
        text = self._json() if suffix == ".json" else self._csv()
        with files.written(path) as stream:
            stream.write(text.encode())

    def _json(self) -> str:
        return json.dumps({"kind": KIND, **asdict(self)}, indent=1)

    def _csv(self) -> str:
        told = self.flat()
        names = list(dict.fromkeys(name for row in told for name in row))
        text = io.StringIO()
        table = csv.DictWriter(text, names, lineterminator="\n")
        table.writeheader()
        table.writerows(told)
        return text.getvalue()


def load(path: str | PathLike[str]) -> Findings:
    """Read what `Findings.save` wrote as JSON.

    Raises
    ------
    FormatError
        The file holds something else.
    """
    files.expect_path(path)
    try:
        told = json.loads(Path(path).read_bytes())
        if not isinstance(told, dict) or told.pop("kind", None) != KIND:
            raise FormatError(path, "this is no scaling study")
        rows = [_row(row) for row in told.pop("rows")]
        return Findings(rows=rows, **told)
    except (UnicodeDecodeError, ValueError, TypeError, KeyError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(path, f"this is no scaling study: {error}") from error


def _row(told: dict[str, Any]) -> Row:
    kinds = {entry.name: str(entry.type) for entry in fields(Row)}
    values: dict[str, Any] = {}
    for name, value in told.items():
        listed = kinds[name].startswith("tuple")
        wanted = str if kinds[name] == "str" else (int, float)
        for one in value if listed else [value]:
            if not isinstance(one, wanted):
                raise TypeError(f"{name} is {value!r:.40}")
        values[name] = tuple(value) if listed else value
    return Row(**values)
