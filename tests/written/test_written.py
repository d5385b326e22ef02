"""Some of the drawn programs; ``make written`` runs thousands."""

from __future__ import annotations

import pytest

from written.cases import Case
from written.judge import SAME
from written.run import many, parts_of
from written.worlds import World


@pytest.mark.parametrize(
    ("kind", "count"), [("refusals", 300), ("few templates", 300), ("compiled", 3)]
)
def test_drawn_programs_mean_the_same_everywhere(kind: str, count: int) -> None:
    assert many(kind, count, 0)[SAME] > 0


def test_parts_of_a_run_are_all_of_it() -> None:
    assert parts_of(1200) == [(0, 500), (1, 500), (2, 200)]


def test_levels_are_those_of_when_they_were_put_in_order() -> None:
    """Devices waited for each other for ever where a `Compute` changed the field of levels."""
    world = World(5, ((2, 0, 6), (0, 3, 5), (2, 1, 1), (4, 0, 3)), False, (2,))
    code = (0, 4, 0, 1, 0, 0, 2, 5, 0, 1, 4, 4, 0, 4, 0, 2, 0, 2, 1, 1, 0, 1)
    where = {"devices": 2, "threads": 1, "partitioner": "range"}
    case = Case("level by level", code, world, {"c": (3, 1, 4, 0, 1)}, where)
    assert case.check() == SAME
