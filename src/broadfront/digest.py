"""Compiled loops kept on disk under a name that says what their code means.

Numba's own cache goes by file and time stamp, and never hits for a loop that closes over a user's
functor. Here the key is a deep digest of everything the loop can mean: bytecode, constants,
defaults, closure cells, the globals it names, and so on through every function it calls. An edited
functor, helper or constant is another key; an edited comment is not.

Invariant: what cannot be digested is compiled anew in each process, never guessed.

In machine code Numba tells functions of one name and type apart by a number, which it counts up in
each process from 1. So two loops kept by two processes could hold different functions under one
name, and where both are loaded, the second would call those of the first. Here every process counts
from a random number.
"""

from __future__ import annotations

import dis
import hashlib
import itertools
import os
import pickle
import sys
import types as python_types
import uuid
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import compiler, config, types
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import _Cache
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps
from numba.extending import _Intrinsic

BY_NAME = {"builtins", "cmath", "collections", "llvmlite", "math", "numba", "numpy", "operator",
           "typing"}  # fmt: skip
"""Packages whose content is known by name and version."""
VERSIONS = f"{sys.version} {numba.__version__} {llvmlite.__version__} {np.__version__} 2"


class UndigestibleError(Exception):
    """A compiled function refers to something whose meaning cannot be told."""


def folder() -> Path:
    """Return where compiled loops are kept."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / "broadfront"
    default = os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or default) / "broadfront"


class Digest:
    """A running hash over what things mean."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256(VERSIONS.encode())
        self._seen: dict[int, int] = {}
        self._kept: list[object] = []

    def hexdigest(self) -> str:
        """Return the digest so far."""
        return self._hash.hexdigest()

    def say(self, *words: object) -> None:
        """Add words, each with its length, so that no two sequences look alike."""
        for word in words:
            octets = word if isinstance(word, bytes) else str(word).encode()
            self._hash.update(len(octets).to_bytes(8, "little") + octets)

    def add(self, thing: Any, names: frozenset[str] = frozenset()) -> None:
        """Add what `thing` means; of a module, the attributes called `names`."""
        if thing is None or isinstance(thing, (bool, int, float, complex, str, bytes, np.generic)):
            self.say(type(thing).__name__, repr(thing))
            return
        module = isinstance(thing, python_types.ModuleType)
        if id(thing) in self._seen and not module:
            self.say("again", self._seen[id(thing)])
            return
        self._seen[id(thing)] = len(self._seen)
        self._kept.append(thing)
        if module:
            self._module(thing, names)
        elif isinstance(thing, (Dispatcher, _Intrinsic, python_types.FunctionType)):
            self._function(thing)
        else:
            self._value(thing)

    def _module(self, module: Any, names: frozenset[str]) -> None:
        self.say("module", module.__name__)
        if module.__name__.partition(".")[0] not in BY_NAME:
            for name in sorted(names & vars(module).keys()):
                self.say(name)
                self.add(vars(module)[name], names)

    def _function(self, function: Any) -> None:
        if isinstance(function, Dispatcher):
            self.say("compiled", sorted(map(repr, function.targetoptions.items())))
            self.add(function.py_func)
            return
        if isinstance(function, _Intrinsic):
            self.say("intrinsic")
            self.add(function._defn)
            return
        if (function.__module__ or "").partition(".")[0] in BY_NAME:
            self.say("function", function.__module__, function.__qualname__)
            return
        self.say("function")
        self._code(function.__code__)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:
                self.say("empty cell")
        names, loaded = _names(function.__code__)
        for name in sorted(loaded & function.__globals__.keys()):
            self.say(name)
            self.add(function.__globals__[name], names)

    def _code(self, code: python_types.CodeType) -> None:
        self.say("code", code.co_code, code.co_names, code.co_varnames, code.co_freevars,
                 code.co_cellvars, code.co_argcount, code.co_flags)  # fmt: skip
        for constant in code.co_consts:
            self.add(constant)

    def _value(self, value: Any) -> None:
        if isinstance(value, python_types.CodeType):
            self._code(value)
        elif isinstance(value, (tuple, list)):
            self.say(type(value).__name__, len(value), *getattr(value, "_fields", ()))
            for item in value:
                self.add(item)
        elif isinstance(value, (set, frozenset)):
            self.say("set", sorted(map(repr, value)))
        elif isinstance(value, dict):
            for pair in sorted(value.items(), key=repr):
                self.add(pair)
        elif isinstance(value, np.ndarray):
            self.say("array", value.dtype, value.shape, np.ascontiguousarray(value).tobytes())
        elif isinstance(value, (np.dtype, types.Type)):
            self.say(type(value).__name__, type_text(value))
        elif isinstance(value, types.ExternalFunction):
            self.say("external", value.symbol, value.sig)
        elif isinstance(value, (type, python_types.BuiltinFunctionType)):
            self.say("named", value.__module__, value.__qualname__, getattr(value, "_fields", ()))
        elif type(value).__module__.partition(".")[0] in BY_NAME:
            self.say(type(value).__qualname__, getattr(value, "__name__", ""))
        else:
            raise UndigestibleError(f"{type(value).__qualname__} in a compiled function")


