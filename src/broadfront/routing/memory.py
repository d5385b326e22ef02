"""The memory of a device, as far as links take of it.

Invariant: what is reserved never exceeds the limit; a link that would exceed it is not made.
"""

from __future__ import annotations

from broadfront.errors import DeviceMemoryError


class Memory:
    """Bytes that the buffers of links have taken of a device, and how many they may."""

    def __init__(self, name: str, device: int, limit: int | None = None) -> None:
        self.name = name
        self.device = device
        self.limit = limit
        self.reserved = 0

    def reserve(self, size: int, reason: str) -> None:
        """Take so many bytes, or refuse."""
        if self.limit is not None and self.reserved + size > self.limit:
            raise DeviceMemoryError(
                f"{reason} takes {size:,} bytes, and of memory_limit={self.limit:,} on {self.name} "
                f"{self.limit - self.reserved:,} are left: give it fewer or smaller buffers",
                self.device,
                size,
            )
        self.reserved += size

    def __repr__(self) -> str:
        return f"Memory({self.name}, {self.reserved:,} bytes)"
