"""Every error Broadfront raises on purpose: one family, each naming what is wrong and where.

All derive from `BroadfrontError` and from the built-in exception a caller would expect, so both
``except broadfront.BroadfrontError`` and ``except ValueError`` do what they say.
"""

from __future__ import annotations

from os import PathLike, fspath


class BroadfrontError(Exception):
    """The family of all errors raised on purpose."""


class FormatError(BroadfrontError, ValueError):
    """A file does not hold what its format promises."""

    def __init__(self, path: str | PathLike[str], problem: str, line: int | None = None) -> None:
        self.path = fspath(path)
        self.line = line
        self.problem = problem
        where = self.path if line is None else f"{self.path}, line {line:,}"
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.path, self.problem, self.line)


class GraphError(BroadfrontError, ValueError):
    """Edge arrays or objects that do not describe a graph."""


class VertexError(BroadfrontError, LookupError):
    """A vertex that the graph does not have."""


class OptionError(BroadfrontError, ValueError):
    """An option, a name or a graph specification that is not understood."""


class FunctorError(BroadfrontError, TypeError):
    """A functor that does not compile, or returns what its operator cannot take."""


class BoundsError(BroadfrontError, IndexError):
    """An index outside an array, in code that is compiled with checks (`broadfront.checking`).

    `function` and `array` are names, `length` is how many places the array has.
    """

    def __init__(self, function: str, array: str, index: int, length: int) -> None:
        self.function, self.array, self.index, self.length = function, array, index, length
        super().__init__(f"{function}: {array} has {length:,} places, index {index:,}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.function, self.array, self.index, self.length)


class RangeError(FunctorError, OverflowError):
    """A whole number that its field cannot hold.

    `function`, where known, and `what` say who stores and where; `dtype` is that of the field.
    """

    def __init__(self, function: str, what: str, value: int, dtype: str) -> None:
        self.function, self.what, self.value, self.dtype = function, what, value, dtype
        who = f"{function}: " if function else ""
        super().__init__(f"{who}{what} cannot hold {value}: it is of {dtype}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.function, self.what, self.value, self.dtype)


class TimeLimitError(BroadfrontError, TimeoutError):
    """A run took longer than it was allowed to."""


class DeviceError(BroadfrontError, RuntimeError):
    """A device that failed; `device` is its number."""

    def __init__(self, problem: str, device: int) -> None:
        self.device = device
        super().__init__(problem)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.device)


class DeviceMemoryError(DeviceError, MemoryError):
    """A device that needs more memory than it has or may take; `wanted` is how many bytes."""

    def __init__(self, problem: str, device: int, wanted: int) -> None:
        self.wanted = wanted
        super().__init__(problem, device)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.device, self.wanted)


class RoutingError(BroadfrontError, ValueError):
    """Endpoints, links or a policy that make no dataflow (`broadfront.routing`)."""


class DeadlockError(BroadfrontError, RuntimeError):
    """Endpoints that all wait for each other (`broadfront.routing`)."""


class OutOfMemoryError(BroadfrontError, MemoryError):
    """The system has no more memory, or no room for another thread."""


class MissingDependencyError(BroadfrontError, ImportError):
    """An optional package that is needed for this call is not installed."""


class VerificationError(BroadfrontError, AssertionError):
    """An answer that breaks a rule of its problem."""

    def __init__(self, rule: str, problem: str) -> None:
        self.rule = rule
        self.problem = problem
        super().__init__(f"{rule}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.rule, self.problem)


def require(module: str, extra: str) -> object:
    """Import an optional `module`, or say in one line what to install."""
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"this needs {package}: pip install 'broadfront[{extra}]'"
        ) from error
