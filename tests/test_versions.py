"""Which packages a version tells all about, and which are a user's under a name of Python's."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from broadfront.versions import has_version

UNUSED = "turtle"
"""A module of Python that nothing here loads."""


@pytest.mark.parametrize(
    "name", ["builtins", "math", "os.path", "_thread", "json.decoder", "numba.core", "numpy.linalg"]
)
def test_what_comes_with_python_numba_and_numpy(name: str) -> None:
    assert has_version(name)


@pytest.mark.parametrize("name", ["__main__", "broadfront.kernel", "scipy", "numpyro", "", None])
def test_what_does_not(name: object) -> None:
    assert not has_version(name)


def test_a_file_that_is_called_as_a_module_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert UNUSED not in sys.modules
    assert has_version(UNUSED)
    (tmp_path / f"{UNUSED}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    assert not has_version(UNUSED)


def test_a_loaded_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType(UNUSED)
    module.__file__ = str(tmp_path / f"{UNUSED}.py")
    monkeypatch.setitem(sys.modules, UNUSED, module)
    assert not has_version(UNUSED)
