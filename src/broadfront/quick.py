"""Numba's front end without work that is done again and again, while a kernel is compiled.

A loop on several devices is some 150 functions of 100 statements each. Around them Numba

- collects garbage, over and over, in which there is little but what it still needs;
- looks which variables live where, after each of its passes, though only the last one asks;
- tries all ways to type ``a + b`` at each ``+``, though the types are those of the one before;
- goes through all members of a tuple for reference counts, at each place where it is dropped;
- hashes the types of all members of a tuple anew, at each of them that it looks up;
- lists all options of compiling, to hash a set of them or to compare two;
- looks for the ends of ``with`` in functions that have none;
- tells everybody who wants to know of each call of LLVM, for clocks that are read by nobody.

Here the first waits, the second is done when something asks, the next four are remembered and the
last two are not done.

Invariants: the code that comes out is the same. All of it is undone when the kernel is compiled,
and happens under Numba's lock: nobody else compiles meanwhile.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import ffi
from numba.core import interpreter, ir, postproc
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import ForceLiteralArg
from numba.core.sigutils import normalize_signature
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.transforms import canonicalize_cfg
from numba.core.types import Type
from numba.core.types.functions import BaseFunction

_try_all_templates = BaseFunction.get_call_type
_compare_options, _hash_names = TargetConfig.__eq__, TargetConfig.__hash__
_take_out_exits = interpreter.peep_hole_delete_with_exit
_typed: dict[tuple[int, ...], tuple[Any, ...]] = {}
"""What a call of a function with arguments of some types was found to be, by their identities."""
_flags: dict[int, tuple[Any, int]] = {}
_flag_numbers: dict[Any, int] = {}
_counted: dict[int, tuple[Any, bool]] = {}
"""Types, by their identities, and whether values hold something with a reference count."""
_hashes: dict[int, tuple[int, Any]] = {}
"""Hashes of types, by their identities."""
_option_hashes: dict[type, int] = {}


class LazyPostProcessor(postproc.PostProcessor):  # type: ignore[misc]
    """What Numba does after each pass, but for what nothing asks for."""

    def run(self, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        """Tidy the blocks; see where variables live only if they are to be dropped."""
        flags = ConfigStack.top_or_none()
        for_python = flags is None or flags.force_pyobject
        if emit_dels or for_python or self.func_ir.is_generator:
            super().run(emit_dels, extend_lifetimes)
        else:
            self.func_ir.blocks = canonicalize_cfg(self.func_ir.blocks)
            self.func_ir.variable_lifetime = postproc.VariableLifetime(self.func_ir.blocks)
            self.func_ir.generator_info = None


def _remember_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of a call, and know it the next time; errors are found anew."""
    if kws:
        return _try_all_templates(self, context, args, kws)
    key = (id(self), id(context), _number_of_flags(), *map(id, args))
    if key in _typed:
        known, implementation, *_ = _typed[key]
        self._impl_keys[known.args] = implementation
        return known
    signature: Any = _try_all_templates(self, context, args, kws)
    if signature.return_type.is_precise():
        implementation = self._impl_keys[signature.args]
        _typed[key] = (signature, implementation, self, context, args)
    return signature


def _number_of_flags() -> int:
    """Return a number that stands for how the function is to be compiled that is typed now."""
    flags = ConfigStack.top_or_none()
    if id(flags) not in _flags:
        _flags[id(flags)] = (flags, _flag_numbers.setdefault(flags, len(_flag_numbers)))
    return _flags[id(flags)][1]


def _list_variables(self: Any, value: Any) -> list[Any]:
    """Return the variables in a part of an instruction."""
    found: list[Any] = []
    if type(self) is ir.Assign and value is self.__dict__:
        found.append(self.target)
        value = self.value
    _add_variables(value, found)
    return found


def _add_variables(value: Any, found: list[Any]) -> None:
    try:
        kind = _kinds[type(value)]
    except KeyError:
        kind = _kinds[type(value)] = next(
            (number for number, kinds in _KINDS if isinstance(value, kinds)), _PLAIN
        )
    if kind == _PLAIN:
        return
    if kind == _VARIABLE:
        found.append(value)
    elif kind == _EXPRESSION:
        for part in value._kws.values():
            _add_variables(part, found)
    elif kind == _INSTRUCTION:
        found += value.list_vars()
    else:
        for part in value.values() if kind == _NAMED else value:
            _add_variables(part, found)