def _names(code: python_types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return all names in a code, attributes too, and those that it loads as globals."""
    names = frozenset(code.co_names)
    loaded = frozenset(
        step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"
    )
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            more_names, more_loaded = _names(constant)
            names, loaded = names | more_names, loaded | more_loaded
    return names, loaded


def type_text(kind: Any) -> str:
    """Return a Numba type as text that is the same in every process."""
    if isinstance(kind, types.BaseNamedTuple):  # type: ignore[attr-defined]
        parts = ", ".join(map(type_text, kind.types))
        return f"{kind.instance_class.__qualname__}{kind.fields}({parts})"
    if isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
        return f"({', '.join(map(type_text, kind))})"
    if isinstance(kind, types.Dispatcher):
        digest = Digest()
        digest.add(kind.dispatcher)
        return f"dispatcher {digest.hexdigest()}"
    return str(kind)


class DigestCache(_Cache):  # type: ignore[misc]
    """One file per digest, signature and processor; a file that cannot be read is absent."""

    def __init__(self, name: str, digest: str) -> None:
        self._name = name
        self._digest = digest

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return str(folder())

    def enable(self) -> None:
        """Do nothing: this cache is always on."""

    def disable(self) -> None:
        """Do nothing: this cache is always on."""

    def flush(self) -> None:
        """Do nothing: there is no index."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled loop for `signature`, or None."""
        target_context.refresh()
        try:
            payload = self._path(signature, target_context.codegen()).read_bytes()
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # absent, torn, or of another version: compile
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled loop; a full or read-only disk only costs a compilation."""
        if compiled.library.has_dynamic_globals:
            return
        path = self._path(signature, compiled.codegen)
        part = path.with_suffix(f".{uuid.uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(dumps(compiled._reduce()))
            os.replace(part, path)
        except OSError:
            part.unlink(missing_ok=True)

    def _path(self, signature: Any, codegen: Any) -> Path:
        arguments = signature if isinstance(signature, tuple) else signature.args
        meaning = [self._digest, *map(type_text, arguments), repr(codegen.magic_tuple())]
        name = hashlib.sha256("\n".join(meaning).encode()).hexdigest()[:32]
        return folder() / f"{self._name}-{name}.loop"


def kept_on_disk(dispatcher: Any) -> Any:
    """Give a function compiled by Numba a cache that goes by meaning."""
    digest = Digest()
    try:
        digest.add(dispatcher)
    except UndigestibleError:
        return dispatcher
    dispatcher._cache = DigestCache(dispatcher.py_func.__name__, digest.hexdigest())
    return dispatcher


def _count_from_anywhere() -> None:
    FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(6), "little"))


_count_from_anywhere()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_from_anywhere)
