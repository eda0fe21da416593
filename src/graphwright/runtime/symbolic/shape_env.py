"""`ShapeEnv`: the symbols of one trace, the values they had, and what was assumed of them.

Every fact that a trace decided by looking at a hint is recorded as a `Relation` in `guards`:
code made from the trace is right for exactly the sizes for which all of them hold.
"""

from __future__ import annotations

from graphwright.runtime.symbolic.expr import Expr, ExprLike, Int, Sym, as_expr
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.symbolic.symint import IntLike, SymInt


class ShapeEnv:
    """The symbols of a trace.

    Attributes:
        guards: what was assumed, in order, each once.
        symbol_sources: symbol name -> where its value comes from (opaque to this layer).
        values: symbol name -> the value it had when the trace was made (its hint).
    """

    def __init__(self, prefix: str = "s") -> None:
        self.prefix = prefix
        self.values: dict[str, int] = {}
        self.symbol_sources: dict[str, object] = {}
        self.symbols: dict[str, Sym] = {}
        self._guards: dict[Relation, None] = {}
        self._known: dict[Sym | str, Expr] = {}
        self._decided: dict[Relation, bool] = {}

    @property
    def guards(self) -> list[Relation]:
        return list(self._guards)

    def create_symbol(self, hint: int, source: object = None, *, size: bool = True) -> IntLike:
        """A new symbol whose value in this trace is `hint`.

        A size (`size=True`) of 0 or 1 stays a literal, since broadcasting and emptiness make such
        sizes special; other sizes are at least 2, which is recorded as a guard. Without `size`
        the integer may have any value.
        """
        if size and hint in (0, 1):
            return hint
        symbol = Sym(f"{self.prefix}{len(self.symbols)}", 2 if size else None)
        self.symbols[symbol.name] = symbol
        self.values[symbol.name] = hint
        self.symbol_sources[symbol.name] = source
        if size:
            self._guards[Relation(">=", symbol, Int(2))] = None
        return SymInt(symbol, self)

    def hint(self, expr: ExprLike) -> int:
        """The value that `expr` had when the trace was made."""
        return as_expr(expr).evaluate(self.values)

    def simplify(self, expr: ExprLike) -> Expr:
        """`expr` with the equalities that were assumed put in."""
        result = as_expr(expr)
        return result.subs(self._known) if self._known and result.symbols() else result

    def evaluate_bool(self, relation: Relation) -> bool:
        """The truth of `relation`: proven from bounds, or taken from the hints and guarded."""
        if relation.lhs is relation.rhs:
            return relation.op in ("==", "<=", ">=")
        decided = self._decided.get(relation)
        if decided is None:
            decided = self._decided[relation] = self._decide(relation)
        return decided

    def _decide(self, relation: Relation) -> bool:
        relation = Relation(relation.op, self.simplify(relation.lhs), self.simplify(relation.rhs))
        known = relation.known()
        if known is not None:
            return known
        truth = relation.holds(self.values)
        fact = relation if truth else relation.negated()
        self._guards[fact] = None
        if fact.op == "==":
            self._learn(fact)
        return truth

    def specialise(self, expr: ExprLike) -> int:
        """The hint of `expr`, assumed to be its value from now on."""
        value = self.hint(expr)
        self.evaluate_bool(Relation("==", as_expr(expr), Int(value)))
        return value

    def _learn(self, fact: Relation) -> None:
        """Replace a symbol by what it equals; the younger symbol by the older one."""
        for symbol, other in ((fact.rhs, fact.lhs), (fact.lhs, fact.rhs)):
            if isinstance(symbol, Sym) and symbol not in other.symbols():
                if isinstance(other, Sym) and other.sort_key > symbol.sort_key:
                    continue
                for name, known in self._known.items():
                    self._known[name] = known.subs({symbol: other})
                self._known[symbol] = other
                return
