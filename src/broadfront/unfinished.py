"""Compiling functions that are only ever parts of others, without finishing them.

Numba optimises every function together with all that it calls, and makes machine code of it, before
the next one calls it. A loop that is chained of functions, each calling the next, is thus optimised
again at every link. What Python itself never calls needs neither: it is left as it comes from the
front end, and whoever calls it optimises it, once, in its own place.

Invariant: such a function has no address; only compiled functions can call it.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder


class _WithoutEnvironment:
    """A code generator that does not look for the function's address to store its environment."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: object) -> None:
        """Store nothing: an environment is for calls from Python."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class UnfinishedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code to be linked into that of a caller."""

    @property
    def codegen(self) -> Any:
        """The code generator."""
        return _WithoutEnvironment(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is none."""
        self._ensure_finalized()
        return 0


class UnfinishedCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's usual way to compile, which stops before optimising."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        self.state.library = UnfinishedLibrary(self.state.targetctx.codegen(), "part")
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]
