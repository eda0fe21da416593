"""Operations and bytes of what a compiled graph runs, counted on its loop nests.

Operations are additions, multiplications, comparisons, functions and so on of the innermost loops,
each one, whatever it costs; products count two a term. Bytes are those of the buffers, each once,
as if caches kept what is read again; of a buffer of which few elements are looked up, those.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from graphwright.codegen.emit.lanes import values_of, walk_values
from graphwright.codegen.loops import Apply, Axis, Buffer, For, Kernel, Reduce, Stmt
from graphwright.codegen.program import Gemm
from graphwright.codegen.scheduler.affine import estimate
from graphwright.codegen.scheduler.buffer_access import touches
from graphwright.ir.graph.node import Node
from graphwright.profiler.flops import flops_of
from graphwright.runtime.tensor.tensor import Tensor

MOVES = frozenset({"cast", "bitcast", "where"})
"""Operations that compute nothing."""


class Cost(NamedTuple):
    """Floating point operations, and bytes of memory."""

    operations: int = 0
    nbytes: int = 0

    def plus(self, other: Cost) -> Cost:
        """The sum of both."""
        return Cost(self.operations + other.operations, self.nbytes + other.nbytes)


def cost_of_step(step: Kernel | Gemm) -> Cost:
    """That of a kernel or a matrix product, with sizes that are numbers."""
    if isinstance(step, Gemm):
        size = math.prod(map(estimate, (step.batch, step.m, step.n, step.k)))
        return Cost(2 * size, _bytes(_gemm_elements(step)))
    operations, counts = 0, list[int]()
    for stmt, times in _statements(step.body, 1):
        if isinstance(stmt, For | Reduce):
            counts.append(times)
        operations += times * _operations(stmt)
    return Cost(operations, _bytes(_kernel_elements(step, counts)))


def _statements(stmts: Sequence[Stmt], times: int) -> Iterator[tuple[Stmt, int]]:
    """Each statement, and how often it runs; of a Reduce, how often its folds do."""
    for stmt in stmts:
        if isinstance(stmt, For):
            inner = times * _extent(stmt.axis)
            yield stmt, inner
            yield from _statements(stmt.body, inner)
        elif isinstance(stmt, Reduce):
            inner = times * math.prod(map(_extent, stmt.axes))
            yield stmt, inner
            yield from _statements(stmt.prologue, inner)
        else:
            yield stmt, times


def _extent(axis: Axis) -> int:
    return estimate(axis.extent)


def _operations(stmt: Stmt) -> int:
    """Those of one run of the statement itself; a fold is one."""
    count = len(stmt.folds) if isinstance(stmt, Reduce) else 0
    for value in walk_values(values_of(stmt)):
        if isinstance(value, Apply) and value.op not in MOVES and value.dtype.is_floating_point:
            count += 2 if value.op == "fma" else 1
    return count


def _gemm_elements(step: Gemm) -> Iterator[tuple[Buffer, int]]:
    batch, m, n, k = (estimate(size) for size in (step.batch, step.m, step.n, step.k))
    for buffer, size in ((step.a, m * k), (step.b, k * n), (step.out, m * n)):
        yield buffer, min(batch * size, estimate(buffer.size))


def _kernel_elements(step: Kernel, counts: Sequence[int]) -> Iterator[tuple[Buffer, int]]:
    """Each buffer, and how many of its elements can be touched; `counts` of the loops."""
    touched: dict[str, int] = {}
    for touch in touches(step.body):
        times = counts[touch.loops[-1]] if touch.loops else 1
        touched[touch.buffer.name] = touched.get(touch.buffer.name, 0) + times
    for buffer in step.buffers:
        yield buffer, min(touched.get(buffer.name, 0), estimate(buffer.size))


def _bytes(elements: Iterator[tuple[Buffer, int]]) -> int:
    return sum(count * buffer.dtype.itemsize for buffer, count in elements)


def cost_of_op(node: Any) -> Cost:
    """That of an op that runs eagerly, from the values of its node."""
    given, made = _values(node.args), _tensors(node.meta["val"])
    shapes = [tuple(value.shape) if isinstance(value, Tensor) else value for value in given]
    flops = flops_of(node.target.name, shapes, tuple(made[0].shape))
    return Cost(flops, sum(one.numel() * one.element_size() for one in (*_tensors(given), *made)))


def _values(args: Any) -> list[Any]:
    """The arguments, with the values of nodes in their places."""
    return [_values(arg) if isinstance(arg, tuple | list)
            else arg.meta["val"] if isinstance(arg, Node) else arg for arg in args]


def _tensors(value: Any) -> list[Tensor]:
    """The tensors in nested lists."""
    if isinstance(value, tuple | list):
        return [tensor for part in value for tensor in _tensors(part)]
    return [value] if isinstance(value, Tensor) else []
