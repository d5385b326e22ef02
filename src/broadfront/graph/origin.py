"""Where a graph came from, and what was merged or dropped on the way."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """Where a graph came from, and what was merged or dropped on the way."""

    name: str = "edges"
    edges_read: int = 0
    duplicates: int = 0
    """Edges merged into an equal one."""
    self_loops: int = 0
    """Edges from a vertex to itself that were read."""
    self_loops_dropped: bool = False
    seconds: float = 0.0
    """Time on the wall, compiling apart."""
    compile_seconds: float = 0.0

    def __str__(self) -> str:
        loops = "self-loops dropped" if self.self_loops_dropped else "self-loops"
        return (
            f"{self.name}: {self.edges_read:,} edges read, {self.duplicates:,} duplicates merged, "
            f"{self.self_loops:,} {loops}, {self.seconds:.2f} s"
        )
