"""`MemoryProfile`: how much of what grows a run has needed, for runs like it to begin with.

A profile holds factors, not sizes, so that it serves other graphs of the same kind, and other
numbers of devices. What begins too small still grows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from math import inf, isfinite, isinf
from os import PathLike
from typing import Any

from broadfront.errors import FormatError, OptionError
from broadfront.given import number
from broadfront.graph.files import expect_path, written

FORMAT = "broadfront memory profile 1"
MOST = 1e9
FACTORS = ("queue", "box", "own_box", "far_box")


@dataclass(frozen=True)
class MemoryProfile:
    """What a program needs of memory that grows.

    Attributes
    ----------
    program
        The program that was run; of a primitive with several, all of them.
    graph
        What it was run on.
    queue
        Places in a queue for each vertex that a device has, its own or a copy, beyond a few.
    box
        Bytes of a box for each vertex that a device has copies of or that has copies, at a peer.
    own_box
        Bytes for each arc of what a device keeps for itself in a box: lists, trees.
    far_box
        Bytes of a box for each vertex of a device, at a peer with which it has none in common.
    """

    program: str = ""
    graph: str = ""
    queue: float = 0.0
    box: float = 0.0
    own_box: float = 0.0
    far_box: float = 0.0

    def __post_init__(self) -> None:
        for name in FACTORS:
            plain = getattr(self, name)
            if type(plain) is float and 0 <= plain <= MOST:
                continue
            given = number(plain, name, 0)
            if not (given <= MOST or isinf(given)):
                raise OptionError(f"{name}={given:.3g}: expected at most {MOST:.0e}, or infinity")
            object.__setattr__(self, name, float(given))

    @property
    def fixed(self) -> bool:
        """Whether everything begins as large as it can come to be, and nobody looks if it fits."""
        return isinf(self.queue)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the profile as JSON, whole or not at all."""
        if self.fixed:
            raise OptionError("what is enough for any run has no factors to save")
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=2)
        with written(path) as stream:
            stream.write(text.encode() + b"\n")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> MemoryProfile:
        """Read a profile that `save` wrote."""
        expect_path(path)
        with open(path, "rb") as stream:
            content = stream.read(1 << 16)
        try:
            told: Any = json.loads(content)
        except ValueError:
            raise FormatError(path, "this is not JSON, and no memory profile") from None
        if not isinstance(told, dict) or told.pop("format", None) != FORMAT:
            raise FormatError(path, "this is no memory profile of this version")
        kinds = {field.name: str if field.type == "str" else (int, float) for field in fields(cls)}
        for name, kind in kinds.items():
            value = told.get(name)
            if not isinstance(value, kind) or isinstance(value, bool):
                raise FormatError(path, f"{name!r} is {value!r}")
            if not isinstance(value, str) and not (isfinite(value) and value >= 0):
                raise FormatError(path, f"{name!r} is {value!r}, not a factor")
        return cls(**{name: told[name] for name in kinds})


MINIMAL = MemoryProfile()
"""The profile of a run of which nothing is known: everything begins small."""

FIXED = MemoryProfile("fixed", "", inf, inf, inf, inf)
"""What is enough for any run."""


def largest(profiles: Iterable[MemoryProfile]) -> MemoryProfile:
    """Return the profile that is enough for each of several runs."""
    every = list(profiles)
    if not every:
        return MINIMAL
    return MemoryProfile(
        " + ".join(dict.fromkeys(one.program for one in every)),
        " + ".join(dict.fromkeys(one.graph for one in every)),
        *(max(getattr(one, name) for one in every) for name in FACTORS),
    )
