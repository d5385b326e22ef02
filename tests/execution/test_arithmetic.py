"""Numbers and indices mean the same in Python and compiled, or raise, or are refused by type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import broadfront as bf
from broadfront import atomics
from broadfront.backends.python.numbers import NUMPY, Unsigned, around
from broadfront.errors import BoundsError, FunctorError, RangeError
from broadfront.execution.far import far_names

PYTHON = {"devices": "python"}
CHECKED = {"threads": 1, "checked": True}
TABLE = np.array([5, 2**31 - 1, 7, 8, 9], np.int32)


def path(count: int = 5) -> bf.Graph:
    return bf.generate(f"path:{count}")


def done(functor: Any, fields: Any, where: dict[str, Any], **parameters: int) -> Any:
    """Return the answer of one `Compute` on a path of five vertices."""
    key = (functor, tuple(parameters))
    if key not in _PROGRAMS:
        dtypes = dict.fromkeys(parameters, np.int64)
        _PROGRAMS[key] = bf.Program(fields, step=[bf.Compute(functor)], parameters=dtypes)
    return bf.run(_PROGRAMS[key], path(), frontier=(), parameters=parameters, **where)


_PROGRAMS: dict[Any, bf.Program] = {}


# ---------------------------------------------------------------------- refused by type


def a_half(vertex: int, state: Any) -> None:
    state.whole[vertex] = vertex / 2


def whole_but_real(vertex: int, state: Any) -> None:
    state.whole[vertex] = 2.0 * vertex


def through_a_helper(vertex: int, state: Any) -> None:
    put(state, vertex, 0.5)


@numba.njit  # noqa: TID251
def put(state: Any, vertex: int, number: float) -> None:
    state.whole[vertex] = number


def by_an_atomic(vertex: int, state: Any) -> None:
    atomics.maximum(state.whole, vertex, 0.5)


def mixed_signs(vertex: int, state: Any) -> None:
    state.bits[vertex] = state.bits[vertex] + 1


def minus_unsigned(vertex: int, state: Any) -> None:
    state.whole[vertex] = np.int64(-state.bits[vertex])


def power(vertex: int, state: Any) -> None:
    state.whole[vertex] = 2**vertex


def fields() -> dict[str, bf.Field]:
    return {
        "whole": bf.Field(np.int64), "small": bf.Field(np.int32), "bits": bf.Field(np.uint64),
        "summed": bf.Field(np.int32, combine="sum"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("functor", "words"),
    [
        (a_half, "what is stored into state.whole is of float64.*write int"),
        (whole_but_real, "what is stored into state.whole is of float64.*write int"),
        (through_a_helper, "what is stored into state.whole is of float64.*write int"),
        (by_an_atomic, "what an atomic takes is of float64.*write int"),
        (mixed_signs, "a uint64 meets a signed number.*write np.uint64"),
        (minus_unsigned, "minus an unsigned number.*write -np.int64"),
        (power, "whose exponent may be negative: write float"),
    ],
)
def test_what_python_would_compute_otherwise_is_refused(
    functor: Callable[..., Any], words: str
) -> None:
    with pytest.raises(FunctorError, match=words) as caught:
        done(functor, fields(), {"threads": 1})
    assert f"{__file__}, line " in str(caught.value)


@pytest.mark.parametrize("where", [{"devices": 2}, CHECKED], ids=str)
def test_several_devices_and_checked_runs_refuse_it_too(where: dict[str, Any]) -> None:
    with pytest.raises(FunctorError, match="what is stored into state.whole is of float64"):
        done(a_half, fields(), where)


def half_a_term(vertex: int, state: Any) -> float:
    return 0.5


@pytest.mark.parametrize("where", [PYTHON, {"threads": 1}], ids=str)
def test_real_terms_of_integer_totals_are_refused(where: dict[str, Any]) -> None:
    total = bf.Field(np.int64, length=1)
    program = bf.Program({"total": total}, step=[bf.Compute(half_a_term, sums=("total",))])
    with pytest.raises(FunctorError, match=r"write int\(...\)"):
        bf.run(program, path(), frontier=(), **where)


@pytest.mark.parametrize("functor", [a_half, whole_but_real, through_a_helper, by_an_atomic])
def test_python_refuses_real_numbers_too_be_they_whole(functor: Callable[..., Any]) -> None:
    with pytest.raises(FunctorError, match="this is a real number: write int"):
        done(functor, fields(), PYTHON)


# ---------------------------------------------------------------------- beyond 64 bits, by zero


def risky(vertex: int, state: Any) -> None:
    """Do one of many things that go wrong with some numbers."""
    left, right, which = state.left, state.right, state.which
    if which == 0:
        state.whole[vertex] = left + right
    elif which == 1:
        state.whole[vertex] = left - right
    elif which == 2:
        state.whole[vertex] = left * right
    elif which == 3:
        state.whole[vertex] = left // right
    elif which == 4:
        state.whole[vertex] = left % right
    elif which == 5:
        state.whole[vertex] = int(left / right)
    elif which == 6:
        state.whole[vertex] = left << right
    elif which == 7:
        state.whole[vertex] = -left
    elif which == 8:
        state.whole[vertex] = abs(left)
    elif which == 9:
        state.whole[vertex] = np.int32(left)
    elif which == 10:
        state.whole[vertex] = int(left * 1e12)
    elif which == 11:
        state.small[vertex] = left
    elif which == 12:
        atomics.add(state.summed, vertex, right)
        atomics.add(state.summed, vertex, left)
    elif which == 13:
        state.bits[vertex] = left
    elif which == 14:
        state.whole[vertex] = np.int64(np.uint32(left) - np.uint32(right))


MOST, LEAST = 2**63 - 1, -(2**63)
WRONG = [
    (0, MOST, 1), (1, LEAST, 1), (2, 2**40, 2**40), (3, 7, 0), (3, LEAST, -1), (4, 7, 0), (5, 7, 0),
    (6, 1, 64), (6, 3, 62), (6, 1, -1), (7, LEAST, 0), (8, LEAST, 0), (9, 2**31, 0),
    (9, -(2**31) - 1, 0), (10, 2**50, 0), (11, 2**31, 0), (11, -(2**31) - 1, 0),
    (12, 2**31 - 1, 1), (13, -1, 0), (14, 1, 2),
]  # fmt: skip
RIGHT = [
    (0, MOST, -1), (1, LEAST, -1), (2, 2**40, 2**22), (3, -7, 2), (4, -7, 3), (5, -7, 2),
    (6, -1, 63), (6, 3, 61), (7, MOST, 0), (8, LEAST + 1, 0), (9, -(2**31), 0), (10, -(2**22), 0),
    (11, 2**31 - 1, 0), (12, 2**31 - 2, 1), (13, 5, 0), (14, 2, 1),
]  # fmt: skip


def outcome(where: dict[str, Any], case: tuple[int, int, int]) -> dict[str, Any]:
    which, left, right = case
    found = done(risky, fields(), where, which=which, left=left, right=right)
    return {name: found[name].tolist() for name in fields()}


@pytest.mark.parametrize("where", [PYTHON, CHECKED], ids=["python", "checked"])
@pytest.mark.parametrize("case", WRONG, ids=str)
def test_overflow_and_division_by_zero_raise(
    where: dict[str, Any], case: tuple[int, int, int]
) -> None:
    with pytest.raises((OverflowError, ZeroDivisionError, ValueError)):
        outcome(where, case)


@pytest.mark.parametrize("case", RIGHT, ids=str)
def test_what_fits_is_the_same_everywhere(case: tuple[int, int, int]) -> None:
    expected = outcome(PYTHON, case)
    assert outcome(CHECKED, case) == expected
    assert outcome({"threads": 1}, case) == expected


@pytest.mark.parametrize("where", [PYTHON, CHECKED], ids=["python", "checked"])
def test_the_error_names_field_number_and_dtype(where: dict[str, Any]) -> None:
    with pytest.raises(RangeError, match="state.small cannot hold 2147483648: it is of int32"):
        outcome(where, (11, 2**31, 0))


# ---------------------------------------------------------------------- indices


def far(vertex: int, state: Any) -> None:
    """Index by what is computed: a field, a shared one, an array from around, the graph's."""
    if state.which == 0:
        state.whole[vertex] = state.other[vertex + state.by]
    elif state.which == 1:
        state.whole[vertex] = state.shared[state.by]
    elif state.which == 2:
        state.whole[vertex] = state.targets[vertex + state.by]
    elif state.which == 3:
        state.whole[vertex] = state.ids[vertex + state.by]
    else:
        state.whole[vertex] = TABLE[state.by] + 1


