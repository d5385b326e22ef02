"""Numba's lowering without what kernels have no use for.

Lowering a statement costs Python time for each LLVM instruction, and LLVM reads all of them again.
Most of them do nothing: Numba looks for reference counts in every value that is dropped, through
all members of a tuple, and keeps every variable that lives for more than a block in memory.

- A type without reference counts is known as such once (`_is_counted`).
- A variable that is assigned once, where all that use it come after, is its value.

Both leave out instructions that LLVM would have taken out.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks, must_use_alloca
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import NativeLowering

from broadfront.quick import is_counted


class Counting(NRTContext):  # type: ignore[misc]
    """Reference counts where there are any."""

    def _call_incref_decref(self, builder: Any, kind: Any, value: Any, name: str) -> None:
        if is_counted(self._context.data_model_manager, kind):
            super()._call_incref_decref(builder, kind, value, name)


class LeanLower(Lower):  # type: ignore[misc]
    """Lowering with fewer instructions."""

    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()
        if not self.func_ir.func_id.is_generator:
            plain = set(filter(self._is_plain, assigned_before_use(self.func_ir.blocks)))
            self._singly_assigned_vars |= plain

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if self._is_plain(name) and name not in self._singly_assigned_vars:
            self.builder.store(value, self.getvar(name))
        else:
            super().storevar(value, name, argidx)

    def delvar(self, name: str) -> None:
        if not self._is_plain(name):
            super().delvar(name)

    def _is_plain(self, name: str) -> bool:
        models = self.context.data_model_manager
        return not self._disable_sroa_like_opt and not is_counted(models, self.typeof(name))


def assigned_before_use(blocks: dict[int, Any]) -> set[str]:
    """Return the variables with one assignment, in a block that dominates all that use them.

    Blocks are lowered in the order of their numbers: the one that assigns must come first.
    """
    assigned: dict[str, list[int]] = {}
    used: dict[str, set[int]] = {}
    for number, block in blocks.items():
        for statement in block.body:
            if isinstance(statement, ir.Del):
                continue
            target = statement.target.name if isinstance(statement, ir.Assign) else None
            if target is not None:
                assigned.setdefault(target, []).append(number)
            for variable in statement.list_vars():
                used.setdefault(variable.name, set()).add(number)
    dominators = compute_cfg_from_blocks(blocks).dominators()
    once = {name for name, places in assigned.items() if len(places) == 1}
    return {
        name for name in once - must_use_alloca(blocks)
        if all(assigned[name][0] in dominators[place] and assigned[name][0] <= place
               for place in used[name])
    }  # fmt: skip


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(NativeLowering):  # type: ignore[misc]
    """The pass that lowers."""

    _name = "lean_lowering"

    @property
    def lowering_class(self) -> Any:
        """The class that lowers."""
        return LeanLower


def make_lean(state: Any, passes: Any) -> None:
    """Let a compiler's passes lower in this way."""
    context = state.targetctx.subtarget()
    context.nrt = Counting(context, context.enable_nrt)
    state.targetctx = context
    passes.passes = [
        (LeanLowering if each is NativeLowering else each, text) for each, text in passes.passes
    ]
