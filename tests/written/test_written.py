"""Some of the drawn programs; ``make written`` runs thousands."""

from __future__ import annotations

import pytest

from written.judge import SAME
from written.run import many


@pytest.mark.parametrize(
    ("kind", "count"), [("refusals", 300), ("few templates", 300), ("compiled", 3)]
)
def test_drawn_programs_mean_the_same_everywhere(kind: str, count: int) -> None:
    assert many(kind, count, 0)[SAME] > 0