def shared_alone(vertex: int, state: Any) -> None:
    atomics.maximum(state.shared, state.by, 1)


def far_fields() -> dict[str, bf.Field]:
    return {
        "whole": bf.Field(np.int64), "other": bf.Field(np.int64, fill=3),
        "shared": bf.Field(np.int64, length=3, combine="max"),
    }  # fmt: skip


@pytest.mark.parametrize("where", [PYTHON, {"threads": 1}, {"threads": 2}], ids=str)
@pytest.mark.parametrize("which", range(5))
def test_an_index_outside_raises(which: int, where: dict[str, Any]) -> None:
    for by in (-1, 9) if which != 4 else (9, -6):  # an array from around counts from its end
        with pytest.raises(IndexError):
            done(far, far_fields(), where, which=which, by=by)
    assert done(far, far_fields(), where, which=which, by=0)["whole"].tolist() == [
        [3] * 5, [0] * 5, path().targets[:5].tolist(), list(range(5)), [6] * 5,
    ][which]  # fmt: skip


@pytest.mark.parametrize("where", [PYTHON, {"threads": 1}], ids=str)
def test_arrays_from_around_are_as_wide_as_python(where: dict[str, Any]) -> None:
    found = done(far, far_fields(), where, which=4, by=-4)
    assert found["whole"].tolist() == [2**31] * 5


