"""Random numbers of Python and NumPy, which nobody can draw again, are no part of a functor.

They differ from run to run, and from device to device; those of `broadfront.draws` do not.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from broadfront.errors import FunctorError


def is_unsteady(function: Any) -> bool:
    """Tell whether a function draws numbers that differ from run to run."""
    owner = getattr(function, "__self__", None)
    return callable(function) and isinstance(owner, (Random, np.random.RandomState))


def refuse_unsteady(function: Any, place: str) -> None:
    """Refuse such a function; `place` says where it is called."""
    if is_unsteady(function):
        raise FunctorError(
            f"{place}: a functor draws by {function.__name__}, a random number of Python or NumPy, "
            "which differs from run to run and from device to device: use bf.random(seed, "
            "state.ids[vertex], state.iteration)"
        )
