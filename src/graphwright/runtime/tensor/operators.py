"""Python operators of Tensor, as a mixin; each goes straight to `dispatch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops.table import Op, op
from graphwright.runtime.ops.tensor_spec import check_writable
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphwright.runtime.tensor.tensor import Tensor

    Binary = Callable[[Any, Any], Tensor]

_abs = op("abs")
_add = op("add")
_add_ = op("add_")
_bitwise_and = op("bitwise_and")
_bitwise_and_ = op("bitwise_and_")
_bitwise_left_shift = op("bitwise_left_shift")
_bitwise_left_shift_ = op("bitwise_left_shift_")
_bitwise_not = op("bitwise_not")
_bitwise_or = op("bitwise_or")
_bitwise_or_ = op("bitwise_or_")
_bitwise_right_shift = op("bitwise_right_shift")
_bitwise_right_shift_ = op("bitwise_right_shift_")
_bitwise_xor = op("bitwise_xor")
_bitwise_xor_ = op("bitwise_xor_")
_copy_ = op("copy_")
_div = op("div")
_div_ = op("div_")
_eq = op("eq")
_floor_divide = op("floor_divide")
_floor_divide_ = op("floor_divide_")
_ge = op("ge")
_gt = op("gt")
_le = op("le")
_lt = op("lt")
_matmul = op("matmul")
_mul = op("mul")
_mul_ = op("mul_")
_ne = op("ne")
_neg = op("neg")
_polygamma = op("polygamma")
_pow = op("pow")
_pow_ = op("pow_")
_remainder = op("remainder")
_remainder_ = op("remainder_")
_sub = op("sub")
_sub_ = op("sub_")
_where = op("where")

_COMPARABLE = frozenset({int, float, bool})


def _is_operand(other: Any) -> bool:
    """Whether a value is a number, or has a dtype; arrays compare by NumPy's operator, which
    knows tensors."""
    if isinstance(other, int | float | complex | SymInt):
        return True
    return hasattr(other, "dtype") and not isinstance(other, np.ndarray)


def _compared_by_other(comparison: Op, tensor: Any, other: Any) -> Any:
    """What the class of a value that is no operand makes of the comparison, where it has a say."""
    if not hasattr(type(other), "__torch_function__"):
        return NotImplemented
    try:
        return dispatch(comparison, (tensor, other))
    except TypeError:
        return NotImplemented


def _gives_way(other: Any, name: str) -> bool:
    """Whether the class of an operand that is no number has its own form of the operator."""
    own = getattr(type(other), name, None)
    return own is not None and own is not getattr(object, name, None)


def _operator(name: str, reflected: str, entry: Op, *extra: Any) -> Binary:
    """The method `name`, `tensor OP other`: `entry` of both.

    What raises TypeError is left to the other operand's method `reflected` where that has one.
    """

    def method(self: Any, other: Any) -> Any:
        try:
            return dispatch(entry, (self, other))
        except TypeError:
            if _gives_way(other, reflected):
                return NotImplemented
            raise

    def with_one_more(self: Any, other: Any) -> Any:
        try:
            return dispatch(entry, (self, other, more))
        except TypeError:
            if _gives_way(other, reflected):
                return NotImplemented
            raise

    more = extra[0] if extra else None
    return _named(with_one_more if extra else method, name)


def _reflected(name: str, plain: str, entry: Op, *extra: Any) -> Binary:
    """The method `name`, `other OP tensor`; `plain` is the other operand's own method."""

    def method(self: Any, other: Any) -> Any:
        try:
            return dispatch(entry, (other, self, *extra))
        except TypeError:
            if _gives_way(other, plain):
                return NotImplemented
            raise

    return _named(method, name)


def _named(method: Any, name: str) -> Binary:
    method.__name__ = name
    method.__qualname__ = f"Operators.{name}"
    named: Binary = method
    return named


