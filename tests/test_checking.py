"""Code that checks every index: by the option of a call, and by the environment for everything."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Program, atomics, checking
from broadfront.backends.cpu.loop.fused import fused
from broadfront.cli.main import main
from broadfront.digest import digest_of
from broadfront.errors import BoundsError
from broadfront.kernel import inner, kernel
from checked_runs import PRIMITIVES, answers

ALL_CHECKED = pytest.mark.skipif(checking.ALWAYS, reason="everything is checked here")
TABLE = np.arange(4)
READ, WRITE, ADD, LOOK_UP = range(4)


def wrong_place(vertex, state):
    if state.how == READ:
        state.other[vertex] = state.given[vertex + state.shift] + 1
    elif state.how == WRITE:
        state.found[vertex + state.shift] = 1
    elif state.how == ADD:
        atomics.add(state.counted, vertex + state.shift, 1)
    else:
        state.other[vertex] = TABLE[vertex + state.shift]


def past_the_edge(source, neighbor, edge, state):
    return state.depth[source] + 1 + 0 * state.targets[edge + state.shift]


ANYWHERE = Program(
    {name: Field(np.int64) for name in ("found", "counted", "other", "given")},
    step=[Compute(wrong_place)], parameters=["how", "shift"],
)  # fmt: skip
ALONG = Program(
    {"depth": Field(np.int32, fill=99, combine="min")},
    step=[Advance(past_the_edge, into="depth")], parameters=["shift"],
)  # fmt: skip


@pytest.fixture
def ring() -> bf.Graph:
    return bf.from_edges([0, 1, 2, 3], [1, 2, 3, 0])


def along(graph: bf.Graph, shift: int, go: Any = bf.run, **options: Any) -> Any:
    return go(
        ALONG, graph, frontier=[0], init={"depth": {0: 0}}, parameters={"shift": shift},
        checked=True, **options,
    )  # fmt: skip


@pytest.mark.parametrize("how", [READ, WRITE, ADD, LOOK_UP])
def test_an_index_outside_a_field_raises(ring: bf.Graph, how: int) -> None:
    def run(shift: int) -> bf.Answer:
        return bf.run(ANYWHERE, ring, parameters={"how": how, "shift": shift}, checked=True)

    run(0)
    array = ("state.given", "state.found", "state.counted", "TABLE")[how]
    with pytest.raises(
        BoundsError, match=f"wrong_place: {array} has 4 places, index 1,00[0-3]"
    ) as raised:
        run(1000)
    assert raised.value.function == "wrong_place"
    assert (raised.value.array, raised.value.length) == (array, 4)
    if how != LOOK_UP:  # NumPy's arrays count from their end
        with pytest.raises(IndexError, match="index -1"):
            run(-1)
    run(0)


@numba.njit  # noqa: TID251
def of_a_user(values, place):
    return values[place]


def asks_another(vertex, state):
    state.found[vertex] = of_a_user(state.other, vertex + 10)


def test_functions_of_the_user_check_fields(ring: bf.Graph) -> None:
    program = Program(ANYWHERE.fields, step=[Compute(asks_another)])
    with pytest.raises(BoundsError, match="of_a_user: state.other has 4 places, index 1[0-3]"):
        bf.run(program, ring, checked=True)


def test_many_sources(ring: bf.Graph) -> None:
    assert along(ring, 0, bf.run_each)["depth"].tolist() == [[0, 1, 2, 3]]
    with pytest.raises(BoundsError, match="past_the_edge: state.targets has 4 places, index 1,000"):
        along(ring, 1000, bf.run_each)


def test_other_functions_raise_as_numba_does(ring: bf.Graph) -> None:
    along(ring, 0)
    look = numba.njit(lambda numbers, place: numbers[place], boundscheck=True)  # noqa: TID251
    with pytest.raises(IndexError, match="index is out of bounds") as raised:
        look(np.zeros(3), 3)
    assert not isinstance(raised.value, BoundsError)


def test_the_error_can_be_pickled() -> None:
    error = pickle.loads(pickle.dumps(BoundsError("look", "state.found", 7, 4)))
    assert str(error) == "look: state.found has 4 places, index 7"
    assert error.index == 7


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    main(["bfs", "path:5", "--checked", "--quiet"])
    assert "5" in capsys.readouterr().out


# ---------------------------------------------------------------------- kept apart


def names_of(program: Program) -> tuple[str, ...]:
    return program.state_names


@ALL_CHECKED
def test_checked_and_unchecked_loops_are_kept_apart(ring: bf.Graph) -> None:
    vertex = ring.targets.dtype
    program = Program({"depth": ALONG.fields["depth"]}, step=ALONG.step, parameters=["shift"])
    given: dict[str, Any] = {"init": {"depth": {0: 0}}, "parameters": {"shift": 0}}
    for checked in (False, True, False):
        bf.run(program, ring, frontier=[0], checked=checked, **given)
    names = names_of(program)
    kept = {key[:2] for key in program._loops if isinstance(key, tuple)}
    assert {((vertex, False, names), True), ((vertex, False, names), False)} <= kept

    def meaning(checked: bool) -> str:
        with checking.checks(checked):
            return digest_of(fused(program, names))[0]

    assert meaning(False) == meaning(False) != meaning(True) == meaning(True)


@ALL_CHECKED
def test_what_is_made_without_the_switch_is_not_checked() -> None:
    with checking.checks(True):
        assert inner(wrong_place).targetoptions["boundscheck"]
        assert kernel(wrong_place).targetoptions["boundscheck"]
    assert inner(wrong_place).targetoptions["boundscheck"] is None
    assert kernel(wrong_place).targetoptions["boundscheck"] is None


def test_checked_loops_are_kept_on_disk() -> None:
    with checking.checks(True):
        for program in (ANYWHERE, ALONG):
            digest_of(fused(program, names_of(program)))


# ---------------------------------------------------------------------- by the environment


def with_switch(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=600,
        env={**os.environ, "BROADFRONT_CHECKED": "1",
             "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parent)])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("given", ["0", "1"])
@pytest.mark.parametrize("name", ["BROADFRONT_CHECKED", "NUMBA_BOUNDSCHECK"])
def test_either_switch(name: str, given: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from broadfront import checking; print(checking.ALWAYS)"],
        env={**os.environ, "BROADFRONT_CHECKED": "", "NUMBA_BOUNDSCHECK": "0", name: given},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"{given == '1'}\n"


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_all_primitives_with_checks(primitive: str) -> None:
    checked = json.loads(with_switch(str(Path(__file__).with_name("checked_runs.py")), primitive))
    unchecked = answers(primitive, alone=True)
    for one, other in zip(checked[primitive], unchecked, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


KERNELS = """
import numpy as np
from broadfront import atomics
from broadfront.kernel import inner, kernel
from broadfront.pointers import pointer, shifted

