"""Functions that Python calls, finished by Numba with all parts that they call.

They compile apart (`broadfront.apart`). Parts (`broadfront.unfinished`) have no address until they
are linked here; only then can each be told its environment: the Python objects that its code needs
to print, to raise an error with values in it, or to go back to Python.

Invariant: code whose environments another process could not make again is not kept on disk.
"""

from __future__ import annotations

from typing import Any

from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher

from broadfront.apart import apart
from broadfront.checking import checking, options_of_checks
from broadfront.lean import LeanCompiler
from broadfront.quick import compiling_quickly
from broadfront.sites import NamingCompiler

ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of variables begin that refer to environments."""


class Finished(CPUDispatcher):  # type: ignore[misc]
    """A function that Python calls."""

    def _compile_for_args(self, *arguments: Any, **named: Any) -> Any:
        compile_here = super()._compile_for_args
        return apart(lambda: compile_here(*arguments, **named))

    def compile(self, signature: Any) -> Any:
        """Compile for arguments of these types."""
        with compiling_quickly():
            return super().compile(signature)

    def add_overload(self, compiled: Any) -> None:
        """Take what was compiled or loaded, ready to be called."""
        _set_environments(compiled)
        super().add_overload(compiled)


def _set_environments(compiled: Any) -> None:
    """Let the code of every part refer to its environment, which the part keeps."""
    library = compiled.library
    for variable in library._final_module.global_variables:
        if variable.name.startswith(ENVIRONMENT):
            environment = lookup_environment(variable.name)
            if environment is not None:
                library.codegen.set_env(variable.name, environment)
            if environment is None or not environment.can_cache():
                library._dynamic_globals.append(variable.name)  # what Numba keeps off the disk


def finished(function: Any, **options: Any) -> Finished:
    """Return `function` as one that Python calls."""
    given = {"nopython": True, **options_of_checks(), **options}
    compiler = NamingCompiler if checking() else LeanCompiler
    return Finished(function, targetoptions=given, pipeline_class=compiler)
