"""The systems that can be compared, by name; their libraries are looked for, not imported.

An adapter lives in the file named after its library and is imported by a worker alone, so that a
library that is missing, slow to import or broken harms nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec

from broadfront.errors import MissingDependencyError, OptionError


@dataclass(frozen=True)
class Entry:
    """A system: where its adapter is, and which library it needs.

    Attributes
    ----------
    name, title
        As the command line and the table call it.
    adapter
        The module of the adapter and its class, as ``module:class``.
    library, distribution
        The module it imports, and the package that brings it.
    most_arcs
        The largest graph it is asked about; None for any.
    """

    name: str
    title: str
    adapter: str
    library: str
    distribution: str
    most_arcs: int | None = None

    @property
    def installed(self) -> bool:
        """Whether the library is there."""
        return find_spec(self.library) is not None

    @property
    def version(self) -> str | None:
        """The installed version, None where there is none."""
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return None


_HERE = "broadfront.benchmark.systems"
SMALL = 1 << 21

ENTRIES = {
    entry.name: entry
    for entry in (
        Entry("broadfront", "Broadfront", f"{_HERE}.broadfront:Broadfront", "broadfront",
              "broadfront"),
        Entry("scipy", "SciPy", f"{_HERE}.scipy:SciPy", "scipy", "scipy"),
        Entry("networkx", "NetworkX", f"{_HERE}.networkx:NetworkX", "networkx", "networkx", SMALL),
        Entry("igraph", "igraph", f"{_HERE}.igraph:IGraph", "igraph", "igraph"),
        Entry("rustworkx", "rustworkx", f"{_HERE}.rustworkx:Rustworkx", "rustworkx", "rustworkx"),
        Entry("networkit", "NetworKit", f"{_HERE}.networkit:NetworKit", "networkit", "networkit"),
        Entry("graphblas", "GraphBLAS", f"{_HERE}.graphblas:GraphBLAS", "graphblas",
              "python-graphblas"),
        Entry("sknetwork", "scikit-network", f"{_HERE}.sknetwork:ScikitNetwork", "sknetwork",
              "scikit-network"),
    )
}  # fmt: skip


def chosen(names: list[str] | None) -> tuple[list[Entry], list[Entry]]:
    """Return the systems to run and the absent ones; who is asked for by name must be there."""
    if names is None:
        there = [entry for entry in ENTRIES.values() if entry.installed]
        return there, [entry for entry in ENTRIES.values() if not entry.installed]
    for name in names:
        if name not in ENTRIES:
            raise OptionError(f"--systems {name}: unknown; known: {' '.join(ENTRIES)}")
        if not ENTRIES[name].installed:
            raise MissingDependencyError(
                f"--systems {name}: this needs {ENTRIES[name].distribution}: "
                "pip install 'broadfront[bench]'"
            )
    return [ENTRIES[name] for name in dict.fromkeys(names)], []
