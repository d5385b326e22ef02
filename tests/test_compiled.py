"""Compiled code found again by what it means: never old, never of another, never half."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import config
from numba.core.registry import cpu_target

from broadfront import cache
from broadfront.kernel import inner, kernel

SCRIPT = """
import sys
import numpy as np
import broadfront as bf

def write_one(vertex, state):
    state.number[vertex] = 1

def write_two(vertex, state):
    state.number[vertex] = 2

graph = bf.from_edges([0], [1])
for functor in [(write_one, write_two)[int(name) - 1] for name in sys.argv[1:]]:
    program = bf.Program({"number": bf.Field(np.int64)}, step=[bf.Compute(functor)])
    answer = bf.run(program, graph)
    print(answer["number"][0], answer.record.compile_seconds > 0)
"""


def run_script(script: str, *arguments: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], env={**os.environ, **environment},
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_loops_kept_by_several_processes_do_not_mix(tmp_path: Path) -> None:
    """The parts of both loops have the same names and types, and are the first to be compiled."""

    def answers(*names: str) -> list[str]:
        return run_script(SCRIPT, *names, NUMBA_CACHE_DIR=str(tmp_path))

    answers()  # compiles what a graph needs, so that the next two compile only their loops
    assert answers("1") == ["1 True"]
    assert answers("2") == ["2 True"]
    assert answers("1", "2") == ["1 False", "2 False"]
    assert answers("2", "1") == ["2 False", "1 False"]


LIMITS = """
import sys
import numpy as np
import broadfront as bf

def write_limit(vertex, state):
    state.number[vertex] = LIMIT

plain, weighted = bf.from_edges([0], [1]), bf.from_edges([0], [1], [0.5])
program = bf.Program({"number": bf.Field(np.int64)}, step=[bf.Compute(write_limit)])
for word in sys.argv[1:]:
    if word.isdigit():
        LIMIT = int(word)
    else:
        print(bf.run(program, weighted if word == "weighted" else plain)["number"][0])
