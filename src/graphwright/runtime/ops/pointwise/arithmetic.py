"""Pointwise ops: what they have in common, and the arithmetic ones.

Gradients of broadcast operands are summed to the operand's shape by the tape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import CPU, check_held
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import (
    EXACT,
    HALVES,
    SCALARS,
    compute_type,
    elementwise,
    is_wide_float,
    rounded_number,
    rounds,
    same_layout,
    wrap,
)
from graphwright.runtime.ops.pointwise.docstrings import binary_doc
from graphwright.runtime.ops.strides import (
    broadcast_shapes,
    is_with_number,
    pointwise_strides,
)
from graphwright.runtime.ops.table import Kind, NotDifferentiable, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import result_dtype, to_float
from graphwright.runtime.tensor.tensor import Tensor

Rule = Callable[[tuple[Any, ...]], DType]


def float_result(operands: tuple[Any, ...]) -> DType:
    """Promotion of ops such as `exp` and `/`: integers give the default dtype."""
    return to_float(result_dtype(operands))


def bool_result(operands: tuple[Any, ...]) -> DType:
    """Result dtype of comparisons."""
    return dtypes.bool


def pointwise_spec(name: str, operands: tuple[Any, ...], dtype: DType) -> TensorSpec:
    """Metadata of a pointwise result of `dtype`; of operands, numbers give no shape."""
    tensors = [o for o in operands if hasattr(o, "shape")]
    if not tensors:
        return TensorSpec((), (), dtype, CPU)
    layouts = [(t.shape, t.stride()) for t in tensors]
    shape = broadcast_shapes(name, [own for own, _ in layouts])
    strides = pointwise_strides(shape, layouts, is_with_number(name, operands))
    return TensorSpec(shape, strides, dtype, tensors[0].device)


def restricted(name: str, rule: Rule = result_dtype, **kinds: bool) -> Rule:
    """The promotion `rule` of an op that refuses some kinds of dtypes, as in `require_dtype`."""

    def restrict(operands: tuple[Any, ...]) -> DType:
        dtype = rule(operands)
        require_dtype(name, dtype, **kinds)
        return dtype

    restrict.floats_only = rule is float_result  # type: ignore[attr-defined]
    restrict.kinds = kinds  # type: ignore[attr-defined]
    return restrict


def takes_floats_only(rule: Rule) -> bool:
    """Whether a promotion rule makes integers the default dtype."""
    return rule is float_result or getattr(rule, "floats_only", False)


def _widened(operand: Any, dtype: DType, work: DType) -> Any:
    """An operand rounded to `dtype`, in the dtype `work` of the arithmetic."""
    if isinstance(operand, Tensor):
        if operand.dtype is not dtype:
            operand = ops.to_dtype(operand, dtype)
        return operand if work is dtype else ops.to_dtype(operand, work)
    number = work is not dtype and operand.__class__ in SCALARS
    return rounded_number(operand, dtype) if number else operand


def widened(function: Callable[..., Any]) -> Callable[..., Any]:
    """The decomposition `function` of floats, given operands of the dtype of the arithmetic.

    Integers become the default dtype; half types are computed in float32 and rounded once.
    """

    def decompose(*operands: Any) -> Any:
        dtype = float_result(operands)
        work = compute_type(dtype)
        result = function(*(_widened(o, dtype, work) for o in operands))
        return result if work is dtype else ops.to_dtype(result, dtype)

    return decompose


NUMBERS = {"any": ("Operand", "Operand"), "both": ("Operand", "Operand"),
           "second": ("Tensor", "Operand"), "none": ("Tensor", "Tensor")}
"""Which operands may be numbers, and the types in the schema that say so: "any" of them, also both
at once; either of "both", one at a time."""


def _refuse_numbers(name: str, numbers: str) -> None:
    allowed = {"both": "one", "second": "the first", "none": "each"}[numbers]
    raise TypeError(f"{name}(): {allowed} of the two operands must be a Tensor, not a number")


def paired(input: Any, other: Any) -> tuple[Any, Any]:
    """The operands, the first of two numbers as a tensor without dims and of its default dtype.

    For `add`, `sub`, `mul`, `div` and `floor_divide`, which take two numbers as PyTorch's do.
    """
    if input.__class__ in SCALARS and other.__class__ in SCALARS:
        dtype = result_dtype((input,))
        input = wrap(np.asarray(input, dtype.numpy), dtype)
    return input, other


def binary_kernel(
    name: str,
    function: Any,
    computed: Rule,
    result: Rule | None = None,
    numbers: str = "both",
    exact: int = 0,
) -> Callable[..., Tensor]:
    """Eager kernel of a two-operand op; a short way for equal dtypes and layouts.

    `computed` gives the dtype of the arithmetic, `result` (default: the same) the output's;
    `exact`: see `kernels.rounds`.
    """
    floats_only = takes_floats_only(computed)
    tensors_only = numbers == "none"
    tensor_first, pairs = numbers in ("second", "none"), numbers == "any"
    to_bool = result is bool_result
    weak = isinstance(function, np.ufunc)
    checks = computed not in (result_dtype, float_result)

    def eager(input: Any, other: Any) -> Any:
        if input.__class__ not in SCALARS:
            if other.__class__ in SCALARS:
                if tensors_only:
                    _refuse_numbers(name, numbers)
                direct = weak and other.__class__ is not complex and is_wide_float(input)
                operand = other
            else:
                direct = same_layout(input, other) and (
                    not floats_only or input.dtype.is_floating_point
                )
                operand = other._nd if direct else None
            if direct:
                if checks:
                    computed((input, other))
                out = _core.empty(Tensor, input.shape, dtypes.bool if to_bool else input.dtype)
                function(input._nd, operand, out._nd)
                return out
        elif tensor_first or (other.__class__ in SCALARS and not pairs):
            _refuse_numbers(name, numbers)
        operands = paired(input, other) if pairs else (input, other)
        dtype = computed(operands)
        to = dtype if result is None else result(operands)
        return elementwise(name, function, operands, dtype, to, exact)

    return eager


def define_binary(
    name: str,
    function: Any,
    *,
    computed: Rule = result_dtype,
    result: Rule | None = None,
    vjp: Callable[..., Any] | NotDifferentiable,
    saves: tuple[str, ...] = (),
    public: bool = True,
    inplace: bool = True,
    second: str = "other",
    decompose: Callable[..., Any] | None = None,
    method: bool = True,
    numbers: str = "both",
    exact: int = 0,
    doc: str = "",
) -> None:
    """Enter `name(input, other)`, and `name_` where `inplace`; `numbers` is a key of NUMBERS.

    `decompose`: what compiled code does, where there is no lowering. `doc`: a summary and an
    example, see docstrings.py.
    """
    rule = result or computed
    first_type, second_type = NUMBERS[numbers]

    def meta(input: Any, other: Any) -> TensorSpec:
        plain, rest_plain = not hasattr(input, "shape"), not hasattr(other, "shape")
        if (plain and numbers in ("second", "none")) or (rest_plain and numbers == "none"):
            _refuse_numbers(name, numbers)
        if result is not None and computed is not result_dtype:
            computed((input, other))    # refuses what cannot be computed with
        return pointwise_spec(name, (input, other), rule((input, other)))

    define(
        f"{name}({first_type} input, {second_type} {second})",
        Kind.POINTWISE,
        meta=meta,
        vjp=vjp,
        saves=saves,
        eager=binary_kernel(name, function, computed, result, numbers, exact),
        decompose=decompose,
        public=public,
        method=method,
        doc=binary_doc(
            doc,
            numbers,
            second,
            floats_only=takes_floats_only(computed),
            kinds=getattr(computed, "kinds", {}),
            returns="a bool tensor of the broadcast shape" if result is bool_result else "",
        ),
    )
    if inplace:
        define(
            f"{name}_(Tensor input, {second_type} {second})",
            Kind.INPLACE,
            functional=name,
            public=False,
            vjp=vjp if isinstance(vjp, NotDifferentiable) else None,
        )


# -- add, sub: with the factor alpha


def _sum_dtype(name: str, operands: tuple[Any, ...], rule: Rule, alpha: Any) -> DType:
    dtype = rule(operands)
    if alpha.__class__ is int and alpha == 1:
        return dtype
    if alpha is None:
        raise TypeError(f"{name}(): argument 'alpha' must be a number, not None")
    if isinstance(alpha, Tensor):
        alpha = alpha.item()
    if isinstance(alpha, bool) and dtype is not dtypes.bool:
        raise RuntimeError(f"{name}: Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            f"{name}: For integral input tensors, argument alpha must not be a floating point "
            "number."
        )
    if isinstance(alpha, complex) and not dtype.is_complex:
        raise RuntimeError(
            f"{name}: For non-complex input tensors, argument alpha must not be a complex number."
        )
    check_held(name, dtype, -alpha if name == "sub" else alpha)
    return dtype


def _sum_spec(name: str, rule: Rule) -> Callable[..., TensorSpec]:
    def meta(input: Any, other: Any, alpha: Any) -> TensorSpec:
        operands = (input, other)
        return pointwise_spec(name, operands, _sum_dtype(name, operands, rule, alpha))

    return meta


def _sum_kernel(name: str, ufunc: Any, rule: Rule) -> Callable[..., Tensor]:
    plain = binary_kernel(name, ufunc, rule, numbers="any")

    def scaled(alpha: Any) -> Callable[..., Any]:
        def function(a: Any, b: Any, out: Any) -> None:
            ufunc(a, b * np.asarray(alpha).astype(b.dtype), out)

        return function

    def factor(alpha: Any, dtype: DType) -> Any:
        return rounded_number(alpha, dtype) if dtype in HALVES else alpha

    def eager(input: Any, other: Any, alpha: Any) -> Tensor:
        if alpha.__class__ is int and alpha == 1:
            try:
                return plain(input, other)
            except TypeError:
                rule((input, other))
                raise
        operands = paired(input, other)
        dtype = _sum_dtype(name, operands, rule, alpha)
        return elementwise(name, scaled(factor(alpha, dtype)), operands, dtype, dtype)

    return eager


def _scaled(grad: Any, alpha: Any) -> Any:
    return grad if alpha.__class__ in SCALARS and alpha == 1 else ops.mul(grad, alpha)


def _difference_type(operands: tuple[Any, ...]) -> DType:
    truths = [isinstance(o, bool) or getattr(o, "dtype", None) is dtypes.bool for o in operands]
    if all(truths):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. "
            "Use the `^` or `logical_xor()` operator instead."
        )
    if any(truths):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
            "trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return result_dtype(operands)


define(
    "add(Operand input, Operand other, *, Scalar alpha=1)",
    Kind.POINTWISE,
    meta=_sum_spec("add", result_dtype),
    vjp=lambda ctx, grad: (grad, _scaled(grad, ctx.alpha)),
    eager=_sum_kernel("add", np.add, result_dtype),
    doc="""Sum, `input + alpha * other`, elementwise and broadcast; the operator `+`.

    Args:
        input, other: tensors or numbers that broadcast to one shape.
        alpha: the number that `other` is multiplied by.

    Returns: a tensor of the broadcast shape, in the promoted dtype.

    Raises:
        RuntimeError: the shapes do not broadcast, or `alpha` is a float and the result of
            integers.

    Example:
        >>> gw.add(gw.tensor([1, 2]), gw.tensor([3, 4]), alpha=10)
        tensor([31, 42])
    """,
)
define(
    "sub(Operand input, Operand other, *, Scalar alpha=1)",
    Kind.POINTWISE,
    meta=_sum_spec("sub", _difference_type),
    vjp=lambda ctx, grad: (
        grad,
        ops.neg(_scaled(grad, ctx.alpha)) if ctx.needs["other"] else None,
    ),
    eager=_sum_kernel("sub", np.subtract, _difference_type),
    doc="""Difference, `input - alpha * other`, elementwise and broadcast; the operator `-`.

    Args:
        input, other: tensors or numbers that broadcast to one shape.
        alpha: the number that `other` is multiplied by.

    Returns: a tensor of the broadcast shape, in the promoted dtype.

    Raises:
        RuntimeError: the shapes do not broadcast, or `alpha` is a float and the result of
            integers; an operand is of bool.

    Example:
        >>> gw.sub(gw.tensor([5.0, 6.0]), 2)
        tensor([3., 4.])
    """,
)
define(
    "add_(Tensor input, Operand other, *, Scalar alpha=1)",
    Kind.INPLACE,
    functional="add",
    public=False,
)
define(
    "sub_(Tensor input, Operand other, *, Scalar alpha=1)",
    Kind.INPLACE,
    functional="sub",
    public=False,
)


# -- mul, div


def _mul_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    return (
        ops.mul(grad, ctx.other) if ctx.needs["input"] else None,
        ops.mul(grad, ctx.input) if ctx.needs["other"] else None,
    )


define_binary(
    "mul",
    np.multiply,
    vjp=_mul_vjp,
    saves=("input?other", "other?input"),
    numbers="any",
    exact=EXACT["mul"],
    doc="""Product, `input * other`, elementwise and broadcast; the operator `*`.

    >>> gw.mul(gw.tensor([1, 2]), 0.5)
    tensor([0.5000, 1.0000])
    """,
)


def _floor_divide(a: Any, b: Any, out: Any) -> None:
    check_zero_division(b, out)
    np.floor_divide(a, b, out)


def _trunc_divide(a: Any, b: Any, out: Any) -> None:
    if out.dtype.kind == "f":
        np.divide(a, b, out)
        np.trunc(out, out)
        return
    check_zero_division(b, out)
    quotient = np.floor_divide(a, b)
    wrong = (np.remainder(a, b) != 0) & ((a < 0) != (b < 0))
    np.add(quotient, wrong.astype(out.dtype), out)


def check_zero_division(divisor: Any, out: Any) -> None:
    """Raise RuntimeError for bool, and where integers are divided by zero."""
    if out.dtype.kind == "b":
        raise NotImplementedError("division with rounding is not implemented for bool tensors")
    if divisor.dtype.kind in "iu" and out.size and not divisor.all():
        raise RuntimeError("ZeroDivisionError")


def rounded_dtype(operands: tuple[Any, ...]) -> DType:
    """The dtype of a division with rounding. Raises RuntimeError for bool, for complex numbers,
    and for a number 0 that integers are divided by."""
    dtype = result_dtype(operands)
    if dtype is dtypes.bool or dtype.is_complex:
        raise NotImplementedError(
            f"division with rounding is not implemented for {dtype.name} tensors"
        )
    input, other = operands
    by_zero = not dtype.is_floating_point and other.__class__ in SCALARS and other == 0
    if by_zero and 0 not in [n for n in input.shape if n.__class__ is int]:
        raise RuntimeError("ZeroDivisionError")
    return dtype


_true_divide = binary_kernel(
    "div", np.divide, float_result, numbers="any", exact=EXACT["div"]
)
_MODES = {"floor": _floor_divide, "trunc": _trunc_divide}


def _div_dtype(input: Any, other: Any, rounding_mode: str | None) -> DType:
    if rounding_mode is None:
        return float_result((input, other))
    if rounding_mode not in _MODES:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found '{rounding_mode}'"
        )
    return rounded_dtype((input, other))


def _div_meta(input: Any, other: Any, rounding_mode: str | None) -> TensorSpec:
    return pointwise_spec("div", (input, other), _div_dtype(input, other, rounding_mode))


def _div_eager(input: Any, other: Any, rounding_mode: str | None) -> Tensor:
    if rounding_mode is None:
        return _true_divide(input, other)
    input, other = paired(input, other)
    dtype = _div_dtype(input, other, rounding_mode)
    exact = EXACT["floor_divide"]
    if rounding_mode == "trunc" and compute_type(dtype) is not dtype and rounds(1, other, exact):
        return ops.trunc(_true_divide(input, other))
    return elementwise("div", _MODES[rounding_mode], (input, other), dtype, dtype, exact)


def _div_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    if ctx.rounding_mode is not None:
        zero = ops.zeros_like(grad)
        return zero, zero
    grad_other = None
    if ctx.needs["other"]:
        quotient = ops.div(ops.div(ctx.input, ctx.other), ctx.other)
        grad_other = ops.neg(ops.mul(grad, quotient))
    return ops.div(grad, ctx.other) if ctx.needs["input"] else None, grad_other


define(
    "div(Operand input, Operand other, *, str? rounding_mode=None)",
    Kind.POINTWISE,
    meta=_div_meta,
    vjp=_div_vjp,
    saves=("input?other", "other"),
    eager=_div_eager,
    doc="""Quotient, `input / other`, elementwise and broadcast; the operator `/`.

    Args:
        input, other: tensors or numbers that broadcast to one shape.
        rounding_mode: "floor" rounds down, "trunc" towards 0; not rounded if None.

    Returns: a tensor of the broadcast shape, in the promoted dtype; without rounding, integers
    and bool give the default dtype.

    Raises:
        NotImplementedError: rounded quotients of bool or of complex numbers.
        RuntimeError: the shapes do not broadcast; the mode has another name; an integer is
            divided by zero with rounding.

    Example:
        >>> gw.div(gw.tensor([7, -7]), 2)
        tensor([ 3.5000, -3.5000])
        >>> gw.div(gw.tensor([7, -7]), 2, rounding_mode="floor")
        tensor([ 3, -4])
    """,
)
define(
    "div_(Tensor input, Operand other, *, str? rounding_mode=None)",
    Kind.INPLACE,
    functional="div",
    public=False,
)
