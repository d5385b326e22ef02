"""Numbers of bytes as people write them."""

from __future__ import annotations

import re

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_in(text: str) -> int | None:
    """Return the bytes that a text names, as 4000000, 512M, 512MiB or 4G; None if it does not."""
    told = re.fullmatch(r"([0-9]{1,18})([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    return None if told is None else int(told[1]) * UNITS[told[2].upper()]


def size_text(size: float) -> str:
    """Return a number of bytes as people say it."""
    if size < 1024:
        return f"{size:.0f} bytes"
    unit = "bytes"
    for unit in ("KiB", "MiB", "GiB", "TiB"):  # noqa: B007
        size /= 1024
        if size < 1024:
            break
    return f"{size:.1f} {unit}"
