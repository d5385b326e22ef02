"""Every command shown in the documentation runs and prints what is shown.

Python examples in README.md and docs/ run as doctests (see pyproject.toml).
"""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

import broadfront
from broadfront.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands() -> list[tuple[str, str]]:
    """Return each shown `$ broadfront ...` with the output shown below it."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                found.append((command, shown))
    return found


@pytest.mark.parametrize(("command", "shown"), commands())
def test_commands(command: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(command)
    assert program == "broadfront"
    assert main(arguments) == 0
    got = capsys.readouterr().out
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, got, flags), got


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_public_names_exist_and_are_all() -> None:
    assert list(broadfront.__all__) == sorted(broadfront.__all__, key=str)
    for name in broadfront.__all__:
        assert getattr(broadfront, name).__doc__


def test_layout_in_contributing_is_the_layout() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for path in sorted((ROOT / "src" / "broadfront").rglob("*.py")):
        name = path.parent.name if path.stem.startswith("__") else path.stem
        folder = path.relative_to(ROOT / "src" / "broadfront").parts[:-1]
        if folder in ((), ("graph",)) and not path.stem.startswith("__"):
            assert re.search(rf"\b{name}\b", text), f"{path} is not in CONTRIBUTING.md"


def test_the_version_is_one() -> None:
    assert f'version = "{broadfront.__version__}"' in (ROOT / "pyproject.toml").read_text()


def test_promises_name_tests_that_are_there() -> None:
    named = re.findall(
        r"`(tests/\S+?\.py)(?:::(\w+))?`", (ROOT / "docs/reliability.md").read_text()
    )
    assert len(named) > 20
    for path, test in named:
        assert f"def {test}(" in (ROOT / path).read_text() or not test, (path, test)
