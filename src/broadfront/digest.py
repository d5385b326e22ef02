"""What a compiled function means, as a hash: two that differ in meaning never share one.

The hash covers everything that compiling can see: bytecode, constants, defaults, closure cells, the
globals and module attributes a function names, and so on through every function and class it
reaches; the options of the compiler; and what has been added to Numba (`broadfront.extensions`).
Python, Numba, NumPy and their like are known by name and version. Hashes form a tree, as in Merkle
(CRYPTO 1987): a node hashes its own text and the hashes of its parts; a part that is being hashed
already, as in a recursion, is named by how far up it is.

Invariant: what cannot be hashed with certainty raises `UndigestibleError`. That includes a function
that Numba compiled under other values than it would find now, since its code would be linked in.
"""

from __future__ import annotations

import builtins
import enum
import hashlib
import operator
import sys
import types as python_types
from dis import opmap
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.core.dispatcher import Dispatcher
from numba.core.typing.templates import Signature
from numba.experimental.jitclass.base import JitClassType
from numba.extending import _Intrinsic

from broadfront import extensions
from broadfront.versions import VERSIONS, has_version

HOW_ONLY = {"broadfront.apart", "broadfront.quick"}
"""Modules that decide on which thread and how fast code is compiled, and not what it means."""
SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "ENABLE_AVX", "LOOP_VECTORIZE", "OPT",
            "SLP_VECTORIZE", "USING_SVML")  # fmt: skip
"""Settings of Numba that change the code it makes."""
PLAIN = (type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes)
NOT_OF_A_CLASS = {"__annotate__", "__annotate_func__", "__annotations__", "__dict__", "__doc__",
                  "__firstlineno__", "__module__", "__static_attributes__", "__weakref__",
                  "_abc_impl"}  # fmt: skip
"""Attributes of a class that say nothing of what it does."""
IMPORTED = "import"
"""Stands, among the globals that a code loads, for a module that it imports while it runs."""
MOST = 100_000
"""Parts of one function; more only come from a tangle of recursions."""

MIXED = b"mixed"
"""What a function meant that was compiled for several signatures, under several values."""

_compiled_as: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()
"""What a function meant when it was last seen before it was compiled."""


class UndigestibleError(Exception):
    """A compiled function refers to something whose meaning cannot be told."""


