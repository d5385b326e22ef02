"""Named columns of edges and vertices, and what becomes of parallel edges.

A column has one number per edge or vertex. Columns of edges run along with the arcs of a graph. To
get them there, the rows are built with the number of each edge in place of a weight, parallel edges
apart; the numbers say where each arc came from, and every column is taken by them. Where parallel
edges are merged, each run of equal arcs becomes one, column by column.

Invariant: parallel arcs stand in the order of the input, in both directions, so both arcs of an
undirected edge have the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from keyword import iskeyword
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import BroadfrontError, GraphError, OptionError
from broadfront.given import is_one_of
from broadfront.graph import build
from broadfront.graph.build import Columns, Rows, index_dtype

Array = NDArray[Any]
Data = Mapping[str, Array]

WEIGHT = "weight"
TAKEN = frozenset({
    WEIGHT, "in_weight", "source", "target", "offsets", "targets", "in_offsets", "in_targets",
    "num_vertices", "ids", "iteration", "frontier_size", "settings",
})  # fmt: skip
"""Names that the state of a program, or a table of edges, has for something else."""
DUPLICATES = ("min", "max", "sum", "first", "keep")
"""What may be done with parallel edges."""


def check_duplicates(duplicates: str, simple: bool) -> None:
    """Refuse what is no way to treat parallel edges, or not in a simple graph."""
    if not is_one_of(duplicates, DUPLICATES):
        raise OptionError(f"duplicates={duplicates!r:.60}: expected one of {', '.join(DUPLICATES)}")
    if simple and duplicates == "keep":
        raise OptionError("simple=True leaves no parallel edges, and duplicates='keep' keeps them")


def is_name(name: object) -> bool:
    """Tell whether functors can ask their state for `name`."""
    return isinstance(name, str) and name.isidentifier() and not (
        iskeyword(name) or name.startswith("_") or name.endswith("_") or "__" in name
    )  # fmt: skip


def plain_data(
    given: Mapping[str, ArrayLike] | None, length: int, what: str, others: Data | None = None
) -> dict[str, Array]:
    """Return columns as arrays of `length` numbers each; refuse other values and bad names.

    `what` they are of is "edge" or "vertex", and `others` are the columns of the other kind.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise OptionError(f"{what}_data={given!r:.60}: expected a dictionary")
    columns = {}
    for name, values in given.items():
        if not is_name(name) or name in TAKEN:
            raise OptionError(f"{name!r} cannot be the name of a column")
        if name in (others or {}):
            raise OptionError(f"{name!r} would be a column of edges and one of vertices")
        hidden = np.flatnonzero(np.ma.getmask(values))
        if len(hidden):
            raise GraphError(f"{what} {int(hidden[0]):,}: {name} is missing")
        try:
            columns[name] = _plain(name, np.asarray(values), length, what)
        except ValueError as error:
            if isinstance(error, BroadfrontError):
                raise
            raise GraphError(f"{name} is no array: {error}") from None
    return columns


def _plain(name: str, values: Array, length: int, what: str) -> Array:
    if values.shape != (length,):
        raise GraphError(
            f"column {name!r} has shape {values.shape}; expected {length:,} values, one per {what}"
        )
    if length == 0 and values.dtype.kind not in "iufb":
        return np.empty(0, np.float64)
    if values.dtype.kind not in "iufb":
        raise GraphError(
            f"column {name!r} is of {values.dtype}; expected real numbers, such as "
            "minutes for times and codes for names"
        )
    if values.dtype.kind == "b":
        return values.astype(np.uint8)
    if values.dtype.kind == "f":
        return values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64, copy=False)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def rows_with_data(
    columns: Columns,
    num_vertices: int,
    data: Data,
    duplicates: str,
    *,
    symmetric: bool,
    drop_loops: bool,
) -> tuple[Rows, dict[str, Array]]:
    """Do as `build.rows_from`, and return the columns of `data` along with the arcs."""
    weight = columns.weight
    if not data and (duplicates == "min" or (weight is None and duplicates != "keep")):
        how: dict[str, Any] = {"symmetric": symmetric, "drop_loops": drop_loops}
        return build.rows_from(columns, num_vertices, **how), {}
    every = dict(data) if weight is None else {**data, WEIGHT: weight}
    columns.weight = np.arange(len(columns), dtype=index_dtype(len(columns), 0))
    rows = build.rows_from(
        columns, num_vertices, symmetric=symmetric, drop_loops=drop_loops, keep=True
    )
    assert rows.weights is not None
    order = rows.weights
    if duplicates == "keep":
        along = {name: column[order] for name, column in every.items()}
    else:
        rows, starts = _merged(rows)
        along = {
            name: _joined(name, column[order], starts, duplicates) for name, column in every.items()
        }
    return rows._replace(weights=along.pop(WEIGHT, None)), along


