"""Integer expressions over named symbols: sizes, strides, offsets and loop indices.

Expressions are immutable and hash-consed: two equal expressions are one object, so that `is`,
`==` and dict keys cost nothing. They are in normal form from the start::

    Int(5)                      a literal
    Sym("s0", lower=1)          a symbol with the values it can take
    Add((t0, t1, ...))          sum of products, sorted, like terms collected, literal last
    Mul((c, f0, f1, ...))       product of atoms, the literal first
    FloorDiv(a, b), Mod(a, b)   Python's `//` and `%`, what divides evenly taken out
    Min(args), Max(args)

Build them with `+ - * // %` or with `add`, `mul`, `floordiv`, `mod`, `minimum`, `maximum`; calling
a class interns a node as it is. Simplification uses the symbols' ranges: with `0 <= j < 768`,
`(768*i + j) // 768` is `i`. Denominators are taken to be non-zero. `str(e)` is Python source,
the same in every run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import gcd
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


class Expr:
    """An integer expression. Compare with `is` or `==`; order is not defined (see `prove_ge`)."""

    __slots__ = ("__weakref__", "_poly", "_range", "_symbols", "_text", "sort_key")

    _poly: Polynomial | None
    _range: Range | None
    _symbols: frozenset[Sym] | None
    _text: str | None
    sort_key: str

    def _init(self) -> None:
        self._poly = self._range = self._symbols = self._text = None
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

    def subs(self, values: Mapping[Sym | str, ExprLike] | Mapping[Sym, ExprLike]) -> Expr:
        """Replace symbols, named by `Sym` or by name, and simplify again."""
        return self._subs({
            key if isinstance(key, str) else key.name: as_expr(value)
            for key, value in values.items()
        })

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value where symbol NAME is values[NAME].

        Raises: KeyError for a symbol without a value.
        """
        raise NotImplementedError

    def _bounds(self) -> Range:
        raise NotImplementedError

    def _subs(self, named: dict[str, Expr]) -> Expr:
        raise NotImplementedError

    def _format(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        if self._text is None:
            self._text = self._format()
        return self._text

    __repr__ = __str__

    def __add__(self, other: ExprLike) -> Expr:
        return add(self, other)

    def __sub__(self, other: ExprLike) -> Expr:
        return add(self, mul(as_expr(other), -1))

    def __mul__(self, other: ExprLike) -> Expr:
        return mul(self, other)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return floordiv(self, other)

    def __mod__(self, other: ExprLike) -> Expr:
        return mod(self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return add(other, self)

    def __rsub__(self, other: ExprLike) -> Expr:
        return add(other, mul(self, -1))

    def __rmul__(self, other: ExprLike) -> Expr:
        return mul(other, self)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return floordiv(other, self)

    def __rmod__(self, other: ExprLike) -> Expr:
        return mod(other, self)

    def __neg__(self) -> Expr:
        return mul(self, -1)


class Int(Expr):
    """A literal. Equal to the Python int of the same value."""

    __slots__ = ("value",)
    value: int

    def __new__(cls, value: int) -> Int:
        found = _INTERNED.get((cls, value))
        if found is not None:
            return found
        self = object.__new__(cls)
        self.value = value = index(value)
        self._init()
        self._range, self._symbols = (value, value), frozenset()
        return _INTERNED.setdefault((cls, value), self)

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

    def _subs(self, named: dict[str, Expr]) -> Expr:
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

    def _subs(self, named: dict[str, Expr]) -> Expr:
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

    def _subs(self, named: dict[str, Expr]) -> Expr:
        return add(*(t._subs(named) for t in self._args))

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

    def _subs(self, named: dict[str, Expr]) -> Expr:
        result: Expr = Int(1)
        for factor in self._args:
            result = mul(result, factor._subs(named))
        return result

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

    def _subs(self, named: dict[str, Expr]) -> Expr:
        return minimum(*(a._subs(named) for a in self._args))

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

    def _subs(self, named: dict[str, Expr]) -> Expr:
        return maximum(*(a._subs(named) for a in self._args))

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

    def _subs(self, named: dict[str, Expr]) -> Expr:
        return floordiv(self.a._subs(named), self.b._subs(named))

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

    def _subs(self, named: dict[str, Expr]) -> Expr:
        return mod(self.a._subs(named), self.b._subs(named))

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


def add(*operands: ExprLike) -> Expr:
    """The sum of the operands."""
    total: Polynomial = {}
    for operand in operands:
        for monomial, coefficient in _polynomial(as_expr(operand)).items():
            total[monomial] = total.get(monomial, 0) + coefficient
    return _from_polynomial(total)


def mul(*operands: ExprLike) -> Expr:
    """The product of the operands, multiplied out."""
    product = _polynomial(as_expr(operands[0]))
    for operand in operands[1:]:
        product = _multiply(product, _polynomial(as_expr(operand)))
    return _from_polynomial(product)


def floordiv(a: ExprLike, b: ExprLike) -> Expr:
    """a // b. Raises: ZeroDivisionError if b is the literal 0."""
    return _divmod(as_expr(a), as_expr(b))[0]


def mod(a: ExprLike, b: ExprLike) -> Expr:
    """a % b. Raises: ZeroDivisionError if b is the literal 0."""
    return _divmod(as_expr(a), as_expr(b))[1]


def ceildiv(a: ExprLike, b: ExprLike) -> Expr:
    """a / b rounded towards plus infinity."""
    return floordiv(add(a, b, -1), b)


def minimum(*operands: ExprLike) -> Expr:
    """The least operand."""
    return _extreme(Min, operands, prove_ge)


def maximum(*operands: ExprLike) -> Expr:
    """The greatest operand."""
    return _extreme(Max, operands, lambda a, b: prove_ge(b, a))


def product(operands: tuple[ExprLike, ...] | list[ExprLike]) -> Expr:
    """The product of any number of operands; 1 for none."""
    return mul(1, *operands)


def prove_ge(a: ExprLike, b: ExprLike) -> bool:
    """True if a >= b follows from the symbols' bounds; False if it is not known to."""
    return _nonnegative(as_expr(a) - b)


def prove_lt(a: ExprLike, b: ExprLike) -> bool:
    """True if a < b follows from the symbols' bounds; False if it is not known to."""
    return _nonnegative(as_expr(b) - a - 1)


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


def _polynomial(expr: Expr) -> Polynomial:
    """The expression as {product of atoms: coefficient}; not to be changed by the caller."""
    if expr._poly is None:
        if isinstance(expr, Int):
            expr._poly = {(): expr.value} if expr.value else {}
        elif isinstance(expr, Mul):
            first, rest = expr.factors[0], expr.factors[1:]
            expr._poly = {rest: first.value} if isinstance(first, Int) else {expr.factors: 1}
        elif isinstance(expr, Add):
            expr._poly = {m: c for t in expr.terms for m, c in _polynomial(t).items()}
        else:
            expr._poly = {(expr,): 1}
    return expr._poly


def _key_of(expr: Expr) -> str:
    return expr.sort_key


def _term_order(item: tuple[Monomial, int]) -> tuple[bool, list[str]]:
    return (not item[0], [f.sort_key for f in item[0]])


def _from_polynomial(poly: Polynomial) -> Expr:
    items = [item for item in poly.items() if item[1]]
    if len(items) > 1:
        items = _rejoin(items)
    if not items:
        return Int(0)
    if len(items) > 1:
        items.sort(key=_term_order)
        return Add(tuple(_term(m, c) for m, c in items))
    return _term(*items[0])


def _term(monomial: Monomial, coefficient: int) -> Expr:
    if not monomial:
        return Int(coefficient)
    if coefficient != 1:
        return Mul((Int(coefficient), *monomial))
    return monomial[0] if len(monomial) == 1 else Mul(monomial)


def _rejoin(items: list[tuple[Monomial, int]]) -> list[tuple[Monomial, int]]:
    """Turn k*b*(a//b) + k*(a % b) back into k*a."""
    for monomial, coefficient in items:
        for place, atom in enumerate(monomial):
            if not isinstance(atom, Mod):
                continue
            scale = {monomial[:place] + monomial[place + 1:]: coefficient}
            whole = _multiply(_multiply(scale, _polynomial(atom.b)),
                              _polynomial(floordiv(atom.a, atom.b)))
            present = dict(items)
            if whole and all(present.get(m) == c for m, c in whole.items()):
                rest = {m: c for m, c in items if m not in whole and m != monomial}
                for m, c in _multiply(scale, _polynomial(atom.a)).items():
                    rest[m] = rest.get(m, 0) + c
                return _rejoin([item for item in rest.items() if item[1]])
    return items


def _multiply(one: Polynomial, two: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for m, c in one.items():
        for n, d in two.items():
            joined = tuple(sorted(m + n, key=_key_of)) if m and n else m or n
            result[joined] = result.get(joined, 0) + c * d
    return result


def _extreme(
    kind: type[Min] | type[Max], operands: tuple[ExprLike, ...],
    redundant: Callable[[Expr, Expr], bool],
) -> Expr:
    flat: list[Expr] = []
    for operand in map(as_expr, operands):
        flat += operand.args if isinstance(operand, kind) else (operand,)
    kept: list[Expr] = []
    for candidate in sorted(dict.fromkeys(flat), key=_key_of):
        if any(redundant(candidate, other) for other in kept):
            continue
        kept = [other for other in kept if not redundant(other, candidate)] + [candidate]
    return kept[0] if len(kept) == 1 else kind(tuple(kept))


def _nonnegative(expr: Expr) -> bool:
    low = expr.range()[0]
    if low is not None:
        if low >= 0:
            return True
        if isinstance(expr, Int):
            return False
    for symbol in sorted(expr.symbols(), key=_key_of):
        if symbol.upper is not None and not isinstance(symbol.upper, Int):
            relaxed = _at_upper_bound(expr, symbol, symbol.upper)
            if relaxed is not None and _nonnegative(relaxed):
                return True
    return False


def _at_upper_bound(expr: Expr, symbol: Sym, upper: Expr) -> Expr | None:
    """A lower bound of `expr` that puts `upper` for `symbol` where that can only lower it."""
    changed = False
    parts: list[Expr] = []
    for monomial, coefficient in _polynomial(expr).items():
        term = _term(monomial, coefficient)
        if coefficient < 0 and symbol in monomial:
            rest = list(monomial)
            rest.remove(symbol)
            if symbol in rest or not all(_nonnegative(f) for f in rest):
                return None
            term = mul(coefficient, upper, *rest)
            changed = True
        parts.append(term)
    return add(*parts) if changed else None


def _divmod(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    key = (divmod, a, b)
    found = _INTERNED.get(key)
    if found is None:
        found = _INTERNED[key] = _divide(a, b)
    return found


def _divide(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """(a // b, a % b)."""
    if isinstance(b, Int):
        if b.value == 0:
            raise ZeroDivisionError(f"division of {a} by zero")
        if isinstance(a, Int):
            return Int(a.value // b.value), Int(a.value % b.value)
        if b.value == 1:
            return a, Int(0)
        if b.value < 0:
            quotient, rest = _divmod(-a, -b)
            return quotient, -rest
    whole, rest = _long_division(_polynomial(a), _polynomial(b))
    if _in_range(rest, b):
        return whole, rest
    quotient, rest = _divide_rest(rest, b)
    return add(whole, quotient), rest


def _in_range(rest: Expr, b: Expr) -> bool:
    return _nonnegative(rest) and prove_lt(rest, b)


def _long_division(a: Polynomial, b: Polynomial) -> tuple[Expr, Expr]:
    """a = whole*b + rest, dividing by b's leading term."""
    lead, lead_coefficient = min(b.items(), key=_term_order)
    whole: Polynomial = {}
    rest = dict(a)
    pending = list(a)
    while pending:
        monomial = pending.pop()
        coefficient = rest.get(monomial, 0)
        quotient = _without(monomial, lead)
        if quotient is None or not coefficient:
            continue
        times = _times(coefficient, lead_coefficient, floor=not monomial or len(b) > 1)
        if not times or (len(b) > 1 and coefficient % lead_coefficient):
            continue
        whole[quotient] = whole.get(quotient, 0) + times
        for m, c in _multiply({quotient: times}, b).items():
            rest[m] = rest.get(m, 0) - c
            if m != monomial and len(m) <= len(monomial):
                pending.append(m)
    return _from_polynomial(whole), _from_polynomial(rest)


def _times(coefficient: int, divisor: int, floor: bool) -> int:
    if floor or (coefficient < 0) == (divisor < 0):
        return coefficient // divisor
    return -(abs(coefficient) // abs(divisor))


def _without(monomial: Monomial, factors: Monomial) -> Monomial | None:
    """monomial / factors, or None where it does not divide."""
    rest = list(monomial)
    for factor in factors:
        if factor not in rest:
            return None
        rest.remove(factor)
    return tuple(rest)


def _divide_rest(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Divide what long division left, by common factors and by what `a` itself is made of."""
    reduced = _by_common_factor(a, b)
    if reduced is not None:
        return reduced
    positive = (b.range()[0] or 0) >= 1
    if positive and isinstance(a, FloorDiv) and (a.b.range()[0] or 0) >= 1:
        quotient = floordiv(a.a, mul(a.b, b))
        return quotient, Mod(a, b)
    if positive and isinstance(a, Mod):
        outer, rest = _long_division(_polynomial(a.b), _polynomial(b))
        if rest is Int(0) and (outer.range()[0] or 0) >= 1:
            return mod(floordiv(a.a, b), outer), mod(a.a, b)
    return FloorDiv(a, b), Mod(a, b)


def _by_common_factor(a: Expr, b: Expr) -> tuple[Expr, Expr] | None:
    """(g*p + r) // (g*q) = p // q, and the rest g*(p % q) + r, if 0 <= r < g and q > 0."""
    divisor = _polynomial(b)
    if len(divisor) != 1:
        return None
    (factors, coefficient), = divisor.items()
    terms = _polynomial(a)
    for common in _common_factors(terms, factors, coefficient):
        shared, scale = common
        multiple: Polynomial = {}
        rest: Polynomial = {}
        for m, c in terms.items():
            cut = _without(m, shared)
            if cut is None or c % scale:
                rest[m] = c
            else:
                multiple[cut] = multiple.get(cut, 0) + c // scale
        left = _from_polynomial(rest)
        whole = _term(shared, scale)
        q = _term(_without(factors, shared) or (), coefficient // scale)
        if (q.range()[0] or 0) >= 1 and _in_range(left, whole):
            quotient, remainder = _divmod(_from_polynomial(multiple), q)
            return quotient, add(mul(whole, remainder), left)
    return None


def _common_factors(
    terms: Polynomial, factors: Monomial, coefficient: int
) -> list[tuple[Monomial, int]]:
    """What terms share with the divisor, greatest first; 1 is left out."""
    found: dict[tuple[Monomial, int], None] = {}
    for m, c in terms.items():
        left = list(m)
        shared = []
        for factor in factors:
            if factor in left:
                left.remove(factor)
                shared.append(factor)
        found[tuple(shared), gcd(c, coefficient)] = None
    found.pop(((), 1), None)
    return sorted(found, key=lambda f: (-len(f[0]), -f[1], [s.sort_key for s in f[0]]))
