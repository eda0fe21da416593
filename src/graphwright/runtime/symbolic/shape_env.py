"""`ShapeEnv`: the symbols of one trace, the values they had, and what was assumed of them.

Every fact that a trace decided by looking at a hint is recorded as a `Relation` in `guards`:
code made from the trace is right for exactly the sizes for which all of them hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

from graphwright.runtime.symbolic.expr import Add, Expr, ExprLike, Int, Mul, Sym, as_expr
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.symbolic.rules import solve
from graphwright.runtime.symbolic.symint import IntLike, SymInt

LARGEST_INT = 1 << 30
"""How far from zero an integer that is no size may be: generated code computes in 64 bits."""
_BITS = 60
"""Bits that a term of an expression may take: several are added."""
_BITS_OF_SIZES = 31
"""Bits that the sizes in a term are taken to need together."""


class Unguarded(RuntimeError):
    """Something was to be assumed of sizes whose guards are made already."""


class ShapeEnv:
    """The symbols of a trace.

    Attributes:
        guards: what was assumed, in order, each once.
        symbol_sources: symbol name -> where its value comes from (opaque to this layer).
        values: symbol name -> the value it had when the trace was made (its hint).
        fixed: how often an expression was taken for its value by somebody who needs a number.
    """

    def __init__(self, prefix: str = "s") -> None:
        self.prefix = prefix
        self.values: dict[str, int] = {}
        self.symbol_sources: dict[str, object] = {}
        self.symbols: dict[str, Sym] = {}
        self._guards: dict[Relation, None] = {}
        self._known: dict[Sym | str, Expr] = {}
        self._literals: dict[Expr, Int] = {}
        self._decided: dict[Relation, bool] = {}
        self.fixed = 0
        self._closed_for: set[int] = set()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Within it this thread assumes nothing that is not guarded. Raises: Unguarded where it
        would."""
        thread = get_ident()
        if thread in self._closed_for:
            yield
            return
        self._closed_for.add(thread)
        try:
            yield
        finally:
            self._closed_for.discard(thread)

    @property
    def guards(self) -> list[Relation]:
        return list(self._guards)

    def create_symbol(self, hint: int, source: object = None, *, size: bool = True) -> IntLike:
        """A new symbol whose value in this trace is `hint`.

        A size (`size=True`) of 0 or 1 stays a literal, since broadcasting and emptiness make such
        sizes special; other sizes are at least 2, which is recorded as a guard. Without `size`
        the integer may have any value from -LARGEST_INT to LARGEST_INT, which are guards too.
        """
        if size and hint in (0, 1):
            return hint
        name = f"{self.prefix}{len(self.symbols)}"
        symbol = Sym(name, 2) if size else Sym(name, -LARGEST_INT, LARGEST_INT)
        self.symbols[symbol.name] = symbol
        self.values[symbol.name] = hint
        self.symbol_sources[symbol.name] = source
        if size:
            self._guards[Relation(">=", symbol, Int(2))] = None
        else:
            self._guards[Relation(">=", symbol, Int(-LARGEST_INT))] = None
            self._guards[Relation("<=", symbol, Int(LARGEST_INT))] = None
        return SymInt(symbol, self)

    def within_range(self, expr: Expr) -> Expr:
        """`expr`, after assuming of the integers in it what keeps its terms within 64 bits."""
        for term in expr.terms if isinstance(expr, Add) else (expr,):
            if isinstance(term, Mul | Int):
                self._narrow(term.factors if isinstance(term, Mul) else (term,), expr)
        return self.simplify(expr)

    def _narrow(self, factors: tuple[Expr, ...], expr: Expr) -> None:
        """Bound the integers in a product by equal shares of the bits; one that is larger now is
        assumed to keep its value."""
        widths = [_width(factor) for factor in factors]
        known = sum(w for w, f in zip(widths, factors, strict=True) if isinstance(f, Int) and w)
        varying = [f for w, f in zip(widths, factors, strict=True) if w and not isinstance(f, Int)]
        sizes = _BITS_OF_SIZES if None in widths else 0
        if known + sizes + sum(_width(f) or 0 for f in varying) <= _BITS:
            return
        share = max(0, _BITS - known - sizes) // max(1, len(varying))
        most = 1 << share
        symbols = {s for factor in varying for s in factor.symbols()} or expr.symbols()
        for symbol in sorted(symbols, key=str):
            if abs(self.hint(symbol)) > most:
                self.specialise(symbol)
            else:
                self.evaluate_bool(Relation(">=", symbol, Int(-most)))
                self.evaluate_bool(Relation("<=", symbol, Int(most)))

    def hint(self, expr: ExprLike) -> int:
        """The value that `expr` had when the trace was made."""
        return as_expr(expr).evaluate(self.values)

    def simplify(self, expr: ExprLike) -> Expr:
        """`expr` with the equalities that were assumed put in."""
        result = as_expr(expr)
        if self._known and result.symbols():
            result = result.subs(self._known)
        return self._literals.get(result, result)

    def evaluate_bool(self, relation: Relation) -> bool:
        """The truth of `relation`: proven from bounds, or taken from the hints and guarded."""
        if relation.lhs is relation.rhs:
            return relation.op in ("==", "<=", ">=")
        decided = self._decided.get(relation)
        if decided is None:
            decided = self._decided[relation] = self._decide(relation)
        return decided

    def _decide(self, relation: Relation) -> bool:
        relation = self._simplified(relation)
        known = relation.known()
        if known is not None:
            return known
        truth = relation.holds(self.values)
        fact = relation if truth else relation.negated()
        if get_ident() in self._closed_for:
            if fact not in map(self._simplified, self._guards):
                raise Unguarded(f"{fact} is not guarded")
            return truth
        self._guards[fact] = None
        if fact.op == "==":
            self._learn(fact)
        return truth

    def _simplified(self, relation: Relation) -> Relation:
        return Relation(relation.op, self.simplify(relation.lhs), self.simplify(relation.rhs))

    def specialise(self, expr: ExprLike) -> int:
        """The hint of `expr`, assumed to be its value from now on."""
        value = self.hint(expr)
        self.fixed += not isinstance(self.simplify(expr), Int)
        self.evaluate_bool(Relation("==", as_expr(expr), Int(value)))
        return value

    def _learn(self, fact: Relation) -> None:
        """Replace a symbol by what it equals, the younger symbol by the older one; an expression
        that gives no symbol's value, by the literal that it equals."""
        for symbol, other in ((fact.rhs, fact.lhs), (fact.lhs, fact.rhs)):
            if isinstance(symbol, Sym) and symbol not in other.symbols():
                if isinstance(other, Sym) and other.sort_key > symbol.sort_key:
                    continue
                self._put(symbol, other)
                return
        solved = solve(fact.lhs - fact.rhs)
        if solved is not None:
            self._put(*solved)
        elif isinstance(fact.rhs, Int):
            self._literals[fact.lhs] = fact.rhs
        elif isinstance(fact.lhs, Int):
            self._literals[fact.rhs] = fact.lhs

    def _put(self, symbol: Sym, value: Expr) -> None:
        """Replace `symbol` by `value` from now on, in what is known already as well."""
        for name, known in self._known.items():
            self._known[name] = known.subs({symbol: value})
        self._known[symbol] = value
        self._literals = {expr.subs({symbol: value}): v for expr, v in self._literals.items()}


def _width(expr: Expr) -> int | None:
    """The bits of the greatest magnitude that it can have; None where that is not bounded."""
    low, high = expr.range()
    return None if low is None or high is None else max(abs(low), abs(high), 1).bit_length() - 1
