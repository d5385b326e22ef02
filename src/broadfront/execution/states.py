"""The named tuples that functors see as ``state``, made on demand.

A compiled loop that is loaded from disk names the class of its state; making the class again from
its name alone is what lets another process find it.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

PREFIX = "State__"


def __getattr__(name: str) -> Any:
    if not name.startswith(PREFIX):
        raise AttributeError(name)
    made = namedtuple(name, name.removeprefix(PREFIX).split("__"))  # type: ignore[misc]
    made.__module__ = __name__
    globals()[name] = made
    return made


def state_class(names: tuple[str, ...]) -> Any:
    """Return the class of a state with these attributes."""
    name = PREFIX + "__".join(names)
    return globals().get(name) or __getattr__(name)
