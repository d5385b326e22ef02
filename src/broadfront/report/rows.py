"""Results of searches from a source, and of many searches at once: a row for each.

With ``each=True`` the arrays of a result have shape (sources, vertices); ``result[i]`` is the
result of source i alone, on the same memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError, VerificationError
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.report.result import Result, per_second
from broadfront.report.teps import edges_reached

if TYPE_CHECKING:
    import pandas

Array = NDArray[Any]


@dataclass(frozen=True, repr=False, eq=False)
class Search(Result):
    """The answer of a search from the nearest of some sources, or from each of them.

    Attributes
    ----------
    sources
        The positions of the vertices it started from.
    each
        Whether every source has a row of its own, in this order.
    target
        The position of the vertex at which it stopped, or None.
    one_of_many
        Whether it is a row of a result with `each`: then `report` is that of all rows.
    """

    sources: NDArray[np.int64]
    each: bool
    target: int | None
    one_of_many: bool = field(default=False, kw_only=True)

    def mask(self) -> Array:
        """Return which vertices were reached, in a row per source where there are several."""
        raise TypeError(f"{type(self).__name__} has no mask")

    @cached_property
    def edges_reached(self) -> int:
        """Edges with an end that was reached, as Graph500 counts them; over all rows.

        Of an undirected graph every edge counts once, of a directed one arcs leaving what was
        reached. Counted when first asked for.
        """
        masks = self.mask().reshape(-1, self.graph.num_vertices)
        return sum(edges_reached(self.graph, mask, self.target is None) for mask in masks)

    @property
    def teps(self) -> float | None:
        """Edges reached per second (Graph500's traversed edges per second).

        None for a row of many, which has no time of its own.
        """
        if self.one_of_many:
            return None
        return self.edges_reached / max(self.report.seconds, 1e-9)

    def totals(self) -> dict[str, Any]:
        """Return the totals of the report, edges reached, and those per second."""
        return {**super().totals(), "edges_reached": self.edges_reached, "teps": self.teps}

    def pace(self) -> str:
        """Return in words how many edges were traversed and reached, and how quickly."""
        told = (
            f"{self.report.edges_visited:,} edges traversed; {self.edges_reached:,} edges reached"
        )
        if self.one_of_many:
            return told
        rate = per_second(self.edges_reached, self.report.seconds)
        return f"{told}, {rate} million a second (Graph500)"

    def check(self) -> None:
        """Check the answer of one search; `verify` calls it, for each row where there are many."""
        raise TypeError(f"{type(self).__name__} has no check")

    def __len__(self) -> int:
        return len(self.sources) if self.each else 1

    def __getitem__(self, row: int) -> Self:
        if not self.each:
            raise OptionError("a search without each=True has no rows")
        source = self.sources[range(len(self))[row]]
        rows = {
            field.name: value[row]
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), np.ndarray) and value.ndim == 2
        }
        return replace(self, sources=np.array([source]), each=False, one_of_many=True, **rows)

    def __iter__(self) -> Iterator[Self]:
        return (self[row] for row in range(len(self)))

    def reach(self, reached: int) -> str:
        """Return in words how many vertices were reached, over all rows."""
        if not self.each:
            return f"{reached:,} vertices reached"
        mean = reached / max(1, len(self))
        return f"from each of {len(self):,} sources {mean:,.0f} vertices reached on average"

    def alone(self) -> Self:
        """Return the search itself, if there is but one; refuse it otherwise."""
        if self.each:
            raise OptionError("there are paths from each source: take result[i].path_to(vertex)")
        return self

    def verify(self) -> None:
        """Check the answer, row by row; a search that stopped at its target cannot be checked."""
        if self.target is not None:
            raise OptionError("a search that stopped at its target is not whole, and not verified")
        if not self.each:
            self.check()
            return
        for row, one in enumerate(self):
            try:
                one.check()
            except VerificationError as error:
                name = self.graph.labels_of(self.sources)[row]
                raise VerificationError(error.rule, f"from {name}: {error.problem}") from None

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per vertex or, with `each`, per source and vertex."""
        if not self.each:
            return super().to_pandas()
        from broadfront.errors import require

        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame(
            {
                "source": np.repeat(self.graph.labels_of(self.sources), self.graph.num_vertices),
                "vertex": np.tile(self.labels, len(self)),
                **{name: column.reshape(-1) for name, column in self.labelled_columns().items()},
            }
        )


def positions(graph: Graph, source: object, each: bool = False) -> NDArray[np.int64]:
    """Return the positions of one vertex or of several; as given if `each` counts."""
    expect_graph(graph)
    if isinstance(source, np.ndarray) and source.ndim == 0:
        source = source.item()
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes, tuple)):
        places = np.array([graph.vertex(name) for name in source], np.int64)
        return places if each else np.unique(places)
    return np.array([graph.vertex(source)])
