"""The graphs of the study: families of the paper, at sizes that fit one machine.

Social networks, web graphs and roads are files, given or found in a folder by name. The others are
generated: points in a square (rgg), R-MAT with 48 edges drawn per vertex (rmat_48), and R-MAT with
few vertices of huge degree (rmat_hubs), where the paper keeps the edges and halves the vertices.

Weak scaling starts from an R-MAT graph for one device, and draws as many edges for each more: at
the same vertices, or at as many more vertices, which are a power of two.

References
----------
Pan, Wang, Wu, Yang, Owens: Multi-GPU graph analytics (IPDPS 2017), section 5.1 and Table 1.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from broadfront.errors import OptionError
from broadfront.graph import files
from broadfront.graph.generate import is_spec
from broadfront.graph.read import READERS


class Choice(NamedTuple):
    """A graph, by the text that names it, and its family."""

    family: str
    graph: str

    @property
    def title(self) -> str:
        """The specification, or the name of the file without its folder."""
        return self.graph if is_spec(self.graph) else Path(self.graph).name


FILES = {
    "soc": ("soc*", "musae*", "com-*"),
    "web": ("web*", "npm-deps*.runtime.*", "git-commits*"),
    "road": ("road*", "USA-road-d*", "osm*"),
}
"""How the files of a family are called."""
GENERATED = {
    "rgg": ("rgg:16", "rgg:18"),
    "rmat_48": ("rmat:15:48", "rmat:16:48", "rmat:17:48"),
    "rmat_hubs": ("rmat:12:1024", "rmat:13:512"),
}
QUICK = {"rgg": ("rgg:11",), "rmat_48": ("rmat:9:48",), "rmat_hubs": ("rmat:7:512",)}
FAMILIES = (*FILES, *GENERATED)

WEAK = {"weak-edges": (17, 8), "weak-vertices": (14, 48)}
QUICK_WEAK = {"weak-edges": (12, 8), "weak-vertices": (8, 48)}
"""Scale and edges drawn per vertex for one device; few, because duplicates are merged."""


def chosen(
    families: Sequence[str] | None, graphs: Sequence[str], data: str | None, quick: bool
) -> list[Choice]:
    """Return the graphs to study: those given, and of each family those found and generated."""
    given = [_given(text) for text in graphs]
    made = QUICK if quick else GENERATED
    found = {} if data is None else _found(data)
    choices = given + [
        Choice(name, graph)
        for name in wanted(families, graphs)
        for graph in (*found.get(name, ())[: 1 if quick else None], *made.get(name, ()))
    ]
    _tell_apart(choices)
    return choices


def wanted(families: Sequence[str] | None, graphs: Sequence[str]) -> Sequence[str]:
    """Return the families to study; all, or with graphs given those that are named."""
    names = (() if graphs else FAMILIES) if families is None else families
    for name in names:
        if name not in FAMILIES:
            raise OptionError(f"--families {name}: unknown; known: {' '.join(FAMILIES)}")
    return names


def weak_by_edges(devices: int, quick: bool) -> Choice:
    """Return the graph for so many devices: the same vertices, more edges at each."""
    scale, edges = (QUICK_WEAK if quick else WEAK)["weak-edges"]
    return Choice("weak-edges", f"rmat:{scale}:{edges * devices}")


def weak_by_vertices(devices: int, quick: bool) -> Choice:
    """Return the graph for so many devices, a power of two: more vertices, edges in proportion."""
    scale, edges = (QUICK_WEAK if quick else WEAK)["weak-vertices"]
    return Choice("weak-vertices", f"rmat:{scale + devices.bit_length() - 1}:{edges}")


def _given(text: str) -> Choice:
    family, equals, graph = text.partition("=")
    if not (family and equals and graph) or is_spec(text):
        raise OptionError(f"--graphs {text}: expected FAMILY=GRAPH, as in road=NY.gr.gz")
    if not is_spec(graph) and not os.path.exists(graph):
        raise OptionError(f"--graphs {text}: no such file, and no generator of that name")
    return Choice(family, graph)


def _tell_apart(choices: Sequence[Choice]) -> None:
    """Refuse graphs of a family that tables would show under the same name."""
    seen: set[tuple[str, str]] = set()
    for choice in choices:
        key = choice.family, choice.title
        if key in seen:
            raise OptionError(f"--graphs: {choice.family} has two graphs called {choice.title}")
        seen.add(key)


def _found(folder: str) -> dict[str, list[str]]:
    """Return the files of each family in a folder, small ones first."""
    try:
        entries = [entry for entry in os.scandir(folder) if entry.is_file()]
    except OSError as error:
        raise OptionError(f"--data {folder}: {error.strerror or error}") from error
    entries.sort(key=lambda entry: (entry.stat().st_size, entry.name))
    return {
        family: [
            entry.path
            for entry in entries
            if files.suffixes(entry.name)[0] in READERS
            and any(fnmatch(entry.name, pattern) for pattern in patterns)
        ]
        for family, patterns in FILES.items()
    }
