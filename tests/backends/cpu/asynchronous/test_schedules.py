"""All interleavings of two and three devices: nothing is lost, nobody stops early, nobody hangs."""

from __future__ import annotations

from typing import Any

import pytest
import schedules
from schedules import Case, Summing, Sums, explored

from broadfront.backends.cpu.asynchronous import mailbox, termination

PING_PONG = {"a": [(1, "b")], "b": [(0, "c")]}
BOTH_WAYS = {"a": [(1, "b")], "c": [(0, "d")]}
TWO_AT_ONCE = {"a": [(1, "b"), (1, "c")]}
ROUND = {"a": [(1, "b")], "b": [(2, "c")]}
FORK = {"a": [(1, "b"), (2, "c")]}

CASES = {
    "nothing to do": Case(2, {}, [], 1),
    "there and back": Case(2, PING_PONG, [(0, "a")], 1),
    "there and back, the other looks": Case(2, PING_PONG, [(0, "a")], 1, looking=1),
    "both ways at once": Case(2, BOTH_WAYS, [(0, "a"), (1, "c")], 1),
    "a full link": Case(2, TWO_AT_ONCE, [(0, "a")], 1, looking=1),
    "two slots": Case(2, TWO_AT_ONCE, [(0, "a")], 2),
    "three in a row": Case(3, ROUND, [(0, "a")], 1),
    "a fork": Case(3, FORK, [(0, "a")], 1, looking=2),
}


PAIR, TRIPLE = {"a": 0, "b": 1}, {"a": 0, "b": 1, "c": 2}
BACK = {"a": ["b"], "b": ["a"]}
SUMS = {
    "there and back": Sums(2, PAIR, BACK, {"a": 4.0}, 1),
    "both ways at once": Sums(2, PAIR, BACK, {"a": 4.0, "b": 2.0}, 1, looking=1),
    "two for one copy": Sums(
        2, {"a": 0, "b": 0, "c": 1}, {"a": ["c"], "b": ["c"], "c": []}, {"a": 2.0, "b": 4.0}, 1
    ),
    "two slots": Sums(
        2, {"a": 0, "b": 1, "c": 1}, {"a": ["b", "c"], "b": ["c"], "c": []}, {"a": 8.0}, 2
    ),
    "three in a row": Sums(3, TRIPLE, {"a": ["b"], "b": ["c"], "c": []}, {"a": 4.0}, 1),
}


def all_items(case: Case) -> tuple[str, ...]:
    made = [item for children in case.items.values() for _, item in children]
    return tuple(sorted([item for _, item in case.first] + made))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_every_schedule(case: Case) -> None:
    found = explored(case)
    assert found.ends == {all_items(case)}
    assert found.hanging == 0
    assert found.states > 10


@pytest.mark.parametrize("case", SUMS.values(), ids=SUMS.keys())
def test_every_schedule_of_sums(case: Sums) -> None:
    """Nothing is lost, and nothing counts twice; every step of every schedule is checked."""
    found = explored(case, kind=Summing)
    assert found.hanging == 0
    assert found.states > 10


def test_a_copy_that_keeps_what_it_sent_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Summing, "empties", False)
    with pytest.raises(AssertionError, match="counted twice"):
        explored(SUMS["there and back"], kind=Summing)


MISTAKES = {
    "counting once": (
        termination, "if added_up(board, devices, TAKEN) != taken or "
        "added_up(board, devices, SENT) != sent:\n        return False", "",
    ),
    "never active again": (termination, "LINE + PASSIVE, 0)", "LINE + PASSIVE, 1)"),
    "not asking who is passive": (termination, "+ PASSIVE) == 0", "+ PASSIVE) == 2"),
    "a link that never fills up": (mailbox, ">= rings.slots", "> rings.slots"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_found(mistake: tuple[Any, str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The exploration tells right from wrong: each change to the code is caught by some case."""
    module, right, wrong = mistake
    names = schedules.IN_MAILBOX if module is mailbox else schedules.IN_TERMINATION
    changed = schedules.giving_way(module, names, wrong, right)
    monkeypatch.setattr(schedules, "MAIL" if module is mailbox else "END", changed)
    assert any(is_caught(case) for case in CASES.values())


def is_caught(case: Case) -> bool:
    try:
        found = explored(case)
    except (AssertionError, KeyError):
        return True
    return found.ends != {all_items(case)} or found.hanging > 0
