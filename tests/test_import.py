"""What `import broadfront` brings, and what waits until it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import broadfront as bf

HEAVY = ("llvmlite", "networkx", "numba", "pandas", "polars", "pyarrow", "rich", "scipy")
LATER = """
import sys
import broadfront
print([name for name in {names!r} if name in sys.modules])
"""


def loaded(script: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.split()


def test_nothing_heavy_is_loaded_before_it_is_used() -> None:
    assert loaded(LATER.format(names=HEAVY)) == ["[]"]


def test_running_loads_no_library_that_it_does_not_need() -> None:
    names = ("networkx", "pandas", "polars", "pyarrow", "rich", "scipy.sparse", "scipy.spatial")
    use = "import broadfront; broadfront.bfs(broadfront.generate('path:9'), 0)"
    assert loaded(use + LATER.format(names=names)) == ["[]"]


@pytest.mark.parametrize("name", bf.__all__)
def test_every_name_is_there(name: str) -> None:
    thing = getattr(bf, name)
    assert getattr(thing, "__name__", "").rpartition(".")[2] == name
    assert name in dir(bf)


def test_every_name_has_one_home() -> None:
    homed = [name for names in bf._HOMES.values() for name in names]
    assert len(homed) == len(set(homed))
    assert set(homed) < set(bf.__all__)
    rest = set(bf.__all__) - set(homed) - set(bf._MODULES)
    assert all(issubclass(getattr(bf, name), Exception) for name in rest)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'dijkstra'"):
        bf.dijkstra  # noqa: B018
    with pytest.raises(ImportError):
        from broadfront import dijkstra  # noqa: F401
    assert not hasattr(bf, "graphs")
