"""The machine that times were measured on."""

from __future__ import annotations

import os
import platform
from typing import Any

from broadfront import threads


def machine() -> dict[str, Any]:
    """Return what the times depend on."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "processor": _processor(),
        "cores": threads.available(),
        "memory_bytes": _memory_bytes(),
        "python": platform.python_version(),
    }


def load_average() -> float:
    """Return how many threads wanted to run here over the last minute, 0 where nobody counts."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return 0.0


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as stream:
            for line in stream:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
