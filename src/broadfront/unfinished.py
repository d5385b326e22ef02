"""Compiling functions that are only ever parts of others, without finishing them.

Numba links every function with all that it calls, optimises that and makes machine code of it,
before the next one calls it. A loop that is chained of functions, each calling the next, is thus
linked and optimised again at every link. What Python itself never calls needs none of it: it is
simplified by itself, and who is finished and calls it links it, once, with all that
it calls, and optimises it in its own place.

Numba also compiles a function anew for every constant that it is called with. Here a constant is a
number like any other; whoever optimises the function still sees which.

Invariant: such a function has no address; only compiled functions can call it.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NopythonRewrites
from numba.core.types.misc import unliteral

from broadfront.checking import checking, options_of_checks
from broadfront.lean import LeanCompiler
from broadfront.quick import compile_without_clocks
from broadfront.sites import naming

KEPT = "weak_odr"
"""Linkage of a function that stays although nobody calls it yet: what is linked next may."""


class _WithoutEnvironment:
    """A code generator that does not look for the function's address to store its environment."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: object) -> None:
        """Store nothing: whoever is finished and calls the function does (`finished`)."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class UnfinishedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code to be linked into that of a caller."""

    @property
    def codegen(self) -> Any:
        """The code generator."""
        return _WithoutEnvironment(self._codegen)

    def _optimize_functions(self, module: Any) -> None:
        """Simplify each function by itself: small ones are then known as small, and inlined."""
        module.data_layout = self._codegen._data_layout
        builder = self._codegen._pass_builder()
        passes = builder.getFunctionPassManager()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def finalize(self) -> None:
        """Link nothing, but remember what the libraries to be linked must do when loaded."""
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Return this library and all that it needs, each linked once; not kept."""
        parts: dict[Any, None] = {}
        self._add_parts(parts)
        whole, *others = (part._own_module() for part in parts if isinstance(part, type(self)))
        for other in others:
            whole.link_in(other)
        for part in parts:
            if not isinstance(part, type(self)):
                whole.link_in(part._get_module_for_linking(), preserve=True)
        for function in whole.functions:
            if function.linkage == Linkage.weak_odr:
                function.linkage = "linkonce_odr"  # now it may go if nobody calls it
        return whole

    def _add_parts(self, parts: dict[Any, None]) -> None:
        parts[self] = None
        for library in self._linking_libraries:
            if library in parts:
                continue
            if isinstance(library, UnfinishedLibrary):
                library._add_parts(parts)
            else:
                parts[library] = None

    def _own_module(self) -> Any:
        """Return a copy of this library's own code, which may be linked where it is already."""
        module = self._final_module.clone()
        for function in module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = KEPT
        return module

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is none."""
        self._ensure_finalized()
        return 0


class UnfinishedCompiler(LeanCompiler):
    """A compiler that stops before linking.

    Nor does it look for expressions over whole arrays to merge, of which loops have none.
    """

    without = (NopythonRewrites,)

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        self.state.library = UnfinishedLibrary(self.state.targetctx.codegen(), "part")
        return super().define_pipelines()


class NamingUnfinishedCompiler(UnfinishedCompiler):
    """The same for functions that check every index, and know what they index."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        return [naming(passes) for passes in super().define_pipelines()]


class Part(CPUDispatcher):  # type: ignore[misc]
    """A function that only compiled functions call."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how to call it with arguments of these types, constants or not."""
        plain = {name: unliteral(given) for name, given in kws.items()}
        return super().get_call_template(tuple(map(unliteral, args)), plain)

    def compile(self, signature: Any) -> Any:
        """Compile for arguments of these types."""
        return compile_without_clocks(self, signature)


def part(function: Any, **options: Any) -> Part:
    """Return `function` as a part of those that call it."""
    given = {"nopython": True, **options_of_checks(), **options}
    compiler = NamingUnfinishedCompiler if checking() else UnfinishedCompiler
    return Part(py_func=function, targetoptions=given, pipeline_class=compiler)
