"""Finding edges that occur more than once, for generators that draw again instead of merging."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def pair_keys(source: Array, target: Array, num_vertices: int) -> Array:
    """Return one integer per edge, equal for equal edges whatever their direction."""
    keys: Array = np.minimum(source, target).astype(np.int64)
    keys *= num_vertices
    keys += np.maximum(source, target)
    return keys


def repeated(keys: Array) -> Array:
    """Return the places of all keys that occur earlier too."""
    ordered = np.sort(keys)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    suspects = np.flatnonzero(contains(twice, keys))
    _, firsts = np.unique(keys[suspects], return_index=True)
    return np.delete(suspects, firsts)


def contains(ordered: Array, keys: Array) -> Array:
    """Return for each key whether it is in `ordered`."""
    if len(ordered) == 0:
        return np.zeros(len(keys), bool)
    places = np.searchsorted(ordered, keys)
    places[places == len(ordered)] = 0
    found: Array = ordered[places] == keys
    return found
