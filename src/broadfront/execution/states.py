"""The named tuples that functors see as ``state``, made on demand.

A compiled loop that is loaded from disk names the class of its state; making the class again from
its name alone is what lets another process find it. So the name has all attributes, each after its
length: ``State__5depth4max_``. No attribute begins with a digit, so there is one way to read it. A
length that begins with 0 is of an array whose every index is checked (`broadfront.execution.far`).
"""

from __future__ import annotations

import re
from collections import namedtuple
from functools import lru_cache
from typing import Any

PREFIX = "State__"


def __getattr__(name: str) -> Any:
    if not name.startswith(PREFIX):
        raise AttributeError(name)
    text = name.removeprefix(PREFIX)
    made = namedtuple(name, _attributes(text))  # type: ignore[misc]
    made.__module__ = __name__
    made.checked = frozenset(_attributes(text, only_checked=True))  # type: ignore[attr-defined]
    globals()[name] = made
    return made


@lru_cache(maxsize=1 << 10)
def state_class(names: tuple[str, ...], checked: frozenset[str] = frozenset()) -> Any:
    """Return the class of a state with these attributes; those `checked` have indices checked."""
    name = PREFIX + "".join(f"{'0' * (name in checked)}{len(name)}{name}" for name in names)
    return globals().get(name) or __getattr__(name)


def _attributes(text: str, only_checked: bool = False) -> list[str]:
    """Return the attributes that the name of a class lists."""
    found = []
    while text:
        length = re.match("[0-9]+", text)
        if length is None:
            raise AttributeError(text)
        begin = length.end()
        end = begin + int(length[0])
        if text[0] == "0" or not only_checked:
            found.append(text[begin:end])
        text = text[end:]
    return found