def test_several_devices_refuse_the_fields_of_others_and_check_shared_values() -> None:
    with pytest.raises(FunctorError, match="at a place that is neither its vertex nor a neighbour"):
        done(far, far_fields(), {"devices": 2}, which=0, by=0)
    for by in (-1, 3):
        with pytest.raises(BoundsError, match=f"state.shared has 3 places, index {by}"):
            done(shared_alone, far_fields(), {"devices": 2}, by=by)
    assert done(shared_alone, far_fields(), {"devices": 2}, by=2)["shared"].tolist() == [0, 0, 1]


def weight_of_vertex(vertex: int, state: Any) -> None:
    state.whole[vertex] = state.weight[vertex]


def id_of_edge(source: int, neighbor: int, edge: int, state: Any) -> int:
    return int(state.ids[edge])


def test_several_devices_refuse_vertices_as_edges_and_edges_as_vertices() -> None:
    graph = bf.from_edges([0, 1], [1, 2], weight=[1, 2])
    by_vertex = bf.Program({"whole": bf.Field(np.int64)}, step=[bf.Compute(weight_of_vertex)])
    with pytest.raises(FunctorError, match="at a place that is no edge of its vertex"):
        bf.run(by_vertex, graph, frontier=(), devices=2)
    by_edge = bf.Program(
        {"whole": bf.Field(np.int64, combine="min")}, step=[bf.Advance(id_of_edge, into="whole")]
    )
    with pytest.raises(FunctorError, match="reads state.ids at an edge"):
        bf.run(by_edge, graph, frontier=[0], devices=2)


def one_hop(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return state.other[source] + state.shared[2] + state.other[neighbor]


def test_what_stays_near_is_compiled_without_a_look_at_indices() -> None:
    more = far_fields() | {"other": bf.Field(np.int64, combine="min")}
    near = bf.Program(more, step=[bf.Advance(one_hop, into="other")])
    assert far_names(near) == frozenset()
    away = bf.Program(far_fields(), step=[bf.Compute(far)], parameters=("which", "by"))
    assert far_names(away) == {"other", "shared", "targets", "ids"}


# ---------------------------------------------------------------------- numbers in plain Python


def test_unsigned_numbers_keep_64_bits() -> None:
    one, two = Unsigned(1), Unsigned(2)
    assert ~one == 2**64 - 2
    assert two & ~one == 2
    assert one | two == 3
    assert one << Unsigned(63) == 2**63
    with pytest.raises(OverflowError, match="-1 is not a whole number of 64 bits"):
        one - two
    assert one - 2 == -1  # a signed number makes an int64 of both


def test_numpy_in_functors_gives_numbers_of_python() -> None:
    assert NUMPY.int32(2**31 - 1) + 1 == 2**31
    assert type(NUMPY.float64(0.5)) is float
    assert NUMPY.sqrt(9) == 3.0
    assert NUMPY.inf > MOST
    assert isinstance(around(TABLE)[1], int)
    with pytest.raises(RangeError, match="a conversion cannot hold 2147483648: it is of int32"):
        NUMPY.int32(2**31)
