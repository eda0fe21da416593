"""`SymInt`: an integer of which a trace knows the expression, and the value it has this time.

Arithmetic gives expressions. Whatever needs a definite answer (a comparison, `bool`, `int`, use
as an index or as a dict key) takes it from the value, and the `ShapeEnv` records what was assumed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from graphwright.runtime.symbolic import expr as ex
from graphwright.runtime.symbolic.expr import Expr, Int
from graphwright.runtime.symbolic.relation import Relation

if TYPE_CHECKING:
    from graphwright.runtime.symbolic.shape_env import ShapeEnv

IntLike: TypeAlias = Union[int, "SymInt"]


def sym_int(expr: Expr, env: ShapeEnv) -> IntLike:
    """The integer with this expression: a plain int if it depends on no symbol."""
    return expr.value if isinstance(expr, Int) else SymInt(expr, env)


def _binary(
    function: Callable[[Any, Any], Expr], concrete: Callable[[Any, Any], Any]
) -> Callable[[SymInt, Any], Any]:
    def method(self: SymInt, other: Any) -> Any:
        if isinstance(other, float):
            return concrete(int(self), other)
        if not isinstance(other, (int, SymInt)):
            return NotImplemented
        return sym_int(self.env.within_range(function(self.expr, other)), self.env)
    return method


def _reflected(
    function: Callable[[Any, Any], Expr], concrete: Callable[[Any, Any], Any]
) -> Callable[[SymInt, Any], Any]:
    return _binary(lambda a, b: function(b, a), lambda a, b: concrete(b, a))


def _subtract(a: Any, b: Any) -> Expr:
    return ex.add(a, ex.mul(b, -1))


def _specialising(function: Callable[[Any, Any], Any]) -> Callable[[SymInt, Any], Any]:
    """An operator that no expression has: on the values at hand."""
    def method(self: SymInt, other: Any) -> Any:
        return function(int(self), int(other)) if isinstance(other, (int, SymInt)) else (
            NotImplemented)
    return method


def _compare(op: str, concrete: Callable[[Any, Any], Any]) -> Callable[[SymInt, Any], Any]:
    def method(self: SymInt, other: Any) -> Any:
        if isinstance(other, float):
            if not math.isfinite(other) or (op in ("==", "!=") and not other.is_integer()):
                return concrete(0, other)    # as any integer
            other = math.ceil(other) if op in ("<", ">=") else math.floor(other)
        if isinstance(other, (int, SymInt)):
            return self.env.evaluate_bool(Relation(op, self.expr, ex.as_expr(other)))
        return NotImplemented
    return method


class SymInt:
    """An integer with an expression over the symbols of `env`. Immutable."""

    __slots__ = ("_expr", "env")

    def __init__(self, expr: Expr, env: ShapeEnv) -> None:
        self._expr = expr
        self.env = env

    @property
    def expr(self) -> Expr:
        """The expression, with the equalities that `env` has learnt put in."""
        return self.env.simplify(self._expr)

    @property
    def hint(self) -> int:
        """The value in this trace; reading it assumes nothing."""
        return self.env.hint(self._expr)

    __add__ = _binary(ex.add, operator.add)
    __radd__ = _reflected(ex.add, operator.add)
    __sub__ = _binary(_subtract, operator.sub)
    __rsub__ = _reflected(_subtract, operator.sub)
    __mul__ = _binary(ex.mul, operator.mul)
    __rmul__ = _reflected(ex.mul, operator.mul)
    __mod__ = _binary(ex.mod, operator.mod)
    __rmod__ = _reflected(ex.mod, operator.mod)
    __floordiv__ = _binary(ex.floordiv, operator.floordiv)
    __rfloordiv__ = _reflected(ex.floordiv, operator.floordiv)
    __and__ = __rand__ = _specialising(operator.and_)
    __or__ = __ror__ = _specialising(operator.or_)
    __xor__ = __rxor__ = _specialising(operator.xor)
    __lshift__ = _specialising(operator.lshift)
    __rshift__ = _specialising(operator.rshift)
    __eq__ = _compare("==", operator.eq)
    __ne__ = _compare("!=", operator.ne)
    __lt__ = _compare("<", operator.lt)
    __le__ = _compare("<=", operator.le)
    __gt__ = _compare(">", operator.gt)
    __ge__ = _compare(">=", operator.ge)

    def __neg__(self) -> IntLike:
        return sym_int(ex.mul(self.expr, -1), self.env)

    def __pos__(self) -> SymInt:
        return self

    def __abs__(self) -> IntLike:
        return self if self >= 0 else -self

    def __divmod__(self, other: IntLike) -> tuple[IntLike, IntLike]:
        return self // other, self % other

    def __rdivmod__(self, other: IntLike) -> tuple[IntLike, IntLike]:
        return other // self, other % self

    def __pow__(self, exponent: IntLike | float) -> Any:
        if isinstance(exponent, float):
            return int(self) ** exponent
        power = int(exponent)
        if power < 0:
            return int(self) ** power
        return sym_int(self.env.within_range(ex.mul(1, *[self.expr] * power)), self.env)

    def __truediv__(self, other: Any) -> Any:
        return int(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / int(self)

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __int__(self) -> int:
        return self.env.specialise(self._expr)

    __index__ = __int__
    __trunc__ = __int__

    def __hash__(self) -> int:
        """The hash of the int it stands for, which it thereby becomes."""
        return hash(int(self))

    def __float__(self) -> float:
        return float(int(self))

    def __repr__(self) -> str:
        return str(self.expr)

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __copy__(self) -> SymInt:
        return self

    def __deepcopy__(self, memo: object) -> SymInt:
        return self


def hint_of(value: IntLike) -> int:
    """The value of an int or the hint of a `SymInt`; assumes nothing."""
    return value.hint if isinstance(value, SymInt) else value
