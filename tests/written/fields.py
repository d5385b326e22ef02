"""The fields of a drawn program, and what functors may name of them at which place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hypothesis import strategies as st

from written.expressions import Atoms

DTYPES = ("np.int64", "np.int32", "np.float64", "np.float32")
COMBINES = ("min", "max", "sum", "or")
ATOMICS = {"min": "minimum", "max": "maximum", "sum": "add", "or": "bitwise_or"}


@dataclass(frozen=True)
class Drawn:
    """A field as it is declared."""

    name: str
    dtype: str
    fill: int = 0
    combine: str | None = None
    length: int | None = None

    @property
    def real(self) -> bool:
        return "float" in self.dtype

    def text(self) -> str:
        given = [self.dtype, f"fill={self.fill}"]
        given += [f"combine={self.combine!r}"] if self.combine else []
        given += [f"length={self.length}"] if self.length else []
        return f'"{self.name}": bf.Field({", ".join(given)})'


PARENT = Drawn("parent", '"vertex"')
TOTALS = (Drawn("total", "np.int64", length=1), Drawn("measure", "np.float64", length=1))


@st.composite
def per_vertex(draw: st.DrawFn) -> tuple[Drawn, ...]:
    """Draw two or three fields with an element per vertex; proposals can go into the first."""
    fields = []
    for name in "abc"[: draw(st.integers(2, 3))]:
        dtype = draw(st.sampled_from(DTYPES))
        ways = COMBINES if "int" in dtype else COMBINES[:3]
        combine = draw(st.sampled_from(ways if name == "a" else (*ways, None)))
        fields.append(Drawn(name, dtype, draw(st.integers(0, 9)), combine))
    return tuple(fields)


@st.composite
def shared(draw: st.DrawFn) -> Drawn:
    """Draw a field of two values that all vertices share."""
    dtype = draw(st.sampled_from(("np.int64", "np.float64")))
    combine = draw(st.sampled_from((None, "min", "max")))
    return Drawn("shared", dtype, draw(st.integers(-2, 4)), combine, 2)


def atoms_at(fields: Iterable[Drawn], *places: str) -> Atoms:
    """Return the elements of fields at some places."""
    whole, real = [], []
    for field in fields:
        for place in places:
            (real if field.real else whole).append(f"state.{field.name}[{place}]")
    return Atoms(tuple(whole), tuple(real))
