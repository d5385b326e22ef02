"""Functors that do not compile: one line of our own words, with the line that is at fault."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, FunctorError, Program
from broadfront.execution.faults import explained
from broadfront.execution.refusals import refuse_everywhere
from broadfront.execution.states import state_class

FIELDS = {"d": Field(np.int64, fill=9, combine="min")}
TEXTS = [1, "two"]
NAMES = {0: 1}


def slices(vertex, state):
    state.d[vertex] = state.d[0:2][0]


def asks_len(vertex, state):
    state.d[vertex] = len(state.d)


def real_index(vertex, state):
    state.d[vertex] = state.d[vertex * 0.5]


def text_index(vertex, state):
    state.d[vertex] = state.d["a"]


def misspells(vertex, state):
    state.d[vertex] = state.dd[vertex]


def undefined(vertex, state):
    state.d[vertex] = nobody_knows  # noqa: F821


def takes_a_sum(vertex, state):
    state.d[vertex] = state.d.sum()


def goes_through(vertex, state):
    for each in state.d:
        state.d[vertex] = each


def searches(vertex, state):
    state.d[vertex] = 1 if vertex in state.d else 0


def stores_text(vertex, state):
    state.d[vertex] = "text"


def imports(vertex, state):
    import math  # noqa: PLC0415

    state.d[vertex] = math.floor(2.5)


def opens(vertex, state):
    with open("file") as file:
        state.d[vertex] = file


def uses_a_list(vertex, state):
    state.d[vertex] = TEXTS[vertex]


def uses_a_dictionary(vertex, state):
    state.d[vertex] = NAMES[vertex]


def adds_text(vertex, state):
    state.d[vertex] = vertex + "a"


def helper(vertex, state):
    return len(state.d)


def asks_a_helper(vertex, state):
    state.d[vertex] = helper(vertex, state)


def one_too_few(state):
    return 1


def calls_in_another_way(vertex, state):
    state.d[vertex] = helper(vertex, other=1)


def catches(vertex, state):
    try:
        state.d[vertex] = 1 // state.ids[vertex]
    except ZeroDivisionError:
        state.d[vertex] = 0


def counts_in_a_dictionary(vertex, state):
    counts = {}
    counts[0] = counts.get(0, 0) + 1
    state.d[vertex] = counts[0]


CASES: list[tuple[Callable[..., Any], int, str]] = [
    (slices, 1, r"has no slices: .* state\.field\[vertex\]"),
    (asks_len, 1, r"has no len: use state\.num_vertices"),
    (real_index, 1, "an index is a whole number, and this one is real: use //"),
    (text_index, 1, "an index is a whole number"),
    (misspells, 1, r"state has no dd; there are d, weight, offsets"),
    (undefined, 1, "name 'nobody_knows' is not defined"),
    (takes_a_sum, 1, "an array of the state has no sum"),
    (goes_through, 1, r"cannot be gone through: use for edge in range\("),
    (searches, 1, "`in` does not search an array"),
    (stores_text, 1, "must be a number, not"),
    (imports, 1, "it imports: do that outside"),
    (opens, 0, "it uses `with`"),
    (uses_a_list, 1, "TEXTS is no number and no array"),
    (catches, 3, "it catches ZeroDivisionError, which compiled code does not raise: ask before"),
    (counts_in_a_dictionary, 2, "it uses a dictionary, which compiled code has not"),
    (uses_a_dictionary, 1, "NAMES is no number, array or function"),
    (adds_text, 1, "compiled code has no add of int64"),
    (calls_in_another_way, 1, "it calls a function of .* with other arguments"),
]


def said_of(functor: Callable[..., Any]) -> str:
    program = Program(FIELDS, step=[Compute(functor)])
    row = np.zeros(3, np.int32)
    state = state_class(program.state_names)(
        np.zeros(3, np.int64), (), row, row, row, row, 3, None, ()
    )
    return str(explained(Exception("not told"), program, state))


@pytest.mark.parametrize(("functor", "line", "words"), CASES, ids=lambda each: str(each)[:20])
def test_our_own_words_at_the_line_of_the_fault(
    functor: Callable[..., Any], line: int, words: str
) -> None:
    at = functor.__code__.co_firstlineno + line
    said = said_of(functor)
    assert said.startswith(f"{__file__}, line {at}: functor {functor.__name__} does not compile: ")
    assert "\n" not in said
    with pytest.raises(FunctorError, match=words):
        raise FunctorError(said)


def test_a_fault_in_a_helper_is_told_at_its_line() -> None:
    at = helper.__code__.co_firstlineno + 1
    assert said_of(asks_a_helper).startswith(f"{__file__}, line {at}: functor asks_a_helper does")


def sets_a_field(vertex, state):
    state.d = 5


def weighs(source, neighbor, edge, state):
    return state.d[source] + state.weight[edge]


def test_a_field_is_not_set_as_a_whole() -> None:
    at = sets_a_field.__code__.co_firstlineno + 1
    with pytest.raises(FunctorError, match=rf"line {at}: state\.d cannot be set as a whole"):
        refuse_everywhere(Program(FIELDS, step=[Compute(sets_a_field)]))


@pytest.mark.parametrize("where", [{"devices": "python"}, {}, {"devices": 2}])
def test_weights_that_are_not_there(where: dict[str, Any]) -> None:
    program = Program(FIELDS, step=[Advance(weighs, into="d")])
    at = weighs.__code__.co_firstlineno + 1
    with pytest.raises(FunctorError, match=rf"line {at}: functor weighs .* the graph has no wei"):
        bf.run(program, bf.generate("path:5"), frontier=[0], **where)


def row_of(vertex, state):
    state.d[vertex] = sum(state.targets[state.offsets[vertex] : state.offsets[vertex + 1]])


def all_of_a_field(vertex, state):
    state.d[vertex] = len(state.targets)


@pytest.mark.parametrize("where", [{"devices": "python"}, {}], ids=["python", "one"])
@pytest.mark.parametrize(
    ("functor", "words"),
    [(row_of, "state.* has no slices: only single"), (all_of_a_field, "state.* has no len: use")],
)
def test_arrays_of_the_graph_are_no_sequences(functor: Any, words: str, where: Any) -> None:
    with pytest.raises(FunctorError, match=words):
        bf.run(Program(FIELDS, step=[Compute(functor)]), bf.generate("path:5"), **where)


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        (Compute(one_too_few), r"Compute\(functor=...\) calls functor one_too_few\(state\) with "
         r"\(vertex, state\)"),
        (Advance(helper, into="d"), r"with \(vertex, neighbor, edge, state\)"),
        (Advance(weighs, into="d", cond=weighs), r"Advance\(cond=...\) .*\(neighbor, state\)"),
        (Advance(weighs, into="d", activate=helper), r"\(vertex, number, number, state\)"),
    ],
    ids=["Compute", "Advance", "cond", "activate"],
)  # fmt: skip
def test_functors_take_what_they_are_called_with(operator: Any, words: str) -> None:
    with pytest.raises(FunctorError, match=words):
        Program(FIELDS, step=[operator])
    with pytest.raises(FunctorError, match=r"until= calls functor helper.* with \(state\)"):
        Program(FIELDS, phases=[bf.Phase([Compute(helper)], until=helper)])


def only_if_better(source, neighbor, edge, state):  # noqa: RET503 - the mistake
    if state.d[source] + 1 < state.d[neighbor]:
        return state.d[source] + 1


def no_more(vertex, state):
    return True if state.d[vertex] > 3 else None


def until_nine(vertex, state):
    while True:
        if state.d[vertex] > 8:
            return True
        state.d[vertex] += 1


@pytest.mark.parametrize(
    ("operator", "line"),
    [(Advance(only_if_better, into="d"), 1), (Advance(weighs, into="d", cond=no_more), 1),
     (bf.Filter(no_more), 1), (Advance(weighs, into="d", priority=row_of), 1)],
    ids=["Advance", "cond", "Filter", "priority"],
)  # fmt: skip
def test_an_answer_that_counts_is_given_on_every_way(operator: Any, line: int) -> None:
    functor = next(call.functor for call in operator.calls if call.functor is not weighs)
    at = functor.__code__.co_firstlineno + line
    with pytest.raises(FunctorError, match=rf"line {at}: functor .* may end here without an ans"):
        Program(FIELDS, step=[operator])
    Program(FIELDS, step=[bf.Filter(until_nine)])
    Program(FIELDS, step=[Compute(no_more)])


class Functor:
    def method(self, vertex, state):
        return 0

    def __call__(self, vertex, state):
        return 0


@pytest.mark.parametrize(
    ("functor", "words"),
    [
        (Functor().method, "a functor has no self: write a function"),
        (Functor(), "write def functor"),
        (functools.partial(misspells), "write a function in place of a partial"),
        (print, "expected a function"),
        (5, "expected a function"),
    ],
    ids=["method", "object", "partial", "builtin", "number"],
)
def test_what_is_no_function_is_refused(functor: Any, words: str) -> None:
    with pytest.raises(FunctorError, match=words):
        Program(FIELDS, step=[Compute(functor)])


TABLE = np.zeros(5)


def sets_what_is_around(vertex, state):
    TABLE[vertex] += 1


def sets_a_list(vertex, state):
    TEXTS[0] = vertex


@pytest.mark.parametrize("functor", [sets_what_is_around, sets_a_list])
def test_what_is_around_a_functor_is_only_read(functor: Any) -> None:
    at = functor.__code__.co_firstlineno + 1
    with pytest.raises(FunctorError, match=rf"line {at}: .* which is not of the state"):
        refuse_everywhere(Program(FIELDS, step=[Compute(functor)]))


@numba.njit  # noqa: TID251 - a user's functor
def compiled_already(vertex, state):
    state.d[vertex] = 2 * state.ids[vertex]


def test_a_functor_that_numba_has_compiled_is_one() -> None:
    program = Program(FIELDS, step=[Compute(compiled_already)])
    for where in ({"devices": "python"}, {}, {"devices": 2}):
        answer = bf.run(program, bf.generate("path:5"), **where)  # type: ignore[arg-type]
        assert answer["d"].tolist() == [0, 2, 4, 6, 8]