"""


def test_a_limit_that_changed_is_not_kept_under_the_old_one(tmp_path: Path) -> None:
    """The loop is compiled twice, for two kinds of graph, and once under each limit."""
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run_script(LIMITS, "5", "plain", "10", "weighted", **place)[0] == "5"
    assert run_script(LIMITS, "5", "weighted", **place) == ["5"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "_warned", False)
    return tmp_path / "broadfront"


def adder(limit: int, with_part: bool = False) -> tuple[Any, dict[str, Any]]:
    """Return a kernel that adds LIMIT, or has a part that does, and its globals."""
    scope: dict[str, Any] = {"LIMIT": limit, "__name__": __name__}
    called = "more(x)" if with_part else "x + LIMIT"
    exec(f"def more(x): return x + LIMIT\ndef add(x): return {called}", scope)
    scope["more"] = inner(scope["more"])
    return kernel(scope["add"]), scope


def compiled_now(function: Any) -> bool:
    """Tell whether all code of a kernel was compiled, and none found."""
    return not function._cache_hits


def test_a_kernel_is_found_again(here: Path) -> None:
    assert adder(5)[0](1) == 6
    again = adder(5)[0]
    assert again(1) == 6
    assert not compiled_now(again)
    other = adder(6)[0]
    assert other(1) == 7
    assert compiled_now(other)


@pytest.mark.parametrize("with_part", [False, True])
def test_a_second_signature_is_kept_under_newer_values(here: Path, with_part: bool) -> None:
    first, scope = adder(5, with_part)
    assert first(1) == 6
    scope["LIMIT"] = 10
    assert first(0.5) == 10.5
    for limit in (5, 10):
        assert adder(limit, with_part)[0](0.5) == limit + 0.5
        assert adder(limit, with_part)[0](1) == limit + 1


@pytest.mark.parametrize("changes", [False, True])
def test_a_kernel_within_another(here: Path, changes: bool) -> None:
    """It was called by itself before; what calls it is kept only if its code is of one value."""
    first, scope = adder(5)
    assert first(1) == 6
    if changes:
        scope["LIMIT"] = 10
        assert first(0.5) == 10.5
        scope["LIMIT"] = 5
    exec("def twice(x): return add(add(x))", scope)
    scope["add"] = first
    assert kernel(scope["twice"])(0.5) == (20.5 if changes else 10.5)
    names = [kept.path.name for kept in cache.survey()]
    assert any(name.startswith("twice") for name in names) is not changes


def test_a_value_that_changes_while_compiling_is_not_kept(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, scope = adder(5)
    compile_it = first._compiler.compile

    def changing(*arguments: Any) -> Any:
        scope["LIMIT"] = 10
        return compile_it(*arguments)

    monkeypatch.setattr(first._compiler, "compile", changing)
    assert first(1) == 11
    assert cache.survey() == []


def test_a_helper_in_a_cache_of_numba_is_compiled_anew(here: Path, tmp_path: Path) -> None:
    """Numba does not notice that a constant from another file has changed."""
    (tmp_path / "limits.py").write_text("LIMIT = 5\n")
    (tmp_path / "helpers.py").write_text(
        "import numba\nfrom limits import LIMIT\n"
        "@numba.njit(cache=True)\ndef add(x): return x + LIMIT\n"
    )
    script = "from helpers import add\nfrom broadfront.kernel import kernel\n" \
             "def twice(x): return add(add(x))\nprint(kernel(twice)(0))"  # fmt: skip
    place = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}",
             "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    assert run_script("from helpers import add; print(add(0))", **place) == ["5"]
    assert run_script(script, **place) == ["10"]
    (tmp_path / "limits.py").write_text("LIMIT = 50\n")
    assert run_script(script, **place) == ["100"]


def test_any_flipped_bit_is_noticed(here: Path) -> None:
    assert adder(5)[0](1) == 6
    (kept,) = cache.survey()
    whole = kept.path.read_bytes()
    for place in range(0, len(whole), len(whole) // 12):
        broken = bytearray(whole)
        broken[place] ^= 4
        kept.path.write_bytes(broken)
        again = adder(5)[0]
        assert again(1) == 6
        assert compiled_now(again)
        assert kept.path.read_bytes()[: len(cache.MARK)] == cache.MARK


class Bomb:
    """What runs code when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.putenv, ("BROADFRONT_BOMB", "gone off")


def test_a_plain_pickle_is_not_even_read(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert adder(5)[0](1) == 6
    (kept,) = cache.survey()
    kept.path.write_bytes(pickle.dumps(Bomb()))
    seen: list[bytes] = []
    monkeypatch.setattr(pickle, "loads", seen.append)
    assert adder(5)[0](1) == 6
    assert seen == []


UNWRITABLE = """
import warnings
import broadfront as bf
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert bf.generate("star:5").num_edges == 4
print(*[str(one.message) for one in caught if one.category is RuntimeWarning], sep="\\n")
"""


def test_a_home_that_is_none_costs_one_warning() -> None:
    said = run_script(UNWRITABLE, HOME="/dev/null", XDG_CACHE_HOME="", NUMBA_CACHE_DIR="")
    assert len(said) == 1
    assert "compiled code is not kept on disk" in said[0]


def test_what_is_dropped_leaves_the_compiler(here: Path) -> None:
    """Its intermediate code does; LLVM keeps the machine code until the process ends."""

    def modules() -> int:
        gc.collect()
        assert adder(1)[0](True) == 2  # lets go what was dropped before
        return len(cpu_target.target_context.codegen()._engine._ee._modules)

    modules()
    before = modules()
    for limit in range(5):
        adder(limit)[0](1)
    assert modules() <= before + 1
    assert numba.njit(lambda x: x + 1)(1) == 2  # noqa: TID251
