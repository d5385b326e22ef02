from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from zoo import ZOO, Animal

settings.register_profile(
    "broadfront",
    deadline=None,
    max_examples=int(os.environ.get("BROADFRONT_EXAMPLES", "60")),
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("broadfront")

collect_ignore = ["failing.py", "failing_calls.py", "failing_runs.py", "failures.py"]
"""Programs that change how memory and files are had, for a process of their own."""

REAL_GRAPHS = Path(__file__).parents[2] / "shared" / "data"


def pytest_collection_finish() -> None:
    """Leave thousands of tests out of garbage collections, some of which measurements ask for."""
    gc.freeze()


@pytest.fixture(params=ZOO.values(), ids=ZOO.keys())
def animal(request: pytest.FixtureRequest) -> Animal:
    return request.param


@pytest.fixture
def real_graphs() -> Path:
    """The folder of real graphs beside the repository, where there is one."""
    if not REAL_GRAPHS.is_dir():
        pytest.skip("the folder of real graphs, ../shared/data, is not here")
    return REAL_GRAPHS


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as in a terminal, also where the tests run in the background and it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
