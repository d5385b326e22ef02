"""Results of searches from a source, and of many searches at once: a row for each.

With ``each=True`` the arrays of a result have shape (sources, vertices); ``result[i]`` is the
result of source i alone, on the same memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError, VerificationError
from broadfront.graph.csr import Graph
from broadfront.report.result import Result

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
    """

    sources: NDArray[np.int64]
    each: bool
    target: int | None

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
        return replace(self, sources=np.array([source]), each=False, **rows)

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
                name = self.labels[self.sources[row]]
                raise VerificationError(error.rule, f"from {name}: {error.problem}") from None

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per vertex or, with `each`, per source and vertex."""
        if not self.each:
            return super().to_pandas()
        from broadfront.errors import require

        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame(
            {
                "source": np.repeat(self.labels[self.sources], self.graph.num_vertices),
                "vertex": np.tile(self.labels, len(self)),
                **{name: column.reshape(-1) for name, column in self.columns().items()},
            }
        )


def positions(graph: Graph, source: object, each: bool = False) -> NDArray[np.int64]:
    """Return the positions of one vertex or of several; as given if `each` counts."""
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes, tuple)):
        places = np.array([graph.vertex(name) for name in source], np.int64)
        return places if each else np.unique(places)
    return np.array([graph.vertex(source)])