TABLE = np.arange(5)

@inner
def second(pairs, place):
    return pairs[0, place]

@kernel
def look(numbers, pairs, place):
    return numbers[place] + second(pairs, place) + TABLE[place]

@kernel
def point(numbers, place, shift):
    return shifted(pointer(numbers), shift)[place]

@kernel
def count(numbers, place):
    atomics.add(numbers, place, 1)

for function, arguments in (
    (look, (np.zeros(2), np.zeros((1, 9)), 2)),
    (look, (np.zeros(9), np.zeros((1, 3)), 3)),
    (look, (np.zeros(9), np.zeros((1, 9)), 5)),
    (point, (np.zeros(4), 3, 1)),
    (point, (np.zeros(4), -1, 1)),
    (count, (np.zeros(2), 10)),
):
    try:
        print(function(*arguments))
    except IndexError as error:
        print(error)
print(point(np.arange(4), 2, 1))
"""


def test_kernels_name_what_they_index() -> None:
    assert with_switch("-c", KERNELS).splitlines() == [
        "look: numbers has 2 places, index 2",
        "second: axis 1 of pairs has 3 places, index 3",
        "look: TABLE has 5 places, index 5",
        "point: an array has 3 places, index 3",
        "point: an array has 3 places, index -1",
        "count: numbers has 2 places, index 10",
        "3",
    ]
