"""The layout: imports go one way, back ends are reached by their contract, files stay readable."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import broadfront

HOME = Path(broadfront.__file__).parent

ORDER = (
    "graph", "partition", "devices", "operators", "report", "verify", "execution", "backends",
    "the route", "models", "routing", "algorithms", "benchmark", "scaling", "graph500", "cli",
)  # fmt: skip
"""Packages, each of which imports only from itself, from those before it, and plain modules."""
ROUTE = {"execution.run", "execution.batch", "execution.explore"}
"""What hands programs to a back end, and so comes after all of them."""
LONG_FILES = {
    "graph.csr": "one class, most of which is what its methods promise",
}
"""Files of 400 lines and more, and why."""
LONG_FUNCTIONS = {
    "backends.cpu.memory.work.work_for": "one line for each array that operators work in",
}
"""Functions of more than 60 lines, and why."""

FILES = sorted(HOME.rglob("*.py"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(HOME).with_suffix("").parts)


def imported(path: Path) -> Iterator[str]:
    """Give the modules of Broadfront that a file imports, whether when loaded or later."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and getattr(block.test, "id", "") == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only or not isinstance(node, ast.ImportFrom):
            continue
        if (node.module or "").startswith("broadfront."):
            for name in node.names:
                whole = f"{node.module}.{name.name}".removeprefix("broadfront.")
                is_module = (HOME / (whole.replace(".", "/") + ".py")).exists()
                yield whole if is_module else str(node.module).removeprefix("broadfront.")


def rank(module: str) -> int | None:
    if module in ROUTE:
        return ORDER.index("the route")
    package = module.partition(".")[0]
    return ORDER.index(package) if package in ORDER else None


def test_imports_go_one_way() -> None:
    wrong = []
    for path in FILES:
        own = rank(module_of(path))
        for other in imported(path):
            there = rank(other)
            if own is not None and there is not None and there > own:
                wrong.append(f"{module_of(path)} imports {other}")
    assert not wrong, wrong


def test_back_ends_are_reached_by_their_contract() -> None:
    wrong = []
    for path in FILES:
        for other in imported(path):
            parts = other.split(".")
            if parts[0] != "backends" or other in ("backends.contract", "backends.registry"):
                continue
            if not module_of(path).startswith(f"backends.{parts[1]}."):
                wrong.append(f"{module_of(path)} imports {other}")
    assert not wrong, wrong


def own_lines(function: ast.FunctionDef) -> int:
    """Return how long a function is, without its docstring and the functions inside it."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    inside = [node for node in ast.walk(function)
              if isinstance(node, ast.FunctionDef) and node is not function]  # fmt: skip
    outermost = [
        node for node in inside
        if not any(other is not node and node in ast.walk(other) for other in inside)
    ]  # fmt: skip
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines - sum((node.end_lineno or 0) - node.lineno + 1 for node in outermost)


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_files_and_functions_are_short(path: Path) -> None:
    text, module = path.read_text(), module_of(path)
    assert len(text.splitlines()) < 400 or module in LONG_FILES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            lines = own_lines(node)
            assert lines <= 60 or f"{module}.{node.name}" in LONG_FUNCTIONS, (node.name, lines)


MOST_TO_READ = (15, 30)
"""Files to read to follow a search, on one device and on several."""


def test_the_route_can_be_followed() -> None:
    """Each file that CONTRIBUTING lists is there, and imported or named by one before it."""
    root = HOME.parent.parent
    text = (root / "CONTRIBUTING.md").read_text()
    section = text.split("To follow a search on one device")[1].split("A search runs code")[0]
    on_one, on_several = section.split("On several devices")
    read: list[Path] = []
    for number, part in enumerate((on_one, on_several)):
        for name in re.findall(r"`([a-z_0-9/]+)`", part):
            path = HOME / f"{name}.py"
            module = "broadfront." + name.replace("/", ".")
            assert not read or any(
                name.replace("/", ".") in imported(before) or module in before.read_text()
                for before in read
            ), name
            read.append(path)
        assert len(read) <= MOST_TO_READ[number]