_PLAIN, _VARIABLE, _EXPRESSION, _INSTRUCTION, _SEVERAL, _NAMED = range(6)
_KINDS = [
    (_VARIABLE, ir.Var), (_EXPRESSION, ir.Expr), (_INSTRUCTION, ir.Inst),
    (_SEVERAL, (list, tuple)), (_NAMED, dict),
]  # fmt: skip
_kinds: dict[type, int] = {}
"""What values of a Python type are in an instruction."""


def _remember_hash(self: Any) -> int:
    """Return the hash of a type: what it is made of does not change."""
    known = _hashes.get(id(self))
    if known is None:
        known = _hashes[id(self)] = (hash(self.key), self)
    return known[0]


def _options_are_equal(self: Any, other: Any) -> Any:
    """Tell whether two sets of options are alike, where possible by those alone that were set."""
    if self is other or (type(self) is type(other) and self._values == other._values):
        return True
    return _compare_options(self, other)


def _hash_options(self: Any) -> int:
    """Return the hash of a set of options; Numba's goes by their names alone, too."""
    kind = type(self)
    if kind not in _option_hashes:
        _option_hashes[kind] = _hash_names(self)
    return _option_hashes[kind]


def _find_no_exits(func_ir: Any) -> Any:
    """Take variables of ``with`` out where there can be some."""
    has_exits = func_ir.func_id.code.co_exceptiontable
    return _take_out_exits(func_ir) if has_exits else func_ir


def is_counted(models: Any, kind: Any) -> bool:
    """Tell whether values of a type hold something with a reference count.

    Members are those that Numba itself would go through.
    """
    if id(kind) not in _counted:
        model = models[kind]
        members = (member for member, _ in model.traverse(None))
        counted = model.has_nrt_meminfo() or any(is_counted(models, each) for each in members)
        _counted[id(kind)] = (kind, bool(counted))
    return _counted[id(kind)][1]


def compile_without_clocks(function: Any, signature: Any) -> Any:
    """Compile a function that is part of a kernel: nobody asks how long it took."""
    with global_compiler_lock, function._compiling_counter:
        arguments, result = normalize_signature(signature)
        if tuple(arguments) not in function.overloads:
            try:
                function.add_overload(function._compiler.compile(arguments, result))
            except ForceLiteralArg as error:
                fold = function._compiler.fold_argument_types
                raise error.bind_fold_arguments(lambda args, kws: fold(args, kws)[1]) from error
        return function.overloads[tuple(arguments)].entry_point


@contextmanager
def compiling_quickly() -> Iterator[None]:
    """Do all that within the block."""
    with global_compiler_lock:
        if BaseFunction.get_call_type is _remember_call_type:
            yield  # a kernel that is compiled for another
            return
        collecting = gc.isenabled()
        gc.disable()
        told, ffi.lib._lock._cblist = ffi.lib._lock._cblist, []
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in _REPLACED]
        for owner, name, ours in _REPLACED:
            setattr(owner, name, ours)
        try:
            yield
        finally:
            for owner, name, theirs in before:
                setattr(owner, name, theirs)
            ffi.lib._lock._cblist = told
            for remembered in (_typed, _flags, _flag_numbers, _counted, _hashes):
                remembered.clear()
            if collecting:
                gc.enable()


_REPLACED: list[tuple[Any, str, Any]] = [
    (postproc, "PostProcessor", LazyPostProcessor),
    (BaseFunction, "get_call_type", _remember_call_type),
    (ir.Inst, "_rec_list_vars", _list_variables),
    (Type, "__hash__", _remember_hash),
    (TargetConfig, "__eq__", _options_are_equal),
    (TargetConfig, "__hash__", _hash_options),
    (interpreter, "peep_hole_delete_with_exit", _find_no_exits),
]
"""What of Numba's is replaced: where it is, its name, and by what."""
