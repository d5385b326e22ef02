"""How large the boxes of a device are at first, and how large they can come to be.

The sections of `broadfront.backends.cpu.exchange` send what they have for the ghosts of a peer, or
for the vertices shared with it; so a message is never longer than all of these at full width,
headers apart. What an operator sends while it runs is bounded by its lowering.

Invariant: no section reserves more than `at_most` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.exchange.bounds import Bounds
from broadfront.backends.cpu.exchange.runs import HEAD
from broadfront.backends.cpu.lowering.table import lowerings
from broadfront.devices.profile import MemoryProfile
from broadfront.execution.plan import Plan
from broadfront.execution.program import Program
from broadfront.operators.describe import Operator
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
    bounds = Bounds(program, plan, parts, device)
    for lowering in lowerings(program):
        for sizes in (*_around(lowering.operator, bounds), *lowering.messages(bounds)):
            most = np.maximum(most, sizes)
    return _with_header(most)


def _with_header(sizes: Array) -> Array:
    whole: Array = np.where(sizes > 0, sizes + HEAD, 0)
    return whole


def _around(operator: Operator, bounds: Bounds) -> Iterator[Array]:
    """Give the most bytes of what comes before and after an operator because of the plan."""
    plan, part = bounds.plan, bounds.part
    if stale := plan.before.get(operator):
        yield bounds.columns(part.shared, bounds.width(stale), len(stale))
    if changed := plan.proposed[operator]:
        yield bounds.columns(part.ghosts, bounds.width(changed), len(changed))
