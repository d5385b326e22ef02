"""What arithmetic means in functors, which plain Python and compiled code must agree on.

Whole numbers have 64 bits in compiled code. Refused while it compiles, by types alone, is what
would quietly be something else than in Python: a real number stored into a field of integers, a
uint64 that meets a signed number, and a power whose exponent may be negative. Code that checks
(`checked=True`) raises where a result is beyond 64 bits, where something is divided by zero, and
where a conversion does not fit.

Invariant: without `checked=True` this adds no instruction to any functor.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils, errors, ir
from numba.core.compiler_machinery import register_pass

from broadfront.bounded import Bounded
from broadfront.checking import check_index, checking, function_name, options_of_checks
from broadfront.elements import SAID, refuse_cast
from broadfront.kernel import ONLY_FROM_KERNELS
from broadfront.lean import LeanLowering
from broadfront.ranges import refuse_unfit
from broadfront.sites import Naming
from broadfront.unfinished import Part, UnfinishedCompiler

ADD = (operator.add, operator.iadd)
SUBTRACT = (operator.sub, operator.isub)
MULTIPLY = (operator.mul, operator.imul)
DIVIDE = (
    operator.floordiv, operator.ifloordiv, operator.mod, operator.imod, operator.truediv,
    operator.itruediv,
)  # fmt: skip
FLOOR = DIVIDE[:2]
POWER = (operator.pow, operator.ipow)
AND = (operator.and_, operator.iand)
LEFT, RIGHT = (operator.lshift, operator.ilshift), (operator.rshift, operator.irshift)
SIGNS_MATTER = (
    *ADD, *SUBTRACT, *MULTIPLY, *DIVIDE[:4], *AND, operator.or_, operator.ior, operator.xor,
    operator.ixor,
)  # fmt: skip
NAMES = {ADD: "a sum", SUBTRACT: "a difference", MULTIPLY: "a product"}


def functor_part(function: Any, reads_arrays: bool) -> Part:
    """Return a functor, or what one calls, as a part of the loop.

    One that reads arrays from around it has every index of these checked, as NumPy does.
    """
    given = {"nopython": True, **options_of_checks(), **ONLY_FROM_KERNELS}
    if reads_arrays:
        cgutils.do_boundscheck = check_index
        given["boundscheck"] = True
    compiler = CheckedFunctorCompiler if checking() else FunctorCompiler
    return Part(py_func=function, targetoptions=given, pipeline_class=compiler)


class _Lowering(Naming):
    """Makes code of a functor, and refuses what would mean something else than in Python."""

    checks = False
    """Whether what does not fit raises."""

    def lower_inst(self, instruction: Any) -> None:
        """Compile an instruction."""
        if isinstance(instruction, (ir.SetItem, ir.StaticSetItem)):
            holder = self.typeof(instruction.target.name)
            if isinstance(holder, (types.CPointer, Bounded)):
                given = _plain(self.typeof(instruction.value.name))
                what = f"what is stored into {self._name_of(instruction.target)}"
                self._refusing(refuse_cast, given, holder.dtype, what)
        super().lower_inst(instruction)

    def _refusing(self, refuse: Any, *given: Any) -> None:
        try:
            refuse(*given)
        except errors.TypingError as error:
            raise errors.TypingError(error.args[0], loc=self.loc) from None

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Compile an operation on two numbers."""
        given = self.typeof(expr.lhs.name), self.typeof(expr.rhs.name)
        self._refusing(_refuse_signs, op, *given)
        self._refusing(_refuse_power, op, *given)
        if self.checks and all(map(_is_number, given)):
            self._check(expr, op, *given)
        return super().lower_binop(resty, expr, op)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Compile an expression."""
        if expr.op == "unary" and expr.fn is operator.neg:
            kind = _plain(self.typeof(expr.value.name))
            self._refusing(_refuse_minus, kind)
            if self.checks:
                self._check_least(expr.value, kind)
        if expr.op == "call" and self.checks and len(expr.args) == 1:
            self._check_call(expr)
        return super().lower_expr(resty, expr)

    # Checks.

    def _check(self, expr: Any, op: Any, left: Any, right: Any) -> None:
        builder, signature = self.builder, self.fndesc.calltypes[expr]
        kinds = [_plain(kind) for kind in signature.args]
        one, other = (
            self.context.cast(builder, self.loadvar(variable.name), given, kind)
            for variable, given, kind in zip(
                (expr.lhs, expr.rhs), (left, right), kinds, strict=True
            )
        )
        if op in DIVIDE:
            self._check_division(op, one, other, kinds)
            return
        if not all(isinstance(kind, types.Integer) for kind in kinds):
            return
        result = _plain(signature.return_type)
        if op in (*LEFT, *RIGHT):
            self._check_shift(op in LEFT, one, other, result)
            return
        for ways, name in NAMES.items():
            if op in ways:
                wide = [builder.sext(each, llvm.IntType(64)) if each.type.width < 64 else each
                        for each in (one, other)]  # fmt: skip
                sign = "s" if result.signed else "u"
                verb = {ADD: "add", SUBTRACT: "sub", MULTIPLY: "mul"}[ways]
                outcome = getattr(builder, f"{sign}{verb}_with_overflow")(*wide)
                beyond = builder.extract_value(outcome, 1)
                self._raise_if(beyond, OverflowError, f"{name} is beyond 64 bits")

    def _check_division(self, op: Any, one: Any, other: Any, kinds: list[Any]) -> None:
        builder = self.builder
        if isinstance(kinds[1], types.Float):
            is_zero = builder.fcmp_ordered("==", other, llvm.Constant(other.type, 0))
        else:
            is_zero = builder.icmp_signed("==", other, other.type(0))
        self._raise_if(is_zero, ZeroDivisionError, "division by zero")
        if op in FLOOR and kinds[0] == types.int64:
            least = builder.icmp_signed("==", one, one.type(kinds[0].minval))
            turned = builder.and_(least, builder.icmp_signed("==", other, other.type(-1)))
            self._raise_if(turned, OverflowError, "a quotient is beyond 64 bits")

    def _check_shift(self, left: bool, one: Any, other: Any, result: Any) -> None:
        builder = self.builder
        far = builder.icmp_unsigned(">=", other, other.type(64))
        self._raise_if(far, OverflowError, "a shift by less than 0 or more than 63 bits")
        if left:
            wide = builder.sext(one, llvm.IntType(64)) if one.type.width < 64 else one
            back = builder.ashr if result.signed else builder.lshr
            count = builder.zext(other, llvm.IntType(64)) if other.type.width < 64 else other
            there = back(builder.shl(wide, count), count)
            lost = builder.icmp_signed("!=", there, wide)
            self._raise_if(lost, OverflowError, "a shift is beyond 64 bits")

    def _check_least(self, variable: Any, kind: Any) -> None:
        """Raise for the least number, which has no positive one."""
        if isinstance(kind, types.Integer) and kind.signed and kind.bitwidth == 64:
            value = self.loadvar(variable.name)
            least = self.builder.icmp_signed("==", value, value.type(kind.minval))
            self._raise_if(least, OverflowError, "a number is beyond 64 bits")

    def _check_call(self, expr: Any) -> None:
        function = getattr(self.typeof(expr.func.name), "typing_key", None)
        kind = self.typeof(expr.func.name)
        given = _plain(self.typeof(expr.args[0].name))
        if function is abs:
            self._check_least(expr.args[0], given)
            return
        wanted = kind.dtype if isinstance(kind, types.NumberClass) else None
        if function is int:
            wanted = types.int64
        if not isinstance(wanted, types.Integer):
            return
        value = self.loadvar(expr.args[0].name)
        if isinstance(given, types.Float):
            builder = self.builder
            bounds = [llvm.Constant(value.type, float(bound))
                      for bound in (wanted.minval - (wanted.bitwidth < 53), wanted.maxval + 1)
                      ]  # fmt: skip
            low = ">" if wanted.bitwidth < 53 else ">="
            inside = builder.and_(
                builder.fcmp_ordered(low, value, bounds[0]),
                builder.fcmp_ordered("<", value, bounds[1]),
            )
            self._raise_if(
                builder.not_(inside), OverflowError, f"a real number does not fit {wanted}"
            )
        else:
            refuse_unfit(self.context, self.builder, value, given, wanted, "a conversion")

    def _raise_if(self, condition: Any, error: type[Exception], what: str) -> None:
        with self.builder.if_then(condition, likely=False):
            where = f"{function_name(self.builder)}, line {self.loc.line}"
            self.context.call_conv.return_user_exc(self.builder, error, (f"{where}: {what}",))


def _plain(kind: Any) -> Any:
    return types.unliteral(kind)


def _is_number(kind: Any) -> bool:
    return isinstance(_plain(kind), (types.Integer, types.Float, types.Boolean))


def _refuse_signs(op: Any, left: Any, right: Any) -> None:
    """Refuse a uint64 that meets a signed number, the outcome of which would be an int64."""
    if op not in SIGNS_MATTER:
        return
    for one, other in ((left, right), (right, left)):
        long = _plain(one) == types.uint64 and not isinstance(one, types.Literal)
        signed = isinstance(_plain(other), types.Integer) and _plain(other).signed
        mask = op in AND and isinstance(other, types.IntegerLiteral) and other.literal_value >= 0
        if long and signed and not mask:
            raise errors.TypingError(
                f"{SAID}a uint64 meets a signed number, and compiled code makes an int64 of both: "
                "write np.uint64(...) around the other, or np.int64(...) around this one"
            )


def _refuse_power(op: Any, base: Any, exponent: Any) -> None:
    """Refuse a power of whole numbers that in Python may be a real number."""
    whole = all(isinstance(_plain(kind), types.Integer) for kind in (base, exponent))
    if op not in POWER or not whole or not _plain(exponent).signed:
        return
    if isinstance(exponent, types.IntegerLiteral) and exponent.literal_value >= 0:
        return
    raise errors.TypingError(
        f"{SAID}a power of whole numbers whose exponent may be negative: write "
        "float(...) ** exponent, or 1 << exponent for powers of two"
    )


def _refuse_minus(kind: Any) -> None:
    if isinstance(kind, types.Integer) and not kind.signed:
        raise errors.TypingError(
            f"{SAID}minus an unsigned number wraps around in compiled code: write -np.int64(...)"
        )


class _CheckedLowering(_Lowering):
    """Does it with checks."""

    checks = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _FunctorLowering(LeanLowering):
    _name = "functor_lowering"

    @property
    def lowering_class(self) -> Any:
        """What makes code of instructions."""
        return _Lowering


@register_pass(mutates_CFG=True, analysis_only=False)
class _CheckedFunctorLowering(LeanLowering):
    _name = "checked_functor_lowering"

    @property
    def lowering_class(self) -> Any:
        """What makes code of instructions."""
        return _CheckedLowering


class FunctorCompiler(UnfinishedCompiler):
    """Compiles a functor as a part, with what is refused in it."""

    by = _FunctorLowering

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        made = super().define_pipelines()
        for passes in made:
            passes.passes = [
                (self.by if each is LeanLowering else each, about) for each, about in passes.passes
            ]
            passes.finalize()
        return made


class CheckedFunctorCompiler(FunctorCompiler):
    """Compiles one that raises where a number does not fit."""

    by = _CheckedFunctorLowering
