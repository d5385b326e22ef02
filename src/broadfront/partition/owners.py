"""Who owns what, checked: compiled code puts every vertex where its owner says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.graph.labels import frozen

Array = NDArray[Any]


def checked_owners(given: Any, size: int, count: int, name: str) -> Array:
    """Return the part of each vertex, read-only, as `name` has decided; refuse what is none."""
    try:
        owner = np.asarray(given)
    except ValueError as error:
        raise OptionError(f"partitioner {name} returned no array: {error}") from error
    if owner.shape != (size,):
        raise OptionError(
            f"partitioner {name} returned an array of shape {owner.shape}; expected ({size},)"
        )
    if size and owner.dtype.kind not in "iu":
        raise OptionError(f"partitioner {name} returned {owner.dtype}; expected integers")
    wrong = np.flatnonzero((owner < 0) | (owner >= count))
    if len(wrong):
        raise OptionError(
            f"partitioner {name} gave vertex {wrong[0]:,} to {owner[wrong[0]]}, "
            f"which is not a part in 0..{count - 1}"
        )
    return frozen(owner.astype(np.min_scalar_type(count)))
