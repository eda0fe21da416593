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

from graphwright.runtime.symbolic.nodes import (
    Add,
    Expr,
    ExprLike,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Range,
    Sym,
    as_expr,
    as_int,
)
from graphwright.runtime.symbolic.rules import (
    add,
    ceildiv,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    product,
    prove_ge,
    prove_lt,
)

__all__ = [
    "Add", "Expr", "ExprLike", "FloorDiv", "Int", "Max", "Min", "Mod", "Mul", "Range", "Sym",
    "add", "as_expr", "as_int", "ceildiv", "floordiv", "maximum", "minimum", "mod", "mul",
    "product", "prove_ge", "prove_lt",
]
