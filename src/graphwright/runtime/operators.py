"""Python operators of Tensor, as a mixin; each goes straight to `dispatch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.runtime import dtypes
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops.spec import check_writable
from graphwright.runtime.ops.table import op

if TYPE_CHECKING:
    from graphwright.runtime.tensor import Tensor

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


class Operators:
    """`+ - * / // % ** @ & | ^ ~ << >>`, comparisons, and their reflected and in-place forms;
    methods whose tensor is not the op's first argument."""

    __slots__ = ()

    def __add__(self, other: Any) -> Tensor:
        return dispatch(_add, (self, other, 1))

    def __radd__(self, other: Any) -> Tensor:
        return dispatch(_add, (other, self, 1))

    def __iadd__(self, other: Any) -> Tensor:
        return dispatch(_add_, (self, other, 1))

    def __sub__(self, other: Any) -> Tensor:
        return dispatch(_sub, (self, other, 1))

    def __rsub__(self, other: Any) -> Tensor:
        return dispatch(_sub, (other, self, 1))

    def __isub__(self, other: Any) -> Tensor:
        return dispatch(_sub_, (self, other, 1))

    def __mul__(self, other: Any) -> Tensor:
        return dispatch(_mul, (self, other))

    def __rmul__(self, other: Any) -> Tensor:
        return dispatch(_mul, (other, self))

    def __imul__(self, other: Any) -> Tensor:
        return dispatch(_mul_, (self, other))

    def __truediv__(self, other: Any) -> Tensor:
        return dispatch(_div, (self, other, None))

    def __rtruediv__(self, other: Any) -> Tensor:
        return dispatch(_div, (other, self, None))

    def __itruediv__(self, other: Any) -> Tensor:
        return dispatch(_div_, (self, other, None))

    __rdiv__ = __rtruediv__

    def __floordiv__(self, other: Any) -> Tensor:
        return dispatch(_div, (self, other, "floor"))

    def __rfloordiv__(self, other: Any) -> Tensor:
        return dispatch(_div, (other, self, "floor"))

    def __ifloordiv__(self, other: Any) -> Tensor:
        return dispatch(_div_, (self, other, "floor"))

    def __mod__(self, other: Any) -> Tensor:
        return dispatch(_remainder, (self, other))

    def __rmod__(self, other: Any) -> Tensor:
        return dispatch(_remainder, (other, self))

    def __imod__(self, other: Any) -> Tensor:
        return dispatch(_remainder_, (self, other))

    def __pow__(self, other: Any) -> Tensor:
        return dispatch(_pow, (self, other))

    def __rpow__(self, other: Any) -> Tensor:
        return dispatch(_pow, (other, self))

    def __ipow__(self, other: Any) -> Tensor:
        return dispatch(_pow_, (self, other))

    def __matmul__(self, other: Any) -> Tensor:
        return dispatch(_matmul, (self, other))

    def __rmatmul__(self, other: Any) -> Tensor:
        return dispatch(_matmul, (other, self))

    def __and__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_and, (self, other))

    def __rand__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_and, (other, self))

    def __iand__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_and_, (self, other))

    def __or__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_or, (self, other))

    def __ror__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_or, (other, self))

    def __ior__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_or_, (self, other))

    def __xor__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_xor, (self, other))

    def __rxor__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_xor, (other, self))

    def __ixor__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_xor_, (self, other))

    def __lshift__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_left_shift, (self, other))

    def __rlshift__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_left_shift, (other, self))

    def __ilshift__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_left_shift_, (self, other))

    def __rshift__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_right_shift, (self, other))

    def __rrshift__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_right_shift, (other, self))

    def __irshift__(self, other: Any) -> Tensor:
        return dispatch(_bitwise_right_shift_, (self, other))

    def __eq__(self, other: Any) -> Any:
        if other.__class__ not in _COMPARABLE and not hasattr(other, "dtype"):
            return NotImplemented
        return dispatch(_eq, (self, other))

    def __ne__(self, other: Any) -> Any:
        if other.__class__ not in _COMPARABLE and not hasattr(other, "dtype"):
            return NotImplemented
        return dispatch(_ne, (self, other))

    def __lt__(self, other: Any) -> Tensor:
        return dispatch(_lt, (self, other))

    def __le__(self, other: Any) -> Tensor:
        return dispatch(_le, (self, other))

    def __gt__(self, other: Any) -> Tensor:
        return dispatch(_gt, (self, other))

    def __ge__(self, other: Any) -> Tensor:
        return dispatch(_ge, (self, other))

    __hash__ = object.__hash__

    def __neg__(self) -> Tensor:
        return dispatch(_neg, (self,))

    def __abs__(self) -> Tensor:
        return dispatch(_abs, (self,))

    def __invert__(self) -> Tensor:
        return dispatch(_bitwise_not, (self,))

    def __pos__(self: Any) -> Any:
        """The tensor itself. Raises RuntimeError for bool."""
        if self.dtype is dtypes.bool:
            raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
        return self

    def where(self, condition: Any, other: Any) -> Any:
        """`self` where `condition` is true, `other` elsewhere."""
        return dispatch(_where, (condition, self, other))

    def polygamma(self, n: int) -> Any:
        """The n-th derivative of the digamma function at `self`."""
        return dispatch(_polygamma, (n, self))

    def polygamma_(self, n: int) -> Any:
        """In-place `polygamma`. Raises RuntimeError for a tensor of integers."""
        result = dispatch(_polygamma, (n, self))
        check_writable("polygamma_", self, result)
        return dispatch(_copy_, (self, result))
