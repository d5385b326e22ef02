"""Copies of a field emptied, so that what is added to them is what goes to their owners.

Empty is zero, or the identity of a monoid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broadfront.backends.cpu.operators.frontier import finish, prepare, share
from broadfront.kernel import inner


def emptied(place: int, empty: Any) -> Callable[..., Any]:
    """Return the section that sets a field to `empty` at all ghosts."""

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        mail, values = work.mail, state[place]
        prepare(control, rank, turn)
        begin = mail.ghost_starts[0]
        first, last = share(mail.ghost_starts[mail.devices] - begin, rank, threads)
        for entry in range(begin + first, begin + last):
            values[mail.ghosts[entry]] = empty
        return finish(control, rank, threads, turn)

    return section