def _merged(rows: Rows) -> tuple[Rows, Array]:
    """Return rows with each run of equal arcs as one, and where the runs begin."""
    offsets, targets = rows.offsets, rows.targets
    begins = run_begins(offsets, targets)
    starts = np.flatnonzero(begins)
    index = index_dtype(len(offsets) - 1, len(starts))
    before = np.zeros(len(targets) + 1, index)
    np.cumsum(begins, out=before[1:])
    merged, kept = before[offsets], targets[starts].astype(index, copy=False)
    sources = np.repeat(np.arange(len(offsets) - 1, dtype=index), np.diff(merged))
    loops = int(np.count_nonzero(sources == kept))
    return Rows(merged, kept, None, rows.loops_read, loops), starts


def run_begins(offsets: Array, targets: Array) -> NDArray[np.bool_]:
    """Return which arcs are not parallel to the one before."""
    begins = np.ones(len(targets), np.bool_)
    np.not_equal(targets[1:], targets[:-1], out=begins[1:])
    begins[offsets[:-1][offsets[:-1] < offsets[1:]]] = True
    return begins


def _joined(name: str, values: Array, starts: Array, duplicates: str) -> Array:
    """Return one value for each run, which begin at `starts`."""
    if duplicates == "first" or not len(starts):
        return values[starts]
    if duplicates == "sum" and values.dtype.kind in "iu":
        return _whole_sums(name, values, starts)
    add = {"min": np.minimum, "max": np.maximum, "sum": np.add}[duplicates]
    with np.errstate(invalid="ignore", over="ignore"):
        joined: Array = add.reduceat(values, starts)
    if name == WEIGHT and joined.dtype.kind == "f" and np.isnan(joined).any():
        raise GraphError("the weights of parallel edges add up to nan")
    return joined


def _whole_sums(name: str, values: Array, starts: Array) -> Array:
    """Return exact sums, in the dtype of the values if it holds them and in 64 bits otherwise."""
    wide = np.dtype(np.uint64 if values.dtype.kind == "u" else np.int64)
    roughly = np.add.reduceat(values.astype(np.float64), starts)
    if np.abs(roughly).max() >= float(np.iinfo(wide).max):
        raise GraphError(f"{name} of parallel edges adds up to more than 64 bits hold")
    sums = np.add.reduceat(values.astype(wide), starts)
    limits = np.iinfo(values.dtype)
    fits = limits.min <= sums.min() and sums.max() <= limits.max
    return sums.astype(values.dtype) if fits else sums


def turned(
    offsets: Array, targets: Array, weights: Array | None, data: Data, parallel: bool
) -> tuple[Rows, dict[str, Array]]:
    """Turn every arc around, with its columns."""
    if not data:
        return build.transposed(offsets, targets, weights, keep=parallel), {}
    rows = build.transposed(offsets, targets, np.arange(len(targets), dtype=targets.dtype), True)
    assert rows.weights is not None
    order = rows.weights
    along = {name: column[order] for name, column in data.items()}
    return rows._replace(weights=None if weights is None else weights[order]), along
