"""Which inputs of a native program are right factors of products that may be packed."""

from __future__ import annotations

from typing import Any

from graphwright.codegen.program import Gemm, NativeProgram, RoutineCall, Step
from graphwright.runtime.symbolic.expr import as_int
from graphwright.runtime.tensor.dtypes import float32

Weight = tuple[int, int, bool, int, int, int, int, int]
"""Input, offset in bytes, whether it is transposed, columns, rows, leading dimension, and of a
convolution's weight the taps of a kernel and the groups: see `GwFactorForm` in packed.h."""

SMALL = 1 << 10
"""Elements below which a product is quicker than looking its pack up."""


def weight_inputs(program: NativeProgram, most: int | None) -> tuple[Weight, ...]:
    """The weights of float32 among the inputs that products and convolutions read and nothing
    writes.

    most: the bytes that their packs may take together; those that come first get them. None: no
    bound of their own.
    """
    found: dict[Weight, int] = {}
    for step in program.steps:
        weight = _weight(program, step)
        if weight is not None:
            found[weight] = weight[3] * weight[4] * weight[7] * float32.itemsize
    chosen, total = [], 0
    for weight, size in found.items():
        total += size
        if most is None or total <= most:
            chosen.append(weight)
    return tuple(chosen)


def _weight(program: NativeProgram, step: Step) -> Weight | None:
    if isinstance(step, Gemm):
        factor = _right_factor(step)
    elif isinstance(step, RoutineCall) and step.routine == "convolution":
        factor = _convolved(step)
    else:
        return None
    if factor is None:
        return None
    buffer, offset, *form = factor
    slot = program.slots[buffer.name]
    if (slot.kind != "input" or slot.index in program.mutated or buffer.dtype is not float32
            or form[1] * form[2] * form[5] < SMALL):
        return None
    transposed, n, k, leading, taps, groups = form
    return (slot.index, offset * float32.itemsize, transposed, n, k, leading, taps, groups)


def _right_factor(step: Gemm) -> tuple[Any, ...] | None:
    sizes = [as_int(size) for size in (step.batch, step.offset_b, step.n, step.k, step.ldb)]
    if None in sizes or sizes[0] != 1:
        return None
    return step.b, sizes[1], step.transb, *sizes[2:], 1, 1


def _convolved(step: RoutineCall) -> tuple[Any, ...] | None:
    """As gw_convolution_routine lays its weight out (channels_last.c)."""
    weight, offset = step.operands[1]
    *known, height, width = [as_int(size) for size in (offset, *step.sizes[13:16],
                                                       *step.sizes[5:7])]
    if None in (*known, height, width):
        return None
    begin, groups, ins, outs = known
    taps = height * width
    if ins == outs == 1:
        return weight, begin, True, groups, taps, taps, 1, 1
    return weight, begin, True, outs, ins * taps, ins * taps, taps, groups
