"""How much memory a run takes on each device, and may take.

A device's memory is its part of the graph, its fields, what operators work in, queues, and boxes
for what it sends. All but queues and boxes is known before a run begins; those that come to need
too much stop it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from broadfront.devices.growing import HELD, LIMIT
from broadfront.errors import DeviceMemoryError

if TYPE_CHECKING:
    from broadfront.execution.many import One


def allow(
    account: NDArray[Any], held: int, most: int | None, device: int = 0, devices: int = 1
) -> None:
    """Let what grows take what `memory_limit` leaves beside what a device holds already.

    Raises
    ------
    DeviceMemoryError
        If that is less than what it begins with.
    """
    if most is None:
        return
    wanted = held + int(account[HELD])
    if wanted > most:
        raise DeviceMemoryError(_text(device, wanted, most, devices), device, wanted)
    account[LIMIT] = most - held


def held_by(one: One) -> int:
    """Return the bytes of a device, all but what grows: part, fields, workspace."""
    fields = sum(array.nbytes for array in one.fields.values())
    return one.part.nbytes + fields + one.space.asked_bytes


def memory_error(
    error: DeviceMemoryError, held: int, most: int | None, devices: int = 1
) -> DeviceMemoryError:
    """Return the error to raise when something could not grow beside what a device holds."""
    wanted = held + error.wanted
    if most is None:
        text = f"cpu:{error.device} could not get {wanted:,} bytes"
        return DeviceMemoryError(text, error.device, wanted)
    return DeviceMemoryError(_text(error.device, wanted, most, devices), error.device, wanted)


def _text(device: int, wanted: int, most: int, devices: int) -> str:
    return (
        f"cpu:{device} needs {wanted:,} bytes or more, and memory_limit is {most:,}: allow more, "
        f"take more devices than {devices}, or a partitioner that cuts fewer edges"
    )
