"""Kernels that run on blocks of the result of a product, or of a routine, as these are complete.

::

    y = gemm(x, w)                      y = gemm(x, w), and of each block of rows at once:
    kernel k1:                    =>        for p in parallel(128):
        for p in parallel(128):                 for i in vector(512):
            for i in vector(512):                   z[i + 512*p] = max(y[i + 512*p] + b[i], 0)
                z[i + 512*p] = ...

Both stay steps of their own; how the first is split decides when the second runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from graphwright.codegen.loops import Buffer, Check, For, Kernel, LoopKind
from graphwright.codegen.program import Gemm, RoutineCall, Step, operand_names
from graphwright.codegen.scheduler.affine import coefficient
from graphwright.codegen.scheduler.buffer_access import Touch, statements, touches
from graphwright.runtime.symbolic.expr import Expr, Sym, prove_ge, prove_lt

Call = Gemm | RoutineCall
"""Steps whose results have parts that are complete before the whole."""


def chained_kernels(steps: Sequence[Step]) -> tuple[int, ...]:
    """The numbers of the steps that are kernels which may follow the call before them."""
    return tuple(
        number for number, (before, step) in enumerate(pairwise(steps), 1)
        if isinstance(before, Call) and isinstance(step, Kernel) and _follows(before, step))


def elements_each(call: Call, loop: For) -> Expr | None:
    """The number n for which iteration i of the loop touches elements [i * n, (i + 1) * n) of the
    call's first result alone; None where there is none."""
    axis, result = loop.axis.symbol, _results(call)[0]
    own = [t for t in touches(loop.body) if t.buffer == result]
    each = coefficient(own[0].index, axis) if own else None
    if each is None or not prove_ge(each, 1) or not all(_stays(t, axis, each) for t in own):
        return None
    return each


def _results(call: Call) -> tuple[Buffer | None, ...]:
    return (call.out,) if isinstance(call, Gemm) else call.results


def _follows(call: Call, kernel: Kernel) -> bool:
    """Whether the kernel is one parallel loop whose iterations have the call's first result in
    equal parts, touches no other result, and writes nothing that the call, or somebody outside of
    the program, reads."""
    loop = kernel.body[0]
    if (len(kernel.body) > 1 or not isinstance(loop, For) or loop.kind is not LoopKind.PARALLEL
            or any(isinstance(stmt, Check) for stmt in statements(loop.body))):
        return False
    read, others = operand_names(call), _results(call)[1:]
    if any((touch.store and (touch.buffer.name in read or touch.buffer.role == "input"))
           or touch.buffer in others for touch in touches(kernel.body)):
        return False
    return elements_each(call, loop) is not None


def _stays(touch: Touch, axis: Sym, each: Expr) -> bool:
    """Whether iteration i touches elements of [i * each, (i + 1) * each) alone."""
    inside = touch.index - axis * each
    return axis not in inside.symbols() and prove_ge(inside, 0) and prove_lt(inside, each)
