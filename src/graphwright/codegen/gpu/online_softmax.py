"""Maximum and sum of exponentials of a long row in one pass instead of two.

    m = reduce max over r: v                    reduce over r:
    s = reduce sum over r: exp(v - m)     ->        m = max v
                                                    s = sumexp v

The sum is rescaled whenever the maximum grows (Milakov and Gimelshein, "Online normalizer
calculation for softmax", 2018). Only rows that are read in turns gain from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.codegen.loops import Apply, Fold, Let, Load, Local, Reduce, Stmt, Value
from graphwright.runtime.record import replace


def one_pass(stmts: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The body of a row with each such pair of passes as one."""
    result: list[Stmt] = []
    for stmt in stmts:
        joined = _joined(result[-1], stmt) if result else None
        if joined is None:
            result.append(stmt)
        else:
            result[-1] = joined
    return tuple(result)


def _joined(first: Stmt, second: Stmt) -> Reduce | None:
    """Both passes in one, if the second sums exponentials of what the first has the maximum of."""
    if not isinstance(first, Reduce) or not isinstance(second, Reduce):
        return None
    if len(first.folds) != 1 or len(second.folds) != 1 or first.axes != second.axes:
        return None
    (maximum,), (total,) = first.folds, second.folds
    if maximum.op != "max" or total.op != "sum" or not maximum.value.dtype.is_floating_point:
        return None
    if not all(isinstance(s, Let) for s in (*first.prologue, *second.prologue)):
        return None
    summed = _inlined(total.value, second.prologue)
    difference = summed.args[0] if isinstance(summed, Apply) and summed.op == "exp" else None
    if not isinstance(difference, Apply) or difference.op != "sub":
        return None
    value, by = difference.args
    if by != Local(maximum.name, maximum.value.dtype):
        return None
    if value != _inlined(maximum.value, first.prologue):
        return None
    return replace(first, folds=(maximum, Fold(total.name, "sumexp", maximum.value)))


def _inlined(value: Value, lets: Sequence[Stmt]) -> Any:
    """A value with the locals of `lets` replaced by what they stand for."""
    bound = {let.name: let.value for let in lets if isinstance(let, Let)}

    def inline(found: Any) -> Any:
        if isinstance(found, Local) and found.name in bound:
            return inline(bound[found.name])
        if isinstance(found, Apply):
            return Apply(found.op, tuple(inline(a) for a in found.args), found.dtype)
        if isinstance(found, Load) and found.mask is not None:
            return replace(found, mask=inline(found.mask))
        return found
    return inline(value)
