"""Which inputs of a native program are right factors of products that may be packed."""

from __future__ import annotations

from graphwright.codegen.loops import Buffer
from graphwright.codegen.program import Gemm, NativeProgram, RoutineCall, Step
from graphwright.runtime.symbolic.expr import Expr, as_int
from graphwright.runtime.tensor.dtypes import float32

Weight = tuple[int, int, bool, int, int, int, int, int]
"""Input, offset in bytes, whether it is transposed, columns, rows, leading dimension, and of a
convolution's weight the taps of a kernel and the groups: see `GwFactorForm` in packed.h."""

Form = tuple[bool, int, int, int, int, int]
Factor = tuple[Buffer, int, Form]
"""Where it is, the offset in elements, and the rest of a `Weight`."""
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
    buffer, offset, (transposed, n, k, leading, taps, groups) = factor
    slot = program.slots[buffer.name]
    if (slot.kind != "input" or slot.index in program.mutated or buffer.dtype is not float32
            or n * k * groups < SMALL):
        return None
    return slot.index, offset * float32.itemsize, transposed, n, k, leading, taps, groups


def _right_factor(step: Gemm) -> Factor | None:
    sizes = _known(step.batch, step.offset_b, step.n, step.k, step.ldb)
    if sizes is None or sizes[0] != 1:
        return None
    _, offset, n, k, leading = sizes
    return step.b, offset, (step.transb, n, k, leading, 1, 1)


def _convolved(step: RoutineCall) -> Factor | None:
    """As gw_convolution_routine lays its weight out (channels_last.c)."""
    weight, offset = step.operands[1]
    sizes = _known(offset, *step.sizes[5:7], *step.sizes[13:16])
    if weight is None or sizes is None:
        return None
    begin, height, width, groups, ins, outs = sizes
    taps = height * width
    if ins == outs == 1:
        return weight, begin, (True, groups, taps, taps, 1, 1)
    return weight, begin, (True, outs, ins * taps, ins * taps, taps, groups)


def _known(*sizes: Expr) -> tuple[int, ...] | None:
    values = tuple(as_int(size) for size in sizes)
    return None if None in values else values   # type: ignore[return-value]
