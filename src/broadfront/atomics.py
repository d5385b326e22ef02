"""Atomic operations on array elements, for use inside functors and kernels.

    from broadfront import atomics

    before = atomics.add(state.count, vertex, 1)

Each takes an array (or a pointer, which is what functors see) and an index. The read-modify-write
ones return the value from before; `compare_and_swap` returns whether it happened. In an element of
several values they act on each value by itself. Memory order is
the weakest that keeps the promise in the docstring: what must be seen across threads is ordered by
the barrier between operators, not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from broadfront.bounded import Bounded, element_within, fitted
from broadfront.checking import refuse_outside
from broadfront.elements import refuse_cast, value_addresses
from broadfront.ranges import refuse_sum
from broadfront.sites import array_name
from broadfront.traffic import READ, WRITTEN


def element(
    context: Any, builder: Any, holder: Any, value: Any, index: Any, place: Any, *ways: int
) -> Any:
    """Return the address of an element of an array or behind a pointer.

    `ways` are those in which it is about to be used, for `broadfront.traffic`.
    """
    offset = context.cast(builder, place, index, types.intp)
    if isinstance(holder, Bounded):
        return element_within(context, builder, holder, value, offset, *ways)
    if isinstance(holder, types.CPointer):
        return builder.gep(value, [offset])
    array = make_array(holder)(context, builder, value)
    if context.enable_boundscheck:
        refuse_outside(context, builder, array_name(), offset, array.nitems)
    return builder.gep(array.data, [offset])


def _operand(context: Any, builder: Any, array: Any, value: Any, given: Any) -> Any:
    """Return a value as an element of an array, checked where the array is."""
    if isinstance(array, Bounded):
        return fitted(context, builder, array, value, given)
    return context.cast(builder, value, given, array.dtype)


def _read_modify_write(name: str, unsigned: str, real: str, about: str) -> Callable[..., Any]:
    def _operation(dtype: Any) -> str:
        if isinstance(dtype, types.Float):
            return real
        return unsigned if isinstance(dtype, types.Integer) and not dtype.signed else name

    @intrinsic
    def atomic(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
        dtype = array.dtype
        refuse_cast(value, dtype, "what an atomic takes")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address = element(
                context, builder, array, arguments[0], index, arguments[1], READ, WRITTEN
            )
            operand = _operand(context, builder, array, arguments[2], value)
            if not isinstance(dtype, types.BaseTuple):
                there = builder.atomic_rmw(_operation(dtype), address, operand, "monotonic")
                if name == "add" and isinstance(array, Bounded) and array.of_state:
                    refuse_sum(context, builder, there, operand, dtype, array.array)
                return there
            before = [
                builder.atomic_rmw(
                    _operation(kind), place, builder.extract_value(operand, number), "monotonic"
                )
                for number, (kind, place) in enumerate(
                    zip(dtype, value_addresses(context, builder, address, dtype), strict=True)
                )
            ]
            return context.make_tuple(builder, dtype, before)

        return dtype(array, index, value), generate

    atomic.__doc__ = about
    return atomic  # type: ignore[no-any-return]


add = _read_modify_write("add", "add", "fadd", "Add to an element; return what it was.")
minimum = _read_modify_write("min", "umin", "fmin", "Keep the smaller; return what it was.")
maximum = _read_modify_write("max", "umax", "fmax", "Keep the larger; return what it was.")
bitwise_or = _read_modify_write("or", "or", "or", "Set bits of an integer; return what it was.")
exchange = _read_modify_write("xchg", "xchg", "xchg", "Put a value; return what was there.")


@intrinsic
def compare_and_swap(typing_context: Any, array: Any, index: Any, old: Any, new: Any) -> Any:
    """Put `new` where `old` is; return whether it was."""
    dtype = array.dtype
    refuse_cast(old, dtype, "what an atomic takes")
    refuse_cast(new, dtype, "what an atomic takes")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, array, arguments[0], index, arguments[1], READ, WRITTEN)
        before = _operand(context, builder, array, arguments[2], old)
        after = _operand(context, builder, array, arguments[3], new)
        outcome = builder.cmpxchg(address, before, after, "acq_rel", "monotonic")
        happened = builder.extract_value(outcome, 1)
        return builder.zext(happened, context.get_value_type(types.boolean))

    return types.boolean(array, index, old, new), generate


def _aligned(dtype: Any) -> int:
    return max(1, int(dtype.bitwidth) // 8)


@intrinsic
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """Read an element, and with it all that its writer had stored before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, array, arguments[0], index, arguments[1], READ)
        return builder.load_atomic(address, "acquire", _aligned(array.dtype))

    return array.dtype(array, index), generate


@intrinsic
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Write an element, after all that this thread has stored before."""
    refuse_cast(value, array.dtype, "what an atomic takes")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, array, arguments[0], index, arguments[1], WRITTEN)
        stored = _operand(context, builder, array, arguments[2], value)
        builder.store_atomic(stored, address, "release", _aligned(array.dtype))
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@intrinsic
def arrive(typing_context: Any, array: Any, index: Any) -> Any:
    """Add one to a counter that others wait on; return what it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, array, arguments[0], index, arguments[1], READ, WRITTEN)
        one = ir.Constant(ir.IntType(array.dtype.bitwidth), 1)
        return builder.atomic_rmw("add", address, one, "acq_rel")

    return array.dtype(array, index), generate