class Digest:
    """Hashes of things, valid as long as none of them changes.

    Attributes
    ----------
    functions
        Every function compiled by Numba that was met.
    constants
        How many values were met that a program could replace: numbers, arrays and their like.
    """

    def __init__(self) -> None:
        self.functions: list[Any] = []
        self.constants = 0
        self._done: dict[Any, bytes] = {}
        self._under_way: dict[Any, int] = {}
        self._furthest_up = 0
        self._kept: list[object] = []

    def of(self, thing: Any, names: frozenset[str] = frozenset()) -> bytes:
        """Return the hash of `thing`; of a module, that of the attributes called `names`."""
        if type(thing) in PLAIN:
            return _hashed("plain", type(thing).__name__, repr(thing))
        key = (id(thing), names) if isinstance(thing, python_types.ModuleType) else id(thing)
        if key in self._done:
            return self._done[key]
        depth = len(self._under_way)
        if key in self._under_way:
            self._furthest_up = min(self._furthest_up, self._under_way[key])
            return _hashed("above", depth - self._under_way[key])
        self._kept.append(thing)
        if len(self._kept) > MOST:
            raise UndigestibleError("too many recursions in a compiled function")
        above, self._furthest_up = self._furthest_up, depth
        self._under_way[key] = depth
        try:
            answer = _hashed(type(thing).__name__, *self._parts(thing, names))
        finally:
            del self._under_way[key]
        if self._furthest_up >= depth:
            self._done[key] = answer
        self._furthest_up = min(above, self._furthest_up)
        return answer

    def _parts(self, thing: Any, names: frozenset[str]) -> list[Any]:
        if isinstance(thing, python_types.ModuleType):
            return self._module(thing, names)
        if isinstance(thing, Dispatcher):
            return self._compiled(thing)
        if isinstance(thing, python_types.FunctionType):
            return self._function(thing)
        if isinstance(thing, python_types.CodeType):
            return self._code(thing)
        if isinstance(thing, type):
            return self._class(thing)
        return self._value(thing)

    def _module(self, module: Any, names: frozenset[str]) -> list[Any]:
        parts = [module.__name__]
        known = has_version(module.__name__)
        for name in sorted(names & vars(module).keys()):
            value = vars(module)[name]
            if known and has_version(_home(value)):
                continue
            parts += [name, self.of(value, names) if known else self._bound(value, names)]
        return parts

    def _compiled(self, function: Any) -> list[Any]:
        """Return the parts of a function under Numba, whose code may be there already."""
        options = sorted(map(repr, function.targetoptions.items()))
        given = [] if function._can_compile else sorted(map(type_text, function.overloads))
        parts = [*options, *given, *sorted(map(repr, function.locals.items())),
                 self.of(type(function)), self.of(function._compiler.pipeline_class),
                 self.of(function.py_func)]  # fmt: skip
        self.functions.append((function, _hashed(*parts)))
        return parts

    def _function(self, function: Any) -> list[Any]:
        if _is_known(function) or function.__module__ in HOW_ONLY:
            return [function.__module__, function.__qualname__]
        parts: list[Any] = [
            self.of(function.__code__), self.of(function.__defaults__),
            self.of(function.__kwdefaults__),
        ]  # fmt: skip
        for cell in function.__closure__ or ():
            try:
                parts.append(self._bound(cell.cell_contents))
            except ValueError:
                parts.append(b"empty cell")
        names, loaded = names_of(function.__code__)
        if IMPORTED in loaded:
            raise UndigestibleError(f"{function.__qualname__} imports")
        for name in sorted(loaded):
            if name in function.__globals__:
                parts += [name, self._bound(function.__globals__[name], names)]
            elif name in vars(builtins) and not _is_known(vars(builtins)[name]):
                parts += [name, self._bound(vars(builtins)[name], names)]
        for added in extensions.of_function(function):
            parts.append(self.of(added))
        return parts

    def _bound(self, value: Any, names: frozenset[str] = frozenset()) -> bytes:
        """Return the hash of what a name stands for, which could come to stand for another."""
        movable = (*PLAIN, tuple, list, dict, set, frozenset, np.ndarray, np.generic, enum.Enum)
        self.constants += isinstance(value, movable)
        return self.of(value, names)

    def _code(self, code: python_types.CodeType) -> list[Any]:
        return [code.co_code, code.co_exceptiontable, code.co_names, code.co_varnames,
                code.co_freevars, code.co_cellvars, code.co_argcount, code.co_posonlyargcount,
                code.co_kwonlyargcount, code.co_flags, *map(self.of, code.co_consts)]  # fmt: skip

    def _class(self, kind: Any) -> list[Any]:
        if isinstance(kind, JitClassType):
            raise UndigestibleError(f"the jitclass {kind.__qualname__}")
        parts = [kind.__module__, kind.__qualname__]
        if _is_known(kind):
            return parts
        parts += [self.of(base) for base in kind.__bases__]
        if issubclass(kind, enum.Enum):
            for name, member in kind.__members__.items():
                parts += [name, self.of(member.value)]
        elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
            parts += [*kind._fields, self.of(kind._field_defaults)]
        else:
            for name in sorted(vars(kind).keys() - NOT_OF_A_CLASS):
                parts += [name, self.of(vars(kind)[name])]
        return parts

    def _value(self, value: Any) -> list[Any]:
        kind = type(value)
        if isinstance(value, enum.Enum):
            return [self.of(kind), value.name]
        if kind in (tuple, list) or (isinstance(value, tuple) and hasattr(value, "_fields")):
            return [self.of(kind), *map(self.of, value)]
        if kind in (set, frozenset):
            return sorted(map(self.of, value))
        if kind is dict:
            return sorted(self.of(name) + self.of(item) for name, item in value.items())
        if (kind is np.ndarray or isinstance(value, np.generic)) and not value.dtype.hasobject:
            return [repr(value.dtype), value.shape, value.tobytes()]
        if isinstance(value, _Intrinsic):
            return [self.of(value._defn)]
        if kind is property:
            return [self.of(value.fget), self.of(value.fset)]
        if kind in (staticmethod, classmethod):
            return [self.of(value.__func__)]
        if isinstance(value, types.ExternalFunction):
            return [value.symbol, self.of(value.sig)]
        if kind is Signature:
            return [type_text(value.return_type), *map(type_text, value.args)]
        if isinstance(value, types.Type):
            return [self.of(kind), type_text(value)]
        if isinstance(value, ir.Type) or (isinstance(value, np.dtype) and not value.hasobject):
            return [repr(value)]
        if _is_known(value):
            return [_home(value), value.__name__]
        raise UndigestibleError(f"{kind.__qualname__} in a compiled function")


