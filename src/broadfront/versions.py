"""Packages that are known by name and version: those of Python, Numba, llvmlite and NumPy.

What they hold is not looked into, neither for what compiled code means nor for what functors touch.

Invariant: a user's file that is called as a module of Python, such as ``queue.py``, is the user's.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import lru_cache
from importlib.util import find_spec

import llvmlite
import numba
import numpy as np

VERSIONS = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
COMPILED_WITH = {"llvmlite", "numba", "numpy"}
OF_OTHERS = {"site-packages", "dist-packages"}
"""Folders within that of Python, for what else is installed."""


def has_version(name: object) -> bool:
    """Tell whether a module, given by its name, is one whose content a version tells."""
    package = str(name).partition(".")[0]
    if package in COMPILED_WITH:
        return True
    return package in sys.stdlib_module_names and _is_of_python(_file_of(package))


def _file_of(package: str) -> str | None:
    """Return the file of a module that is loaded, or would be; None if there is none to have."""
    module = sys.modules.get(package)
    if module is not None:
        return getattr(module, "__file__", None)
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    return spec.origin if spec is not None and spec.has_location else None


@lru_cache(maxsize=1 << 10)
def _is_of_python(file: str | None) -> bool:
    """Tell whether a file came with Python; what has none is built into it."""
    if file is None:
        return True
    folder = os.path.realpath(os.path.dirname(file))
    for home in _homes():
        inside = os.path.relpath(folder, home) if folder.startswith(home) else os.pardir
        parts = inside.split(os.sep)
        if parts[0] != os.pardir:
            return not OF_OTHERS.intersection(parts)
    return False


@lru_cache(maxsize=1)
def _homes() -> list[str]:
    named = [os.path.dirname(os.__file__), os.path.join(sys.base_exec_prefix, "DLLs")]
    named += [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")]
    return [os.path.realpath(folder) for folder in named]
