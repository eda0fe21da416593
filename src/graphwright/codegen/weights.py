"""Which inputs of a native program are right factors of products that may be packed."""

from __future__ import annotations

from typing import Any

from graphwright.codegen.program import Gemm, NativeProgram, RoutineCall, Step
from graphwright.runtime.ops.sequences.recurrent_cells import GATES
from graphwright.runtime.symbolic.expr import as_int
from graphwright.runtime.tensor.dtypes import float32

Weight = tuple[int, int, bool, int, int, int]
"""Input, offset in bytes, whether it is transposed, columns, rows, leading dimension."""

SMALL = 1 << 10
"""Elements below which a product is quicker than looking its pack up."""


def weight_inputs(program: NativeProgram, most: int | None) -> tuple[Weight, ...]:
    """The matrices of float32 among the inputs that products and recurrent layers read
    and nothing writes.

    most: the bytes that their packs may take together; those that come first get them. None: no
    bound of their own.
    """
    found: dict[Weight, int] = {}
    for step in program.steps:
        weight = _weight(program, step)
        if weight is not None:
            found[weight] = weight[3] * weight[4] * float32.itemsize
    chosen, total = [], 0
    for weight, size in found.items():
        total += size
        if most is None or total <= most:
            chosen.append(weight)
    return tuple(chosen)


def _weight(program: NativeProgram, step: Step) -> Weight | None:
    factor = None
    if isinstance(step, Gemm):
        factor = _right_factor(step)
    elif isinstance(step, RoutineCall) and step.routine in _RECURRENT:
        factor = _recurrent(step)
    if factor is None:
        return None
    buffer, offset, transposed, n, k, leading = factor
    slot = program.slots[buffer.name]
    if (slot.kind != "input" or slot.index in program.mutated or buffer.dtype is not float32
            or n * k < SMALL):
        return None
    return slot.index, offset * float32.itemsize, transposed, n, k, leading


def _right_factor(step: Gemm) -> tuple[Any, ...] | None:
    sizes = [as_int(size) for size in (step.batch, step.offset_b, step.n, step.k, step.ldb)]
    if None in sizes or sizes[0] != 1:
        return None
    return step.b, sizes[1], step.transb, *sizes[2:]


_RECURRENT = {"recurrence": (3, True), "recurrence_backward": (4, False)}
"""Which operand the weight is, and whether the product with the hidden state transposes it."""


def _recurrent(step: RoutineCall) -> tuple[Any, ...] | None:
    place, transposed = _RECURRENT[step.routine]
    weight, begin = step.operands[place]
    kind, offset, hidden = (as_int(size) for size in (step.sizes[0], begin, step.sizes[4]))
    if kind is None or offset is None or hidden is None:
        return None
    wide = list(GATES.values())[kind] * hidden
    n, k = (wide, hidden) if transposed else (hidden, wide)
    return weight, offset, transposed, n, k, hidden
