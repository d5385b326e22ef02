"""What an array is called in the function that indexes it, for the errors of checked code.

Numba checks the index of a NumPy array where it no longer knows which variable that is. Here it is
kept in mind from one instruction to the next.

Invariant: the code is the same as without.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from broadfront.lean import LeanCompiler, LeanLower, LeanLowering

UNKNOWN = "an array"
_READS = ("getitem", "static_getitem", "typed_getitem")
_now: list[str | None] = [None]
"""What the instruction indexes that is being compiled here, and not by Numba alone; only one thread
compiles at a time."""


def compiles_here() -> bool:
    """Tell whether what is being compiled is a function of checked code."""
    return _now[0] is not None


def array_name() -> str:
    """Return the name of the array that is being indexed."""
    return _now[0] or UNKNOWN


class Naming(LeanLower):
    """Makes code of instructions, and knows what each indexes."""

    def lower_inst(self, instruction: Any) -> None:
        """Compile an instruction, and know what it indexes."""
        before, _now[0] = _now[0], self._indexed(instruction)
        try:
            super().lower_inst(instruction)
        finally:
            _now[0] = before

    def _indexed(self, instruction: Any) -> str:
        if isinstance(instruction, (ir.SetItem, ir.StaticSetItem)):
            return self._name_of(instruction.target)
        value = getattr(instruction, "value", None)
        if isinstance(value, ir.Expr) and value.op in _READS:
            return self._name_of(value.value)
        if isinstance(value, ir.Expr) and value.op == "call" and value.args:
            return self._name_of(value.args[0])  # as atomics have it
        return UNKNOWN

    def _name_of(self, variable: Any) -> str:
        """Return what the source calls a variable, or the field that it was taken from."""
        if not variable.name.startswith("$"):
            return str(variable.unversioned_name)
        try:
            found = self.func_ir.get_definition(variable)
        except KeyError:
            return UNKNOWN
        if isinstance(found, (ir.Global, ir.FreeVar)):
            return str(found.name)
        if isinstance(found, ir.Expr) and found.op == "getattr":
            whole = self._name_of(found.value)
            return found.attr if whole == UNKNOWN else f"{whole}.{found.attr}"
        return UNKNOWN


@register_pass(mutates_CFG=True, analysis_only=False)
class _NamingPass(NativeLowering):  # type: ignore[misc]
    _name = "naming_lowering"

    @property
    def lowering_class(self) -> Any:
        """What makes code of instructions."""
        return Naming


def naming(passes: Any) -> Any:
    """Return passes that know what is being indexed."""
    passes.passes = [
        (_NamingPass if each is LeanLowering else each, about) for each, about in passes.passes
    ]
    passes.finalize()
    return passes


class NamingCompiler(LeanCompiler):
    """The usual way to compile, which knows what is being indexed."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        return [naming(passes) for passes in super().define_pipelines()]
