"""Once: what one thread does alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from broadfront.operators.operator import Operator
from broadfront.operators.roles import STATE, Call, Functor


@dataclass(frozen=True)
class Once(Operator):
    """Something that one thread does alone: ``functor(state)``, while the others wait."""

    functor: Functor

    runs_alike: ClassVar[bool] = True

    @property
    def calls(self) -> list[Call]:
        """The functor; what it returns is of no interest."""
        return [Call(self.functor, (STATE,), counts=False)]
