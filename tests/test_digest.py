"""What a compiled function means: told apart by all that it reaches, or not told at all."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import numba
import pytest
from numba.core import config

from broadfront.digest import UndigestibleError, digest_of, type_text
from broadfront.unfinished import part

HEAD = """
import enum, math
from typing import NamedTuple
import numba, numpy as np
from numba.extending import overload, register_jitable
"""
TAIL = """
@numba.njit
def function(x):
    return {used}
"""


@pytest.fixture
def modules() -> Iterator[list[str]]:
    """Names of modules that are forgotten afterwards."""
    names: list[str] = []
    yield names
    for name in names:
        del sys.modules[name]


def meaning(modules: list[str], text: str, used: str, name: str = "of_a_user") -> str | None:
    """Return what `function` means, which uses what a module defines; None if that is not told."""
    module = types.ModuleType(name)
    module.__file__ = f"{name}.py"
    sys.modules[name] = module
    modules[:] = [name]
    exec(compile(HEAD + text + TAIL.format(used=used), f"{name}.py", "exec"), vars(module))
    try:
        return digest_of(module.function)[0]
    except UndigestibleError:
        return None


OVERLOAD = """
def helper(x): raise NotImplementedError
@overload(helper)
def _helper(x):
    return lambda x: x + {}
"""
RECURSIVE = """
@numba.njit
def even(n): return n == {} or odd(n - 1)
@numba.njit
def odd(n): return n != 0 and even(n - 1)
"""
TOLD_APART = {
    "a global": ("LIMIT = {}", "x + LIMIT"),
    "a global of another kind": ("LIMIT = {} > 1", "x + LIMIT"),
    "a member of an enumeration": ("class Kind(enum.IntEnum):\n A = {}", "x + Kind.A"),
    "an array": ("TABLE = np.array([1, {}])", "TABLE[x]"),
    "a tuple": ("TABLE = (1, {})", "TABLE[x]"),
    "an attribute of a module": ("np.of_a_user = {}", "x + np.of_a_user"),
    "a compiled function": ("@numba.njit\ndef helper(x): return x + {}", "helper(x)"),
    "options of a compiled function": ("@numba.njit(fastmath={} > 1)\ndef helper(x): return x",
                                       "helper(x)"),
    "an overload": (OVERLOAD, "helper(x)"),
    "a jitable function": ("@register_jitable\ndef helper(x): return x + {}", "helper(x)"),
    "default arguments": ("@numba.njit\ndef helper(x, y={}): return x + y", "helper(x)"),
    "defaults of a named tuple": ("class Pair(NamedTuple):\n a: int\n b: int = {}", "Pair(x).b"),
    "functions that call each other": (RECURSIVE, "even(x)"),
    "an exception": ("class Wrong(Exception):\n def __str__(self): return str({})",
                     "1 // x if x else Wrong"),
}  # fmt: skip


@pytest.mark.parametrize("case", TOLD_APART)
def test_what_differs_is_told_apart(case: str, modules: list[str]) -> None:
    text, used = TOLD_APART[case]
    first = meaning(modules, text.format(1), used)
    assert first is not None
    assert meaning(modules, text.format(1), used) == first
    assert meaning(modules, "# a comment\n" + text.format(1), used) == first
    assert meaning(modules, text.format(2), used) not in (first, None)


@pytest.mark.parametrize("case", ["a member of an enumeration", "a jitable function"])
def test_a_module_called_as_one_of_python(case: str, modules: list[str]) -> None:
    text, used = TOLD_APART[case]
    first = meaning(modules, text.format(1), used, "turtle")
    assert first is not None
    assert meaning(modules, text.format(1), used, "turtle") == first
    assert meaning(modules, text.format(2), used, "turtle") not in (first, None)


JITCLASS = """
@numba.experimental.jitclass([("a", numba.int64)])
class Box:
    def __init__(self, a): self.a = a
"""
NOT_TOLD = {
    "a ufunc": ("@numba.vectorize\ndef helper(x): return x + 1", "helper(x)"),
    "a compiled ufunc": ('@numba.vectorize(["int64(int64)"])\ndef helper(x): return x + 1',
                         "helper(x)"),
    "a compiled class": (JITCLASS, "Box(x).a"),
    "a callback": ('@numba.cfunc("int64(int64)")\ndef helper(x): return x + 1', "helper(x)"),
    "an array of objects": ("TABLE = np.array([None])", "TABLE"),
    "a subclass of int": ("class Odd(int): pass\nLIMIT = Odd(5)", "x + LIMIT"),
    "a lambda under the name of another's": (
        "helper = np.frompyfunc(lambda x: x, 1, 1)", "helper(x)"),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_TOLD)
def test_what_is_not_certain_is_not_told(case: str, modules: list[str]) -> None:
    assert meaning(modules, *NOT_TOLD[case]) is None


def test_settings_of_numba_are_part_of_it(
    modules: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unchecked = meaning(modules, "", "x")
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    assert meaning(modules, "", "x") != unchecked


def test_modules_that_refer_to_each_other(modules: list[str]) -> None:
    module = types.ModuleType("of_a_user")
    other = types.ModuleType("of_a_user.other")
    sys.modules["of_a_user"] = module
    modules.append("of_a_user")
    vars(module).update(other=other, LIMIT=5)
    vars(other).update(of_a_user=module)
    text = "import of_a_user\ndef function(x): return of_a_user.other.of_a_user.LIMIT"
    scope: dict[str, Any] = {}
    exec(text, scope)
    compiled = numba.njit(scope["function"])  # noqa: TID251
    first = digest_of(compiled)[0]
    vars(module)["LIMIT"] = 6
    assert digest_of(compiled)[0] != first


def test_code_that_is_older_than_a_value_is_not_told() -> None:
    """A part that was compiled is linked in as it is, whatever its globals are by now."""
    scope: dict[str, Any] = {"LIMIT": 5}
    exec("def add(x): return x + LIMIT\ndef outer(x): return add(x)", scope)
    scope["add"] = part(scope["add"])
    outer = numba.njit(scope["outer"])  # noqa: TID251
    with_five = digest_of(outer)[0]
    assert outer(1) == 6
    assert digest_of(outer)[0] == with_five
    scope["LIMIT"] = 10
    with pytest.raises(UndigestibleError, match="other values"):
        digest_of(outer)


@pytest.mark.parametrize("constant", [True, False])
def test_a_helper_compiled_before_it_was_seen(constant: bool) -> None:
    scope: dict[str, Any] = {"LIMIT": 5}
    exec(f"def add(x): return x + {'LIMIT' if constant else 5}\ndef outer(x): return add(x)", scope)
    scope["add"] = numba.njit(scope["add"])  # noqa: TID251
    outer = numba.njit(scope["outer"])  # noqa: TID251
    assert scope["add"](1) == 6
    if constant:
        with pytest.raises(UndigestibleError, match="compiled before"):
            digest_of(outer)
    else:
        assert digest_of(outer)


def test_types_are_told_by_what_they_hold(modules: list[str]) -> None:
    texts = []
    for value in (1, 2):
        meaning(modules, f"class Kind(enum.IntEnum):\n A = {value}", "x")
        texts.append(type_text(numba.typeof(sys.modules["of_a_user"].Kind.A)))
    assert texts[0] != texts[1]
    assert type_text(numba.int64[::1]) != type_text(numba.int64[:])
