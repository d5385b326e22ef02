"""How large the boxes of a device are at first, and how large they can come to be.

The sections of `broadfront.backends.cpu.exchange` send what they have for the ghosts of a peer, or
for the vertices shared with it; so a message is never longer than all of these at full width,
headers apart. Lists and trees have bounds of their own.

Invariant: no section reserves more than `at_most` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.exchange.runs import HEAD
from broadfront.devices.profile import MemoryProfile
from broadfront.execution.plan import Plan
from broadfront.execution.program import Program
from broadfront.operators.describe import Advance, Intersect, Levels, Operator, Reduce, Unite
from broadfront.partition.outline import Outline

Array = NDArray[Any]


def at_first(profile: MemoryProfile, part: Outline) -> Array:
    """Return the bytes of the box for each device that a profile tells, none where it is 0."""
    own = np.arange(part.count) == part.device
    near = ~own & (part.crossing > 0)
    sizes = np.where(near, profile.box * part.crossing, profile.far_box * part.positions)
    sizes[own] = profile.own_box * part.num_arcs
    return _with_header(np.ceil(sizes).astype(np.int64))


def at_most(program: Program, plan: Plan, parts: Sequence[Outline], device: int) -> Array:
    """Return the bytes of the box for each device that hold any message of a program."""
    most = np.zeros(len(parts), np.int64)
    for phase in program.all_phases:
        for operator in phase.step:
            for sizes in _messages(operator, program, plan, parts, device):
                most = np.maximum(most, sizes)
    return _with_header(most)


def _with_header(sizes: Array) -> Array:
    whole: Array = np.where(sizes > 0, sizes + HEAD, 0)
    return whole


def _messages(
    operator: Operator, program: Program, plan: Plan, parts: Sequence[Outline], device: int
) -> Iterator[Array]:
    """Give for each message of an operator the most bytes of it to every device."""
    part = parts[device]
    ghosts, shared = part.ghosts, part.shared

    def width(names: Iterable[str]) -> int:
        return sum(program.fields[name].storage.itemsize for name in names)

    def columns(count: Array, each: int, many: int) -> Array:
        sizes: Array = np.where(count > 0, count * each + 8 * many, 0)
        return sizes

    if stale := plan.before.get(operator):
        yield columns(shared, width(stale), len(stale))
    if changed := plan.proposed[operator]:
        yield columns(ghosts, width(changed), len(changed))
    match operator:
        case Advance():
            along = [operator.into] + ([operator.record_source] if operator.record_source else [])
            yield columns(ghosts, part.vertex_bytes + width(along), 3)
            with_it = plan.with_frontier.get(operator, ())
            yield columns(shared, width(with_it), len(with_it)) + (shared + 63) // 64 * 8
        case Levels():
            told = plan.by_level[operator][1]
            carried = len(plan.carried.get(operator, ()))
            yield columns(shared, part.vertex_bytes + width(told), len(told) + 1 + carried)
        case Reduce(of_neighbor=True):
            yield columns(shared, 8, 1)
        case Intersect():
            yield columns(np.maximum(ghosts, shared), 8, 1)
            yield _lists(parts, device)
        case Unite():
            yield 2 * ghosts * part.vertex_bytes
            yield _trees(parts, device)


def _lists(parts: Sequence[Outline], device: int) -> Array:
    """Return the bytes of neighbour lists, those for oneself being all that one has and gets."""
    part = parts[device]
    entries = np.array([peer.brought[device] for peer in parts])
    entries[device] = part.num_arcs + part.brought.sum()
    sizes: Array = 8 * part.shared + entries * part.vertex_bytes
    return sizes


def _trees(parts: Sequence[Outline], device: int) -> Array:
    """Return the bytes of trees to unite: all to the first device, which answers."""
    part, count = parts[device], len(parts)
    sizes = np.zeros(count, np.int64)
    if device == 0:
        positions = np.array([peer.positions for peer in parts])
        sizes[:] = 8 * count + (positions + 1) * part.vertex_bytes
    words = part.positions + 1 + 2 * int(part.shared.sum())
    sizes[0] = 8 * count + words * part.vertex_bytes
    if device == 0:
        sizes[0] += 8 + 8 * (count + 1 + int(positions.sum()))
    return sizes
