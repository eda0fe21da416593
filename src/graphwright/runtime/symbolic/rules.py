"""Building integer expressions in normal form, and proving comparisons from bounds."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from graphwright.runtime.symbolic.nodes import (
    BUILD,
    Add,
    Expr,
    ExprLike,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Monomial,
    Mul,
    Polynomial,
    Sym,
    as_expr,
)

_SUMS: dict[tuple[Expr, ...], Expr] = {}
_PRODUCTS: dict[tuple[Expr, ...], Expr] = {}
_DIVIDED: dict[tuple[Expr, Expr], tuple[Expr, Expr]] = {}


def add(*operands: ExprLike) -> Expr:
    """The sum of the operands."""
    return sum_of(tuple(map(as_expr, operands)))


def sum_of(terms: tuple[Expr, ...]) -> Expr:
    """The sum of expressions."""
    found = _SUMS.get(terms)
    if found is None:
        found = _SUMS[terms] = _add(*terms)
    return found


def _add(*operands: Expr) -> Expr:
    total: Polynomial = {}
    for operand in operands:
        for monomial, coefficient in _polynomial(operand).items():
            total[monomial] = total.get(monomial, 0) + coefficient
    return _from_polynomial(total)


def mul(*operands: ExprLike) -> Expr:
    """The product of the operands, multiplied out."""
    return product_of(tuple(map(as_expr, operands)))


def product_of(factors: tuple[Expr, ...]) -> Expr:
    """The product of expressions, multiplied out."""
    found = _PRODUCTS.get(factors)
    if found is None:
        found = _PRODUCTS[factors] = _mul(*factors)
    return found


def _mul(*operands: Expr) -> Expr:
    product = _polynomial(operands[0])
    for operand in operands[1:]:
        product = _multiply(product, _polynomial(operand))
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


def solve(equation: Expr) -> tuple[Sym, Expr] | None:
    """(symbol, value) where `equation` is 0 exactly where the symbol has that value, the youngest
    such symbol whose own bounds follow from the value's; None where there is none."""
    terms = _polynomial(equation)
    for symbol in sorted(equation.symbols(), key=_key_of, reverse=True):
        scale = terms.get((symbol,), 0)
        rest = {m: c for m, c in terms.items() if m != (symbol,)}
        if not scale or any(c % scale for c in rest.values()):
            continue
        value = _from_polynomial({m: -c // scale for m, c in rest.items()})
        low, high = symbol.range()
        bounded = (low is None or prove_ge(value, low)) and (high is None or prove_ge(high, value))
        if symbol not in value.symbols() and bounded:
            return symbol, value
    return None


def _polynomial(expr: Expr) -> Polynomial:
    """The expression as {product of atoms: coefficient}; not to be changed by the caller."""
    if expr.polynomial is None:
        if isinstance(expr, Int):
            expr.polynomial = {(): expr.value} if expr.value else {}
        elif isinstance(expr, Mul):
            first, rest = expr.factors[0], expr.factors[1:]
            expr.polynomial = {rest: first.value} if isinstance(first, Int) else {expr.factors: 1}
        elif isinstance(expr, Add):
            expr.polynomial = {m: c for t in expr.terms for m, c in _polynomial(t).items()}
        else:
            expr.polynomial = {(expr,): 1}
    return expr.polynomial


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
    found = _DIVIDED.get((a, b))
    if found is None:
        found = _DIVIDED[a, b] = _divide(a, b)
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


BUILD.sum_of, BUILD.product_of, BUILD.floordiv, BUILD.mod = sum_of, product_of, floordiv, mod
BUILD.minimum, BUILD.maximum = minimum, maximum
