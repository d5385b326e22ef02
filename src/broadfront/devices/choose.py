"""`devices=`: which devices a run is for, and with how many threads each.

``"cpu"`` is one device with all cores; a number is that many CPU devices, which share the cores; a
list names them one by one, ``"cpu"`` for a share of the cores, ``"cpu*2"`` for two threads. Devices
need not be alike: parts of a graph go by their threads.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass

from broadfront import threads as thread_settings
from broadfront.errors import OptionError
from broadfront.given import count, is_integer, is_word

Devices = str | int | Sequence[str] | None
MOST = 1024
PYTHON = "python"
"""What `devices=` calls plain Python, which is no device."""


@dataclass(frozen=True)
class Device:
    """A device with memory of its own: its name, and how many threads it runs on."""

    name: str
    threads: int


def choose(devices: Devices, threads: int | None = None) -> list[Device]:
    """Return the devices that are meant; `threads` is for each of those that do not say."""
    if threads is not None:
        threads = count(threads, "threads")
        thread_settings.check(threads, f"threads={threads}")
    wishes = _wishes(devices)
    open_ = wishes.count(None)
    taken = sum(filter(None, wishes))
    cores = max(open_, thread_settings.count() - taken)
    chosen, given = [], 0
    for number, wish in enumerate(wishes):
        own = wish
        if own is None:
            own = threads or cores * (given + 1) // open_ - cores * given // open_
            given += 1
        chosen.append(Device(f"cpu:{number}", own))
    total = sum(device.threads for device in chosen)
    thread_settings.check(total, f"{total:,} threads on {len(chosen):,} devices")
    return chosen


def _wishes(devices: Devices) -> list[int | None]:
    """Return for each device how many threads it asks for, None where it does not say."""
    if devices is None or is_word(devices, "cpu"):
        return [None]
    if is_integer(devices):
        number: int = devices  # type: ignore[assignment]
        if not 1 <= number <= MOST:
            raise OptionError(f"devices={devices} is not in 1..{MOST:,}")
        return [None] * number
    if not isinstance(devices, Sequence):
        raise OptionError(f"devices={devices!r}: expected 'cpu', a number, or a list of names")
    names = [devices] if isinstance(devices, str) else list(devices)
    if not 1 <= len(names) <= MOST:
        raise OptionError(f"devices lists {len(names):,} names; expected 1 to {MOST:,}")
    return [_threads_of(name) for name in names]


def _threads_of(name: object) -> int | None:
    told = re.fullmatch(r"cpu(?:\*([1-9][0-9]{0,3}))?", name) if isinstance(name, str) else None
    if told is None:
        raise OptionError(
            f"no device {name!r}; there are 'cpu' and, with threads, 'cpu*2'; alone, 'python'"
        )
    return int(told[1]) if told[1] else None


def names_threads(devices: Devices) -> bool:
    """Tell whether `devices` itself says how many threads there are on the first of them."""
    return _wishes(devices)[0] is not None


def present() -> list[dict[str, str | int]]:
    """Return what devices this machine has, a row each."""
    return [
        {
            "name": "cpu",
            "threads": thread_settings.available(),
            "about": platform.processor() or platform.machine(),
        }
    ]
