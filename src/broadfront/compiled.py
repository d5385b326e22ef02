"""Compiled functions found again on disk by what they mean.

Numba's own cache goes by file and time stamp, and never hits for a loop that closes over a user's
functor. Here the key is a hash of all that the function means (`broadfront.digest`), the types of
its arguments and the processor. An edited functor, helper or constant is another key; an edited
comment is not.

Invariant: what is kept was compiled under the very values that its key says. They are looked at
just before compiling and just after; if they differ, or cannot be told, nothing is kept.

In machine code Numba tells functions of one name and type apart by a number, which it counts up in
each process from 1. So two loops kept by two processes could hold different functions under one
name, and where both are loaded, the second would call those of the first. Here every process counts
from a random number.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import weakref
from typing import Any

from numba.core.bytecode import FunctionIdentity
from numba.core.caching import Cache, _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from broadfront import cache
from broadfront.digest import UndigestibleError, digest_of, type_text


class CacheByMeaning(_Cache):  # type: ignore[misc]
    """What Numba asks for code that was compiled before; a file that cannot be read is absent."""

    by_meaning = True

    def __init__(self, function: Any) -> None:
        self._function = weakref.ref(function)
        name = function.py_func.__name__
        self._name = name if name.isidentifier() else "function"
        self._asked: dict[Any, bytes] = {}
        """What the function meant when code was asked for and not there."""

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return str(cache.folder())

    def enable(self) -> None:
        """Do nothing: this cache is always on."""

    def disable(self) -> None:
        """Do nothing: this cache is always on."""

    def flush(self) -> None:
        """Do nothing: there is no index."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled function for `signature`, or None."""
        target_context.refresh()
        _forget_dropped(target_context.codegen())
        arguments = _arguments(signature)
        try:
            key, reached = self._key(arguments, target_context.codegen())
        except UndigestibleError:
            return None
        content = cache.read(self._name, key)
        if content is not None:
            try:
                found = CompileResult._rebuild(target_context, *pickle.loads(content))
            except Exception:  # it names a module that is not here: compile
                pass
            else:
                self._release_with_function(found)
                return found
        self._asked[arguments] = key
        _use_numba_caches(reached, False)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled function, unless it may mean something else than when it was asked."""
        self._release_with_function(compiled)
        asked = self._asked.pop(_arguments(signature), None)
        if asked is None:
            return
        try:
            key, reached = self._key(_arguments(signature), compiled.codegen)
        except UndigestibleError:
            return
        _use_numba_caches(reached, True)
        if key == asked and not compiled.library.has_dynamic_globals and not compiled.lifted:
            cache.write(self._name, key, dumps(compiled._reduce()))

    def _release_with_function(self, compiled: Any) -> None:
        """Let the code's intermediate form go when the function goes; Numba would keep it."""
        weakref.finalize(self._function(), _dropped.append, compiled.library._final_module)

    def _key(self, arguments: tuple[Any, ...], codegen: Any) -> tuple[bytes, list[Any]]:
        meaning, reached = digest_of(self._function())
        words = [meaning, *map(type_text, arguments), repr(codegen.magic_tuple())]
        return hashlib.sha256("\n".join(words).encode()).digest(), reached


_dropped: list[Any] = []
"""Modules of functions that are gone; LLVM lets them go when it is not in the midst of others."""


def _forget_dropped(codegen: Any) -> None:
    engine = codegen._engine._ee
    while _dropped:
        module = _dropped.pop()
        if module in engine._modules:
            engine.remove_module(module)


def _arguments(signature: Any) -> tuple[Any, ...]:
    return signature if isinstance(signature, tuple) else tuple(signature.args)


def _use_numba_caches(functions: list[Any], whether: bool) -> None:
    """Let functions use caches of Numba's or not: these do not notice a constant that changed."""
    for function in functions:
        if isinstance(function._cache, Cache):
            function._cache._enabled = whether


def kept_on_disk(function: Any) -> Any:
    """Give a function under Numba a cache that goes by meaning."""
    function._cache = CacheByMeaning(function)
    return function


def _count_from_anywhere() -> None:
    FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(6), "little"))


_count_from_anywhere()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_from_anywhere)
