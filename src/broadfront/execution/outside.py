"""What a functor may not do with what is around it: draw by chance, or change it.

Random numbers of Python and NumPy differ from run to run, and from device to device; those of
`broadfront.draws` do not. Arrays and lists from around are compiled in, and only read.
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


def refuse_changed(name: str, place: str) -> None:
    """Refuse to set an element of what is called `name` and is around a functor."""
    raise FunctorError(
        f"{place}: a functor sets an element of {name}, which is not of the state: functors only "
        "read what is around them; store in a field"
    )
