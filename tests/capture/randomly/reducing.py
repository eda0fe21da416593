"""Makes a program that fails smaller, statement by statement."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

FIELDS = ("body", "orelse", "finalbody", "handlers", "cases")
SECONDS = 60.0


class Cut(NamedTuple):
    """Statement `index` of block number `block` goes away, or makes way for its own body."""

    block: int
    index: int
    unwrap: bool


def reduced(source: str, fails: Callable[[str], bool]) -> str:
    """A smaller source that still fails, found within `SECONDS`."""
    tree = ast.parse(source)
    end = time.monotonic() + SECONDS
    found: ast.Module | None = tree
    while found is not None:
        tree = found
        found = next((
            smaller for smaller in _smaller(tree)
            if time.monotonic() < end and fails(ast.unparse(smaller))
        ), None)
    return ast.unparse(tree)


def _smaller(tree: ast.Module) -> Iterator[ast.Module]:
    """The program after each cut that leaves valid syntax; outermost blocks come first."""
    sizes = [len(block) for block in _blocks(tree)]
    for unwrap in (False, True):
        for block, size in enumerate(sizes):
            for index in reversed(range(size)):
                smaller = _after(tree, Cut(block, index, unwrap))
                if smaller is not None:
                    yield smaller


def _blocks(tree: ast.AST) -> list[list[ast.AST]]:
    nodes = [node for node in ast.walk(tree) if not isinstance(node, ast.Module)]
    blocks = [getattr(node, field, None) for node in nodes for field in FIELDS]
    return [block for block in blocks if isinstance(block, list) and block]


def _after(tree: ast.Module, cut: Cut) -> ast.Module | None:
    smaller = copy.deepcopy(tree)
    block = _blocks(smaller)[cut.block]
    statement = block[cut.index]
    if isinstance(statement, ast.AugAssign) and _counts(smaller, statement):
        return None
    inner: list[ast.AST] = []
    if cut.unwrap:
        inner = getattr(statement, "body", [])
        if not isinstance(statement, (ast.If, ast.For, ast.While, ast.Try, ast.With)):
            return None
    block[cut.index:cut.index + 1] = inner
    if not block and isinstance(statement, ast.stmt):
        block.append(ast.Pass())
    return ast.fix_missing_locations(smaller) if is_valid(ast.unparse(smaller)) else None


def _counts(tree: ast.AST, statement: ast.AST) -> bool:
    """Whether a loop ends because of this statement."""
    return any(
        isinstance(node, ast.While) and node.body[0] is statement for node in ast.walk(tree)
    )


def is_valid(source: str) -> bool:
    """Whether Python compiles it (an assignment expression may stand where none is allowed)."""
    try:
        compile(source, "<reduced>", "exec")
    except SyntaxError:
        return False
    return True
