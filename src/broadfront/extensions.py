"""What has been added to Numba from outside: it changes what compiled functions mean.

`numba.extending` puts functions into registries of Numba's: how to type and compile calls,
operators, attributes, constants and conversions. Those that do not come with Numba are found here.
An overload of a plain function concerns only who calls that function, and an intrinsic only who
names it; anything else may concern everybody.

Invariant: the registries only grow, so that each entry is looked at once.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from numba.core.datamodel import default_manager
from numba.core.imputils import builtin_registry as lowering
from numba.core.typing.templates import builtin_registry as typing

from broadfront.versions import has_version

LOWERINGS = (lowering.functions, lowering.getattrs, lowering.setattrs, lowering.casts,
             lowering.constants)  # fmt: skip

_looked_at: dict[int, int] = {}
_templates: set[Any] = set()
_of_all: list[Any] = []
_of_function: dict[FunctionType, list[Any]] = {}


def of_function(function: FunctionType) -> list[Any]:
    """Return what stands for a plain function in compiled code."""
    _look()
    return _of_function.get(function, [])


def of_numba() -> Iterator[Any]:
    """Yield what has been added that may concern any compiled function."""
    _look()
    yield from _of_all
    for kind, model in default_manager._handlers.items():
        if _is_foreign(kind) or _is_foreign(model):
            yield from (kind, model)


def installed_version(added: Any) -> str | None:
    """Return the version of the installed package that something belongs to; None if of none."""
    package = sys.modules.get((added.__module__ or "").partition(".")[0])
    version, path = getattr(package, "__version__", None), getattr(package, "__file__", None)
    if version is None or path is None:
        return None
    homes = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    return str(version) if any(path.startswith(home + os.sep) for home in homes) else None


def _look() -> None:
    """Sort what has been added since the last look."""
    for template in (*_new(typing.functions), *_new(typing.attributes)):
        _sort(template)
    for _, kind in _new(typing.globals):
        for template in getattr(kind, "templates", ()):
            _sort(template)
    for entries in LOWERINGS:
        _of_all.extend(entry[0] for entry in _new(entries) if _is_foreign(entry[0]))


def _new(entries: list[Any]) -> list[Any]:
    first = _looked_at.get(id(entries), 0)
    _looked_at[id(entries)] = len(entries)
    return entries[first:]


def _sort(template: Any) -> None:
    """File the function, or the class, with which somebody told Numba how to type a call."""
    if template in _templates or hasattr(template, "_definition_func"):
        return
    _templates.add(template)
    source, key = template, getattr(template, "key", None)
    if hasattr(template, "_overload_func"):
        source = template._overload_func
    elif template.__name__.endswith("_CallableTemplate") and template.generic.__closure__:
        source = template.generic.__closure__[0].cell_contents
    if not _is_foreign(source) and not (isinstance(key, type) and _is_foreign(key)):
        return
    if isinstance(key, FunctionType):
        _of_function.setdefault(key, []).append(source)
    else:
        _of_all.append(source)


def _is_foreign(thing: Any) -> bool:
    if isinstance(thing, type):
        homes = [base.__module__ for base in thing.__mro__]
    else:
        homes = [thing.__module__ or getattr(thing, "__globals__", {}).get("__name__", "")]
    return not all(map(has_version, homes))
