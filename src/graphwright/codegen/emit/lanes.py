"""How wide a SIMD loop runs, and how many accumulators hide the latency of a fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graphwright.codegen.loops import (
    Accumulate,
    Apply,
    Check,
    For,
    Let,
    Load,
    Reduce,
    Stmt,
    Store,
    Value,
)

DEAR = frozenset((
    "exp", "expm1", "log", "log1p", "log2", "sin", "cos", "tan", "tanh", "sigmoid", "erf",
    "normal_cdf", "pow", "atan2", "fmod", "remainder", "floordiv",
))


def values_of(stmt: Stmt) -> tuple[Value, ...]:
    """The values a statement computes itself (not those of statements inside it)."""
    if isinstance(stmt, (Let, Accumulate, Check)):
        return (stmt.value,)
    if isinstance(stmt, Store):
        return (stmt.value,) if stmt.mask is None else (stmt.value, stmt.mask)
    if isinstance(stmt, Reduce):
        return tuple(f.value for f in stmt.folds)
    return ()


def inner(stmt: Stmt) -> tuple[Stmt, ...]:
    """The statements inside a statement."""
    if isinstance(stmt, For):
        return stmt.body
    return stmt.prologue if isinstance(stmt, Reduce) else ()


def walk(stmts: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """All statements, from outside to inside."""
    for stmt in stmts:
        yield stmt
        yield from walk(inner(stmt))


def walk_values(values: tuple[Value, ...]) -> Iterator[Value]:
    """The nodes of values, each once."""
    seen: set[int] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        stack.extend(operands(value))


def operands(value: Value) -> tuple[Value, ...]:
    """The values that a value is computed from."""
    if isinstance(value, Apply):
        return value.args
    return (value.mask,) if isinstance(value, Load) and value.mask is not None else ()


def post_order(value: Value, known: Callable[[Value], bool]) -> list[Value]:
    """What `value` is made of, operands first, each once; not what is `known` or below it.

    Chains of thousands of operations are common; recursion would end at Python's limit.
    """
    order: list[Value] = []
    seen: set[int] = set()
    stack: list[tuple[Value, bool]] = [(value, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in seen and not known(node):
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((operand, False) for operand in operands(node))
    return order


def all_values(stmts: tuple[Stmt, ...]) -> Iterator[Value]:
    return walk_values(tuple(v for stmt in walk(stmts) for v in values_of(stmt)))


def lanes_for(stmts: tuple[Stmt, ...], vector_bits: int) -> int:
    """SIMD lanes of a loop over `stmts`: a register of its widest floats (float32 if none)."""
    wide = any(v.dtype.name == "float64" for v in all_values(stmts))
    return vector_bits // (64 if wide else 32)


def is_of_bytes(stmts: tuple[Stmt, ...]) -> bool:
    """Whether nothing in `stmts` is wider than a byte, and nothing but loops over them."""
    return all(v.dtype.itemsize == 1 for v in all_values(stmts)) and not any(
        isinstance(s, (Reduce, Check)) for s in walk(stmts))


def cost(stmts: tuple[Stmt, ...]) -> int:
    """A rough count of the operations of one turn."""
    return sum(
        (20 if v.op in DEAR else 1) for v in all_values(stmts) if isinstance(v, Apply)
    )


def accumulators(reduce: Reduce) -> int:
    """How many vectors a fold keeps in flight: the cheaper its body, the more."""
    work = cost((reduce,))
    return 4 if work <= 6 else 2 if work <= 14 else 1


