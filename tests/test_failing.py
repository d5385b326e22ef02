"""Every allocation, thread, memory map and access to a file fails in turn; `make failing` has more.

Each group has a process of its own (`failures`): what fails there is the system, for the process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("failures.py")
EXAMPLES = Path(__file__).parents[1] / "examples"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the allocators of other systems")


def told_by(*words: str) -> tuple[int, str]:
    """Return how many calls went wrong, and what was said."""
    paths = os.pathsep.join([*sys.path, str(EXAMPLES)])
    child = subprocess.run(
        [sys.executable, str(PROGRAM), *words],
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    return child.returncode, child.stdout + child.stderr


@pytest.mark.parametrize(
    ("group", "most"),
    [
        ("reading", 20),
        ("building", 30),
        ("saving", 10),
        ("caching", 20),
        ("running", 40),
        ("beyond", 20),
    ],
)
def test_everything_fails_in_turn(group: str, most: int) -> None:
    wrong, told = told_by(group, "--most", str(most))
    assert wrong == 0, told
    assert "failures" in told


def test_what_goes_wrong_is_noticed() -> None:
    wrong, told = told_by("breaking")
    assert wrong == 3, told
    assert "TypeError" in told
    assert "stray was left behind" in told
    assert "targets of the next answer is wrong" in told
