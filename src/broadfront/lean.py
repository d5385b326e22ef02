"""Numba's passes without what a kernel has no use for.

Lowering a statement costs Python time for each LLVM instruction, and LLVM reads all of them again.
Most of them do nothing: Numba looks for reference counts in every value that is dropped, through
all members of a tuple, and keeps every variable that lives for more than a block in memory. Here

- nothing is done to drop a value without reference counts;
- a variable without, assigned once and before all that use it, is its value;
- a function without closures and lists is not searched for them.

A value takes the place of a variable only where its one assignment dominates all uses (Cytron et
al., "Efficiently computing static single assignment form", TOPLAS 1991). Generators keep variables
in memory between calls, and a call within ``try`` may leave a block in its midst: functions with
either are lowered as Numba does.

Invariant: only instructions go that LLVM would have taken out.
"""

from __future__ import annotations

from dis import opmap
from typing import Any

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks, must_use_alloca
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext
from numba.core.typed_passes import NativeLowering
from numba.core.untyped_passes import InlineClosureLikes, MakeFunctionToJitFunction, WithLifting

from broadfront.apart import check_leaving
from broadfront.quick import is_counted

LIKE_CLOSURES = (WithLifting, InlineClosureLikes, MakeFunctionToJitFunction)
"""Passes over functions within functions, comprehensions and blocks of ``with``."""
CALLED_WITH_CLOSURES = {"reduce", "stencil"}
LISTS = {opmap["BUILD_LIST"], opmap["LIST_APPEND"]}


def has_closures(code: Any) -> bool:
    """Tell whether a code may hold what `LIKE_CLOSURES` look for."""
    return (
        any(hasattr(constant, "co_code") for constant in code.co_consts)
        or bool(code.co_exceptiontable)
        or not CALLED_WITH_CLOSURES.isdisjoint(code.co_names)
        or not LISTS.isdisjoint(code.co_code[::2])
    )


class Counting(NRTContext):  # type: ignore[misc]
    """Reference counts where there are any."""

    def _call_incref_decref(self, builder: Any, kind: Any, value: Any, name: str) -> None:
        if is_counted(self._context.data_model_manager, kind):
            super()._call_incref_decref(builder, kind, value, name)


class LeanLower(Lower):  # type: ignore[misc]
    """Lowering with fewer instructions."""

    def _find_singly_assigned_variable(self) -> None:
        about = self.func_ir.func_id
        if about.is_generator or about.code.co_exceptiontable or self._disable_sroa_like_opt:
            super()._find_singly_assigned_variable()
            return
        within, beyond = assigned_before_use(self.func_ir.blocks)
        self._singly_assigned_vars = within | set(filter(self._is_plain, beyond))
        self._blk_local_varmap: dict[str, Any] = {}

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Let a variable be a value."""
        if self._is_plain(name) and name not in self._singly_assigned_vars:
            self.builder.store(value, self.getvar(name))
        else:
            super().storevar(value, name, argidx)

    def delvar(self, name: str) -> None:
        """Drop the value of a variable."""
        if not self._is_plain(name):
            super().delvar(name)

    def _is_plain(self, name: str) -> bool:
        models = self.context.data_model_manager
        return not self._disable_sroa_like_opt and not is_counted(models, self.typeof(name))


def assigned_before_use(blocks: dict[int, Any]) -> tuple[set[str], set[str]]:
    """Return the variables that are assigned once, before all that use them.

    First those used within one block; then those used in others too, which it dominates. Blocks are
    lowered in the order of their numbers, and statements in theirs.
    """
    assigned: dict[str, list[int]] = {}
    used: dict[str, set[int]] = {}
    early: set[str] = set()
    for number, block in sorted(blocks.items()):
        for statement in block.body:
            if isinstance(statement, ir.Del):
                continue
            names = [variable.name for variable in statement.list_vars()]
            for name in names:
                used.setdefault(name, set()).add(number)
            if isinstance(statement, ir.Assign):
                names.remove(statement.target.name)
            early.update(name for name in names if name not in assigned)
            if isinstance(statement, ir.Assign):
                assigned.setdefault(statement.target.name, []).append(number)
    dominators = compute_cfg_from_blocks(blocks).dominators()
    once = {name for name, places in assigned.items() if len(places) == 1}
    once -= must_use_alloca(blocks) | early
    within = {name for name in once if len(used[name]) == 1}
    beyond = {
        name for name in once - within
        if all(assigned[name][0] in dominators[place] for place in used[name])
    }  # fmt: skip
    return within, beyond


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanLowering(NativeLowering):  # type: ignore[misc]
    """The pass that lowers."""

    _name = "lean_lowering"

    @property
    def lowering_class(self) -> Any:
        """What makes code of instructions."""
        return LeanLower


class LeanCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's usual way to compile, but for all this."""

    without: tuple[Any, ...] = ()
    """Passes that are left out of every function."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        check_leaving()
        state = self.state
        state.targetctx = state.targetctx.subtarget()
        state.targetctx.nrt = Counting(state.targetctx, state.targetctx.enable_nrt)
        without = self.without
        if not has_closures(state.func_id.code):
            without += LIKE_CLOSURES
        passes = DefaultPassBuilder.define_nopython_pipeline(state)
        passes.passes = [
            (LeanLowering if each is NativeLowering else each, about)
            for each, about in passes.passes
            if each not in without
        ]
        passes.finalize()
        return [passes]
