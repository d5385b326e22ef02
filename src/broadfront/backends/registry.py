"""Which back end runs what `devices=` names: a row for each, loaded when it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, cast

from broadfront.backends.contract import Backend
from broadfront.devices.choose import PYTHON

CPU = "cpu"
BACKENDS = {CPU: "broadfront.backends.cpu.offers", PYTHON: "broadfront.backends.python.offers"}


def backend_of(devices: Any = None) -> Backend:
    """Return the back end for what `devices=` says; it is that of CPU devices unless named."""
    return _loaded(devices if isinstance(devices, str) and devices in BACKENDS else CPU)


@cache
def _loaded(name: str) -> Backend:
    return cast(Backend, import_module(BACKENDS[name]))
