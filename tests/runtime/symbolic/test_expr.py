"""Integer expressions: normal form, ranges, division, text; and a fuzzer against Python ints."""

import pickle
import random

import pytest

from graphwright.runtime.symbolic.expr import (
    Expr,
    Int,
    Mod,
    Sym,
    as_int,
    ceildiv,
    maximum,
    minimum,
    prove_ge,
    prove_lt,
)

s0, s1, s2 = (Sym(f"s{n}", 1) for n in range(3))
f = Sym("f", 0)


def test_equal_expressions_are_one_object() -> None:
    assert (s0 + s1) * 2 is 2 * s1 + s0 + s0
    assert (s0 + 1) * (s0 - 1) is s0 * s0 - 1
    assert Int(3) is Int(3) and Int(3) == 3 and s0 - s0 == 0
    assert pickle.loads(pickle.dumps(s0 // 3 + s1)) is s0 // 3 + s1


def test_flattened_indices_come_apart() -> None:
    i, j = Sym("i", 0, 99), Sym("j", 0, 767)
    assert (i * 768 + j) // 768 is i and (i * 768 + j) % 768 is j
    r, c = Sym("r", 0, s0 - 1), Sym("c", 0, s1 - 1)
    assert (r * s1 + c) // s1 is r and (r * s1 + c) % s1 is c
    assert ((r * s1 + c) * s2) // (s1 * s2) is r


def test_parts_come_together_again() -> None:
    assert (f // 12) * 12 + ((f // 4) % 3) * 4 + f % 4 is f
    assert (f // s0) * s0 + f % s0 is f


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ((s0 + 1) * (s1 + 1) // (s1 + 1), "s0 + 1"),
        (s0 * s1 * s2 // (s1 * s2), "s0"),
        ((s0 - 1) // 2 + 1, "(s0 + 1)//2"),
        ((4 * f + 2) // 8, "f//2"),
        ((4 * f + 2) % 8, "4*(f % 2) + 2"),
        ((f % 12) // 4, "(f//4) % 3"),
        ((f % 12) % 4, "f % 4"),
        ((f // 4) // 8, "f//32"),
        (f // -2, "(-f)//2"),
        (3 - f, "-f + 3"),
        (minimum(f, f + 1, 5), "min(f, 5)"),
        (maximum(0, f), "f"),
        (ceildiv(f, 8), "(f + 7)//8"),
        (Sym("i10") + Sym("i9"), "i9 + i10"),
    ],
)
def test_text(expr: Expr, text: str) -> None:
    assert str(expr) == text


def test_proofs_use_symbolic_bounds() -> None:
    r, c = Sym("r", 0, s0 - 1), Sym("c", 0, s1 - 1)
    assert prove_lt(r * s1 + c, s0 * s1)
    assert not prove_lt(r, c) and not prove_ge(r, c)
    assert (s0 // 3).range() == (0, None) and (f % 7).range() == (0, 6)


def test_substitution_simplifies() -> None:
    assert (f // s0).subs({s0: 1}) is f
    assert (f * s0 % s1).subs({"s1": s0}) == 0
    assert as_int((s0 * 4 + s1).subs({s0: 2, s1: 3})) == 11 and as_int(s0) is None
    with pytest.raises(ZeroDivisionError):
        (f // s0).subs({s0: 0})


def random_expr(rng: random.Random, depth: int) -> tuple[Expr, str]:
    """An expression, and Python text that means the same without simplification."""
    if depth == 0:
        if rng.random() < 0.7:
            name = rng.choice("abnk")
            return _SYMS[name], name
        value = rng.choice([0, 1, 2, 3, 4, 8, 12, -1])
        return Int(value), f"({value})"
    (x, a), (y, b) = random_expr(rng, depth - 1), random_expr(rng, depth - 1)
    kind = rng.choice(["+", "*", "//", "%", "min", "max"])
    if kind in ("min", "max"):
        return (minimum if kind == "min" else maximum)(x, y), f"{kind}({a}, {b})"
    if kind in ("//", "%") and (y.range()[0] or 0) < 1:
        y, b = rng.choice([(Int(4), "4"), (Int(12), "12"), (_SYMS["n"] * 4, "(n*4)"),
                           (_SYMS["n"] + 1, "(n+1)"), (Int(-3), "(-3)")])
    result = {"+": x + y, "*": x * y}.get(kind) if kind in "+*" else (
        x // y if kind == "//" else x % y)
    assert result is not None
    return result, f"({a} {kind} {b})"


_SYMS = {"a": Sym("a", 0, 7), "b": Sym("b", 0, 3), "n": Sym("n", 1),
         "k": Sym("k", 0, Sym("n", 1) - 1)}


@pytest.mark.parametrize("seed", range(4))
def test_fuzz(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        expr, text = random_expr(rng, rng.choice([1, 2, 3, 4]))
        low, high = expr.range()
        for _ in range(4):
            n = rng.randint(1, 9)
            values = {"a": rng.randint(0, 7), "b": rng.randint(0, 3), "n": n,
                      "k": rng.randint(0, n - 1)}
            expected = eval(text, {}, values)
            assert expr.evaluate(values) == expected, f"seed {seed}: {text} became {expr}"
            assert eval(str(expr), {}, values) == expected
            assert (low is None or low <= expected) and (high is None or expected <= high)
        assert expr.subs({}) is expr


def test_irreducible_remainders_stay() -> None:
    assert isinstance(f % s0, Mod)
