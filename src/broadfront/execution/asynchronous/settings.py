"""`Async`: how a program runs asynchronously, for those who want to choose or to measure."""

from __future__ import annotations

from dataclasses import dataclass

from broadfront.errors import OptionError
from broadfront.given import count, flag, is_word, number

BSP, ASYNC = "bsp", "async"
MOST_PACKET, MOST_SLOTS = 1 << 30, 1 << 16
MOST_BAND = 1 << 62
"""A band as wide as this is all that there is."""


@dataclass(frozen=True)
class Async:
    """``execution=Async(...)``; ``execution="async"`` is ``Async()``.

    Parameters
    ----------
    fused
        One compiled loop per device; if not, Python calls one compiled step after another.
    priority
        Serve vertices in the order of the program's priority, and let those wait that are far
        behind the best on any device; if not, in rounds.
    band
        How many buckets beyond the lowest of all devices a device may serve; None: as many as suit.
    packet
        Vertices in a message at most.
    slots
        Messages between two devices that may be under way.
    """

    fused: bool = True
    priority: bool = True
    band: int | None = None
    packet: int = 1024
    slots: int = 4

    def __post_init__(self) -> None:
        for name in ("fused", "priority"):
            flag(getattr(self, name), name)
        for name, most in (("packet", MOST_PACKET), ("slots", MOST_SLOTS)):
            given = count(getattr(self, name), name)
            if given > most:
                raise OptionError(f"{name}={given:.3g}: expected at most {most:,}")
            object.__setattr__(self, name, given)
        if self.band is not None:
            object.__setattr__(self, "band", int(min(number(self.band, "band", 0), MOST_BAND)))

    @property
    def text(self) -> str:
        """How a record names it."""
        said = [ASYNC]
        said += [] if self.fused else ["unfused"]
        said += [] if self.priority else ["without priorities"]
        return ", ".join(said)


Execution = str | Async | None


def requested(execution: Execution) -> Async | None:
    """Return how to run asynchronously; None stands for bulk-synchronous."""
    if execution is None or is_word(execution, BSP):
        return None
    if is_word(execution, ASYNC):
        return Async()
    if isinstance(execution, Async):
        return execution
    raise OptionError(f"execution={execution!r:.60}: expected 'bsp', 'async' or bf.Async(...)")
