"""The nodes of integer expressions: data, interning, bounds, evaluation, text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import index
from typing import Any, Protocol, TypeAlias, Union


class HasExpr(Protocol):
    """Anything that stands for an expression, such as a `SymInt`."""

    @property
    def expr(self) -> Expr: ...


ExprLike: TypeAlias = Union["Expr", HasExpr, int]
Range: TypeAlias = tuple[int | None, int | None]
Monomial: TypeAlias = tuple["Expr", ...]
Polynomial: TypeAlias = dict[Monomial, int]

_INTERNED: dict[tuple[Any, ...], Any] = {}
_LITERALS: dict[int, Int] = {}


class Builders:
    """The functions that build expressions in normal form; `rules` provides them."""

    sum_of: Callable[[tuple[Expr, ...]], Expr]
    product_of: Callable[[tuple[Expr, ...]], Expr]
    floordiv: Callable[[ExprLike, ExprLike], Expr]
    mod: Callable[[ExprLike, ExprLike], Expr]
    minimum: Callable[..., Expr]
    maximum: Callable[..., Expr]


BUILD = Builders()


class Expr:
    """An integer expression. Compare with `is` or `==`; order is not defined (see `prove_ge`)."""

    __slots__ = ("__weakref__", "_range", "_symbols", "_text", "polynomial", "sort_key")

    polynomial: Polynomial | None
    _range: Range | None
    _symbols: frozenset[Sym] | None
    _text: str | None
    sort_key: str

    def _init(self) -> None:
        self.polynomial = self._range = self._symbols = self._text = None
        self.sort_key = "~" + str(self)

    @property
    def args(self) -> tuple[Expr, ...]:
        """The operands; empty for `Int` and `Sym`."""
        return ()

    def range(self) -> Range:
        """Inclusive bounds (lowest, highest); None where there is none."""
        if self._range is None:
            self._range = self._bounds()
        return self._range

    def symbols(self) -> frozenset[Sym]:
        """The symbols that occur in the expression (not those in their bounds)."""
        if self._symbols is None:
            self._symbols = frozenset().union(*(a.symbols() for a in self.args))
        return self._symbols

    def subs(self, values: Mapping[Any, Any]) -> Expr:
        """Replace symbols, named by `Sym` or by name, and simplify again."""
        return self.at({
            key if isinstance(key, str) else key.name: as_expr(value)
            for key, value in values.items()
        })

    def at(self, values: Mapping[str, Expr]) -> Expr:
        """`subs` of symbols named by name."""
        for symbol in self.symbols():
            if symbol.name in values:
                return self._subs(values)
        return self

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value where symbol NAME is values[NAME].

        Raises: KeyError for a symbol without a value.
        """
        raise NotImplementedError

    def _bounds(self) -> Range:
        raise NotImplementedError

    def _subs(self, named: Mapping[str, Expr]) -> Expr:
        raise NotImplementedError

    def _format(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        if self._text is None:
            self._text = self._format()
        return self._text

    __repr__ = __str__

    def __add__(self, other: ExprLike) -> Expr:
        return BUILD.sum_of((self, as_expr(other)))

    def __sub__(self, other: ExprLike) -> Expr:
        return BUILD.sum_of((self, Int(-other) if isinstance(other, int) else -as_expr(other)))

    def __mul__(self, other: ExprLike) -> Expr:
        return BUILD.product_of((self, as_expr(other)))

    def __floordiv__(self, other: ExprLike) -> Expr:
        return BUILD.floordiv(self, other)

    def __mod__(self, other: ExprLike) -> Expr:
        return BUILD.mod(self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return BUILD.sum_of((as_expr(other), self))

    def __rsub__(self, other: ExprLike) -> Expr:
        return BUILD.sum_of((as_expr(other), -self))

    def __rmul__(self, other: ExprLike) -> Expr:
        return BUILD.product_of((as_expr(other), self))

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return BUILD.floordiv(other, self)

    def __rmod__(self, other: ExprLike) -> Expr:
        return BUILD.mod(other, self)

    def __neg__(self) -> Expr:
        return BUILD.product_of((self, Int(-1)))


class Int(Expr):
    """A literal. Equal to the Python int of the same value."""

    __slots__ = ("value",)
    value: int

    def __new__(cls, value: int) -> Int:
        found = _LITERALS.get(value)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.value = value = index(value)
        self._init()
        self._range, self._symbols = (value, value), frozenset()
        return _LITERALS.setdefault(value, self)

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, int) and other == self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __int__(self) -> int:
        return self.value

    def __index__(self) -> int:
        return self.value

    def __reduce__(self) -> tuple[Any, ...]:
        return Int, (self.value,)

    def evaluate(self, values: Mapping[str, int]) -> int:
        return self.value

    def _subs(self, named: Mapping[str, Expr]) -> Expr:
        return self

    def _format(self) -> str:
        return str(self.value)


class Sym(Expr):
    """A named integer, `lower <= value <= upper` (inclusive; None: unbounded).

    `upper` may be an expression: a loop over [0, s0) has Sym("i", 0, s0 - 1).
    """

    __slots__ = ("lower", "name", "upper")
    name: str
    lower: int | None
    upper: Expr | None

    def __new__(cls, name: str, lower: int | None = 0, upper: ExprLike | None = None) -> Sym:
        bound = None if upper is None else as_expr(upper)
        key = (cls, name, lower, bound)
        found = _INTERNED.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.name, self.lower, self.upper = name, lower, bound
        self._init()
        self.sort_key = re.sub(r"\d+", lambda m: m.group().zfill(6), name)
        self._range = (lower, None if bound is None else bound.range()[1])
        self._symbols = frozenset((self,))
        return _INTERNED.setdefault(key, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Sym, (self.name, self.lower, self.upper)

    def evaluate(self, values: Mapping[str, int]) -> int:
        return values[self.name]

    def _subs(self, named: Mapping[str, Expr]) -> Expr:
        return named.get(self.name, self)

    def _format(self) -> str:
        return self.name


class _Nary(Expr):
    """A node over a tuple of operands."""

    __slots__ = ("_args",)
    _args: tuple[Expr, ...]

    def __new__(cls, args: tuple[Expr, ...]) -> Any:
        key = (cls, args)
        found = _INTERNED.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self._args = args
        self._init()
        return _INTERNED.setdefault(key, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._args,)

    @property
    def args(self) -> tuple[Expr, ...]:
        return self._args


class Add(_Nary):
    """A sum of at least two terms; a literal comes last."""

    __slots__ = ()

    @property
    def terms(self) -> tuple[Expr, ...]:
        return self._args

    def evaluate(self, values: Mapping[str, int]) -> int:
        return sum(t.evaluate(values) for t in self._args)

    def _bounds(self) -> Range:
        lows, highs = zip(*(t.range() for t in self._args), strict=True)
        return (None if None in lows else sum(lows), None if None in highs else sum(highs))

    def _subs(self, named: Mapping[str, Expr]) -> Expr:
        return BUILD.sum_of(tuple([t._subs(named) for t in self._args]))

    def _format(self) -> str:
        text = str(self._args[0])
        for term in self._args[1:]:
            part = str(term)
            text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
        return text


class Mul(_Nary):
    """A product of at least two factors, none of them a sum; a literal comes first."""

    __slots__ = ()

    @property
    def factors(self) -> tuple[Expr, ...]:
        return self._args

    def evaluate(self, values: Mapping[str, int]) -> int:
        product = 1
        for factor in self._args:
            product *= factor.evaluate(values)
        return product

    def _bounds(self) -> Range:
        bounds: Range = (1, 1)
        for factor in self._args:
            bounds = _product_range(bounds, factor.range())
        return bounds

    def _subs(self, named: Mapping[str, Expr]) -> Expr:
        return BUILD.product_of(tuple([f._subs(named) for f in self._args]))

    def _format(self) -> str:
        first, *rest = self._args
        if first is Int(-1):
            return "-" + "*".join(_wrapped(f) for f in rest)
        return "*".join([str(first) if isinstance(first, Int) else _wrapped(first),
                         *(_wrapped(f) for f in rest)])


class Min(_Nary):
    """The least of its operands."""

    __slots__ = ()

    def evaluate(self, values: Mapping[str, int]) -> int:
        return min(a.evaluate(values) for a in self._args)

    def _bounds(self) -> Range:
        lows, highs = zip(*(a.range() for a in self._args), strict=True)
        known = [h for h in highs if h is not None]
        return (None if None in lows else min(lows), min(known) if known else None)

    def _subs(self, named: Mapping[str, Expr]) -> Expr:
        return BUILD.minimum(*(a._subs(named) for a in self._args))

    def _format(self) -> str:
        return f"min({', '.join(map(str, self._args))})"


class Max(_Nary):
    """The greatest of its operands."""

    __slots__ = ()

    def evaluate(self, values: Mapping[str, int]) -> int:
        return max(a.evaluate(values) for a in self._args)

    def _bounds(self) -> Range:
        lows, highs = zip(*(a.range() for a in self._args), strict=True)
        known = [low for low in lows if low is not None]
        return (max(known) if known else None, None if None in highs else max(highs))

    def _subs(self, named: Mapping[str, Expr]) -> Expr:
        return BUILD.maximum(*(a._subs(named) for a in self._args))

    def _format(self) -> str:
        return f"max({', '.join(map(str, self._args))})"


class _Quotient(Expr):
    """A node over a numerator `a` and a denominator `b`."""

    __slots__ = ("a", "b")
    a: Expr
    b: Expr

    def __new__(cls, a: Expr, b: Expr) -> Any:
        key = (cls, a, b)
        found = _INTERNED.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.a, self.b = a, b
        self._init()
        return _INTERNED.setdefault(key, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.a, self.b)

    @property
    def args(self) -> tuple[Expr, ...]:
        return (self.a, self.b)


class FloorDiv(_Quotient):
    """a // b, rounded towards minus infinity."""

    __slots__ = ()

    def evaluate(self, values: Mapping[str, int]) -> int:
        return self.a.evaluate(values) // self.b.evaluate(values)

    def _bounds(self) -> Range:
        (low, high), (least, most) = self.a.range(), self.b.range()
        if least is None or least < 1:
            return (None, None)
        lowest = highest = None
        if low is not None:
            lowest = low // least if low < 0 else (0 if most is None else low // most)
        if high is not None:
            highest = high // least if high >= 0 else (-1 if most is None else high // most)
        return (lowest, highest)

    def _subs(self, named: Mapping[str, Expr]) -> Expr:
        return BUILD.floordiv(self.a._subs(named), self.b._subs(named))

    def _format(self) -> str:
        return f"{_wrapped(self.a)}//{_wrapped(self.b)}"


class Mod(_Quotient):
    """a % b, with the sign of b."""

    __slots__ = ()

    def evaluate(self, values: Mapping[str, int]) -> int:
        return self.a.evaluate(values) % self.b.evaluate(values)

    def _bounds(self) -> Range:
        (low, high), (least, most) = self.a.range(), self.b.range()
        if least is None or least < 1:
            return (None, None)
        highest = None if most is None else most - 1
        if low is not None and low >= 0 and high is not None:
            highest = high if highest is None else min(high, highest)
        return (0, highest)

    def _subs(self, named: Mapping[str, Expr]) -> Expr:
        return BUILD.mod(self.a._subs(named), self.b._subs(named))

    def _format(self) -> str:
        return f"{_wrapped(self.a)} % {_wrapped(self.b)}"


def as_expr(value: ExprLike) -> Expr:
    """The expression of an int, a `SymInt` or an expression.

    Raises: TypeError for anything else.
    """
    if isinstance(value, Expr):
        return value
    if isinstance(value, int):
        return Int(value)
    expr = getattr(value, "expr", None)
    return expr if isinstance(expr, Expr) else Int(index(value))  # type: ignore[arg-type]


def as_int(value: ExprLike) -> int | None:
    """The value of a literal, None for anything that depends on a symbol."""
    expr = as_expr(value)
    return expr.value if isinstance(expr, Int) else None


def _wrapped(expr: Expr) -> str:
    simple = isinstance(expr, (Sym, Min, Max)) or (isinstance(expr, Int) and expr.value >= 0)
    return str(expr) if simple else f"({expr})"


def _product_range(one: Range, two: Range) -> Range:
    (a, b), (c, d) = one, two
    if a is not None and c is not None and a >= 0 and c >= 0:
        return (a * c, None if b is None or d is None else b * d)
    if b is not None and a == b:
        return _scaled_range(b, two)
    if d is not None and c == d:
        return _scaled_range(d, one)
    if a is None or b is None or c is None or d is None:
        return (None, None)
    corners = (a * c, a * d, b * c, b * d)
    return (min(corners), max(corners))


def _scaled_range(factor: int, bounds: Range) -> Range:
    low, high = (None if b is None else factor * b for b in bounds)
    if factor == 0:
        return (0, 0)
    return (low, high) if factor > 0 else (high, low)
