"""How much memory a run takes on each device, and may take.

A device's memory is its part of the graph, its fields, what operators work in, and boxes for what
it sends. All but the boxes is known before a run begins; a box that does not fit stops it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from broadfront.devices.mail import LIMIT
from broadfront.errors import DeviceMemoryError

if TYPE_CHECKING:
    from broadfront.execution.many import One


def limit(crew: Sequence[One], most: int | None) -> None:
    """Let the boxes of each device take what `memory_limit` leaves beside what it has already.

    Raises
    ------
    DeviceMemoryError
        If that is less than nothing.
    """
    if most is None:
        return
    for number, one in enumerate(crew):
        taken = bytes_of(one)
        check(taken, most, number, len(crew))
        one.work.mail.account[LIMIT] = most - taken


def check(taken: int, most: int | None, device: int = 0, devices: int = 1) -> None:
    """Refuse a run in which a device would take more than it may before it has begun."""
    if most is not None and taken >= most:
        raise DeviceMemoryError(_text(device, taken, most, devices), device, taken)


def bytes_of(one: One) -> int:
    """Return the bytes of a device before it sends anything: part, fields, workspace."""
    fields = sum(array.nbytes for array in one.fields.values())
    return one.part.nbytes + fields + one.space.asked_bytes


def memory_error(
    error: DeviceMemoryError, crew: Sequence[One], most: int | None
) -> DeviceMemoryError:
    """Return the error to raise when a box did not fit."""
    wanted = bytes_of(crew[error.device]) + error.wanted
    if most is None:
        text = f"cpu:{error.device} could not get {wanted:,} bytes"
        return DeviceMemoryError(text, error.device, wanted)
    return DeviceMemoryError(_text(error.device, wanted, most, len(crew)), error.device, wanted)


def _text(device: int, wanted: int, most: int, devices: int) -> str:
    return (
        f"cpu:{device} needs {wanted:,} bytes or more, and memory_limit is {most:,}: allow more, "
        f"take more devices than {devices}, or a partitioner that cuts fewer edges"
    )