def digest_of(function: Any) -> tuple[str, list[Any]]:
    """Return what a function under Numba means, and every such function that it reaches."""
    digest = Digest()
    parts = [digest.of(function), *VERSIONS, *(getattr(config, name, "") for name in SETTINGS)]
    extending = Digest()
    for added in extensions.of_numba():
        parts.append(_of_extension(extending, added))
    for reached, meaning in digest.functions:
        if reached is not function:
            _require_same(reached, meaning)
        elif not function.overloads or _compiled_as.get(function) != meaning:
            _compiled_as[function] = MIXED if function.overloads else meaning
    return _hashed(*parts).hex(), [reached for reached, _ in digest.functions]


def _of_extension(digest: Digest, added: Any) -> bytes:
    try:
        return digest.of(added)
    except UndigestibleError:
        version = extensions.installed_version(added)
        if version is None:
            raise
        return _hashed(added.__module__, added.__qualname__, version)


def _require_same(function: Any, meaning: bytes) -> None:
    """Refuse a function whose code is there already, and is not known to mean the same."""
    if not function.overloads:
        _compiled_as[function] = meaning
        return
    if function._cache_hits and not hasattr(function._cache, "by_meaning"):
        raise UndigestibleError(f"{function.py_func.__qualname__} comes from a cache of Numba's")
    if function not in _compiled_as:
        alone = Digest()
        alone.of(function)
        if alone.constants:
            raise UndigestibleError(f"{function.py_func.__qualname__} was compiled before")
        _compiled_as[function] = meaning
    if _compiled_as[function] != meaning:
        raise UndigestibleError(f"{function.py_func.__qualname__} was compiled with other values")


def type_text(kind: Any) -> str:
    """Return a Numba type as text that is the same in every process."""
    if isinstance(kind, tuple):
        return ", ".join(map(type_text, kind))
    if isinstance(kind, types.BaseNamedTuple):  # type: ignore[attr-defined]
        name = Digest().of(kind.instance_class).hex()
        return f"{name}({', '.join(map(type_text, kind.types))})"
    if isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
        return f"({', '.join(map(type_text, kind))})"
    if isinstance(kind, types.Array):
        return f"{kind} of {type_text(kind.dtype)}"
    if isinstance(kind, (types.EnumMember, types.EnumClass)):
        return f"{kind} {Digest().of(kind.instance_class).hex()}"
    text = str(kind)
    if "jitclass" in text or isinstance(kind, (types.Dispatcher, types.FunctionType)):
        raise UndigestibleError(f"the type {kind}")
    return text


def _hashed(*words: Any) -> bytes:
    """Return the hash of words, each with its length, so that no two sequences look alike."""
    octets = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return hashlib.sha256(
        b"".join([part for word in octets for part in (len(word).to_bytes(8, "little"), word)])
    ).digest()


def _home(value: Any) -> str:
    """Return the module that something comes from; empty if it does not say."""
    if isinstance(value, python_types.ModuleType):
        return value.__name__
    if isinstance(value, np.ufunc):
        return "numpy"
    home = getattr(value, "__module__", None) or getattr(type(value), "__module__", "")
    return str(home) if callable(value) else ""


def _is_known(value: Any) -> bool:
    """Tell whether a package that is known has this under the name that it bears."""
    home = _home(value)
    if not has_version(home):
        return False
    try:
        return operator.attrgetter(value.__qualname__)(sys.modules[home]) is value
    except (AttributeError, KeyError, TypeError):
        return getattr(sys.modules.get(home), getattr(value, "__name__", ""), None) is value


@lru_cache(maxsize=1 << 14)
def names_of(code: python_types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return all names in a code, attributes too, and those that it loads as globals."""
    names, loaded = set(code.co_names), set()
    extended = 0
    for step, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        place = extended | low
        extended = place << 8 if step == opmap["EXTENDED_ARG"] else 0
        if step == opmap["LOAD_GLOBAL"]:
            loaded.add(code.co_names[place >> 1])
        elif step == opmap["LOAD_NAME"]:
            loaded.add(code.co_names[place])
        elif step == opmap["IMPORT_NAME"] and not has_version(code.co_names[place]):
            loaded.add(IMPORTED)
    for constant in code.co_consts:
        if isinstance(constant, python_types.CodeType):
            more_names, more_loaded = names_of(constant)
            names, loaded = names | more_names, loaded | more_loaded
    return frozenset(names), frozenset(loaded)
