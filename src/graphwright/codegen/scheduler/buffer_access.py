"""Which buffers statements touch, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphwright.codegen.loops import (
    Accumulate,
    Apply,
    Buffer,
    Check,
    For,
    Let,
    Load,
    Reduce,
    Search,
    Stmt,
    Store,
)
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr


class Touch(Record):
    """A load or store of buffer[index]; `loops` number the loops around it, outermost first."""

    buffer: Buffer
    index: Expr
    store: bool
    loops: tuple[int, ...]


def touches(stmts: Sequence[Stmt]) -> list[Touch]:
    """All loads and stores in the order of the text."""
    counter = iter(range(1 << 30))
    return list(_touches(stmts, (), counter))


def _touches(
    stmts: Sequence[Stmt], loops: tuple[int, ...], counter: Iterator[int]
) -> Iterator[Touch]:
    for stmt in stmts:
        if isinstance(stmt, For):
            yield from _touches(stmt.body, (*loops, next(counter)), counter)
        elif isinstance(stmt, Reduce):
            inner = (*loops, next(counter))
            yield from _touches(stmt.prologue, inner, counter)
            for fold in stmt.folds:
                yield from _loads(fold.value, inner)
        elif isinstance(stmt, (Let, Check)):
            yield from _loads(stmt.value, loops)
            if isinstance(stmt, Search):
                yield Touch(stmt.buffer, stmt.index, False, loops)
        else:
            assert isinstance(stmt, (Store, Accumulate)), f"unknown statement {stmt}"
            yield from _loads(stmt.value, loops)
            if isinstance(stmt, Accumulate):
                yield Touch(stmt.buffer, stmt.index, False, loops)
            elif stmt.mask is not None:
                yield from _loads(stmt.mask, loops)
            yield Touch(stmt.buffer, stmt.index, True, loops)


def _loads(value: Any, loops: tuple[int, ...]) -> Iterator[Touch]:
    if isinstance(value, Apply):
        for arg in value.args:
            yield from _loads(arg, loops)
    elif isinstance(value, Load):
        if value.mask is not None:
            yield from _loads(value.mask, loops)
        yield Touch(value.buffer, value.index, False, loops)


def statements(stmts: Sequence[Stmt]) -> Iterator[Stmt]:
    """All statements in the order of the text, loops before what they hold."""
    for stmt in stmts:
        yield stmt
        if isinstance(stmt, For):
            yield from statements(stmt.body)
        elif isinstance(stmt, Reduce):
            yield from statements(stmt.prologue)


def touched(stmts: Sequence[Stmt]) -> tuple[Buffer, ...]:
    """The buffers, in order of first use."""
    return tuple({t.buffer.name: t.buffer for t in touches(stmts)}.values())
