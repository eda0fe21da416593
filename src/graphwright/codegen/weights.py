"""Which inputs of a native program are right factors of products that may be packed."""

from __future__ import annotations

from graphwright.codegen.program import Gemm, NativeProgram
from graphwright.runtime.symbolic.expr import as_int
from graphwright.runtime.tensor.dtypes import float32

Weight = tuple[int, int, bool, int, int, int, int, int]
"""Input, offset in bytes, whether it is transposed, columns, rows, leading dimension, and of a
convolution's weight the taps of a kernel and the groups: see `GwFactorForm` in packed.h."""

SMALL = 1 << 10
"""Elements below which a product is quicker than looking its pack up."""


def weight_inputs(program: NativeProgram, most: int | None) -> tuple[Weight, ...]:
    """The matrices of float32 among the inputs that products read and nothing writes.

    most: the bytes that their packs may take together; those that come first get them. None: no
    bound of their own.
    """
    found: dict[Weight, int] = {}
    for step in program.steps:
        weight = _weight(program, step) if isinstance(step, Gemm) else None
        if weight is not None:
            found[weight] = weight[3] * weight[4] * weight[7] * float32.itemsize
    chosen, total = [], 0
    for weight, size in found.items():
        total += size
        if most is None or total <= most:
            chosen.append(weight)
    return tuple(chosen)


def _weight(program: NativeProgram, step: Gemm) -> Weight | None:
    slot = program.slots[step.b.name]
    sizes = [as_int(size) for size in (step.batch, step.offset_b, step.n, step.k, step.ldb)]
    if (slot.kind != "input" or slot.index in program.mutated or step.b.dtype is not float32
            or None in sizes):
        return None
    batch, offset, n, k, leading = (size for size in sizes if size is not None)
    if batch != 1 or n * k < SMALL:
        return None
    return slot.index, offset * float32.itemsize, step.transb, n, k, leading, 1, 1