class Operators:
    """`+ - * / // % ** @ & | ^ ~ << >>`, comparisons, and their reflected and in-place forms;
    methods whose tensor is not the op's first argument."""

    __slots__ = ()

    __add__ = _operator("__add__", "__radd__", _add, 1)
    __radd__ = _reflected("__radd__", "__add__", _add, 1)
    __iadd__ = _operator("__iadd__", "__radd__", _add_, 1)
    __sub__ = _operator("__sub__", "__rsub__", _sub, 1)
    __rsub__ = _reflected("__rsub__", "__sub__", _sub, 1)
    __isub__ = _operator("__isub__", "__rsub__", _sub_, 1)
    __mul__ = _operator("__mul__", "__rmul__", _mul)
    __rmul__ = _reflected("__rmul__", "__mul__", _mul)
    __imul__ = _operator("__imul__", "__rmul__", _mul_)
    __truediv__ = _operator("__truediv__", "__rtruediv__", _div, None)
    __rtruediv__ = _reflected("__rtruediv__", "__truediv__", _div, None)
    __itruediv__ = _operator("__itruediv__", "__rtruediv__", _div_, None)
    __rdiv__ = __rtruediv__

    __floordiv__ = _operator("__floordiv__", "__rfloordiv__", _floor_divide)
    __rfloordiv__ = _reflected("__rfloordiv__", "__floordiv__", _floor_divide)
    __ifloordiv__ = _operator("__ifloordiv__", "__rfloordiv__", _floor_divide_)
    __mod__ = _operator("__mod__", "__rmod__", _remainder)
    __rmod__ = _reflected("__rmod__", "__mod__", _remainder)
    __imod__ = _operator("__imod__", "__rmod__", _remainder_)
    __pow__ = _operator("__pow__", "__rpow__", _pow)
    __rpow__ = _reflected("__rpow__", "__pow__", _pow)
    __ipow__ = _operator("__ipow__", "__rpow__", _pow_)
    __matmul__ = _operator("__matmul__", "__rmatmul__", _matmul)
    __rmatmul__ = _reflected("__rmatmul__", "__matmul__", _matmul)
    __and__ = _operator("__and__", "__rand__", _bitwise_and)
    __rand__ = _reflected("__rand__", "__and__", _bitwise_and)
    __iand__ = _operator("__iand__", "__rand__", _bitwise_and_)
    __or__ = _operator("__or__", "__ror__", _bitwise_or)
    __ror__ = _reflected("__ror__", "__or__", _bitwise_or)
    __ior__ = _operator("__ior__", "__ror__", _bitwise_or_)
    __xor__ = _operator("__xor__", "__rxor__", _bitwise_xor)
    __rxor__ = _reflected("__rxor__", "__xor__", _bitwise_xor)
    __ixor__ = _operator("__ixor__", "__rxor__", _bitwise_xor_)
    __lshift__ = _operator("__lshift__", "__rlshift__", _bitwise_left_shift)
    __rlshift__ = _reflected("__rlshift__", "__lshift__", _bitwise_left_shift)
    __ilshift__ = _operator("__ilshift__", "__rlshift__", _bitwise_left_shift_)
    __rshift__ = _operator("__rshift__", "__rrshift__", _bitwise_right_shift)
    __rrshift__ = _reflected("__rrshift__", "__rshift__", _bitwise_right_shift)
    __irshift__ = _operator("__irshift__", "__rrshift__", _bitwise_right_shift_)
    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        if type(other) not in _COMPARABLE and not _is_operand(other):
            return _compared_by_other(_eq, self, other)
        return dispatch(_eq, (self, other))

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        if type(other) not in _COMPARABLE and not _is_operand(other):
            return _compared_by_other(_ne, self, other)
        return dispatch(_ne, (self, other))

    __lt__ = _operator("__lt__", "__gt__", _lt)
    __le__ = _operator("__le__", "__ge__", _le)
    __gt__ = _operator("__gt__", "__lt__", _gt)
    __ge__ = _operator("__ge__", "__le__", _ge)
    __hash__ = object.__hash__

    def __neg__(self) -> Tensor:
        return dispatch(_neg, (self,))

    def __abs__(self) -> Tensor:
        return dispatch(_abs, (self,))

    def __invert__(self: Any) -> Tensor:
        """The bits turned over. Raises TypeError for floating point and complex numbers."""
        if self.dtype.is_floating_point or self.dtype.is_complex:
            raise TypeError(
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors, "
                f"got {self.dtype.name}"
            )
        return dispatch(_bitwise_not, (self,))

    def __pos__(self: Any) -> Tensor:
        """The tensor itself. Raises RuntimeError for bool."""
        if self.dtype is dtypes.bool:
            raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
        return self

    def where(self, condition: Any, other: Any) -> Tensor:
        """This tensor's elements where `condition` is true, those of `other` elsewhere.

        Args:
            condition: a bool tensor; all three are broadcast.
            other: a tensor or number; dtypes are promoted to a common one.

        Raises:
            RuntimeError: the shapes do not broadcast.

        Example:
            >>> gw.tensor([1, 2, 3]).where(gw.tensor([True, False, True]), 0)
            tensor([1, 0, 3])
        """
        return dispatch(_where, (condition, self, other))

    def polygamma(self, n: int) -> Tensor:
        """The n-th derivative of the digamma function, elementwise.

        Args:
            n: the order, at least 0.

        Raises:
            RuntimeError: `n` is negative.

        Example:
            >>> gw.tensor(1.0).polygamma(1)
            tensor(1.6449)
        """
        return dispatch(_polygamma, (n, self))

    def polygamma_(self: Any, n: int) -> Tensor:
        """In-place `polygamma`. Raises RuntimeError for a tensor of integers."""
        result = dispatch(_polygamma, (n, self.clone()))
        check_writable("polygamma_", self, result)
        return dispatch(_copy_, (self, result))
