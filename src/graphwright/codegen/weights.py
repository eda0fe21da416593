"""Which inputs of a native program are right factors of products that may be packed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphwright.codegen.loops import Buffer
from graphwright.codegen.program import ANY, PANELS, Gemm, NativeProgram, RoutineCall, Step
from graphwright.runtime.ops.sequences.recurrent_cells import GATES
from graphwright.runtime.symbolic.expr import Expr, Int, as_int, product
from graphwright.runtime.tensor.dtypes import float32

Weight = tuple[int, int, bool, int, int, int, int, int]
"""Input, offset in bytes, whether it is transposed, columns, rows, leading dimension, and of a
convolution's weight the taps of a kernel and the groups: see `GwFactorForm` in packed.h."""

SMALL = 1 << 10
"""Elements below which a product is quicker than looking its pack up."""


def weight_inputs(program: NativeProgram, most: int | None) -> tuple[Weight, ...]:
    """The matrices of float32 among the inputs that products, recurrent layers and convolutions
    read and nothing writes.

    most: the bytes that their packs may take together; those that come first get them. None: no
    bound of their own.
    """
    found: dict[Weight, int] = {}
    for step in program.steps:
        for factor in _factors(step):
            weight = _weight(program, *factor)
            if weight is not None:
                found[weight] = weight[3] * weight[4] * weight[7] * float32.itemsize
    chosen, total = [], 0
    for weight, size in found.items():
        total += size
        if most is None or total <= most:
            chosen.append(weight)
    return tuple(chosen)


def factor_inputs(program: NativeProgram) -> set[int]:
    """The products of `weight_inputs`, by identity."""
    return {id(step) for step in program.steps if isinstance(step, Gemm) and any(
        _weight(program, *factor) is not None for factor in _factors(step))}


Factor = tuple[Buffer, Expr, bool, Expr, Expr, Expr, Expr, Expr]
"""Where a right factor begins, in elements of a buffer, and how it lies: see `Weight`."""
ONE = Int(1)


def _weight(program: NativeProgram, buffer: Buffer, *form: Any) -> Weight | None:
    slot = program.slots[buffer.name]
    offset, transposed, *sizes = (
        size if isinstance(size, bool) else as_int(size) for size in form)
    if (slot.kind != "input" or slot.index in program.mutated or buffer.dtype is not float32
            or offset is None or None in sizes):
        return None
    n, k, leading, taps, groups = (size for size in sizes if size is not None)
    if n * k * groups < SMALL:
        return None
    return slot.index, offset * float32.itemsize, bool(transposed), n, k, leading, taps, groups


def _factors(step: Step) -> Iterator[Factor]:
    """The right factors of a step's products."""
    if isinstance(step, Gemm):
        if step.batch == 1 and step.way in (ANY, PANELS):
            yield step.b, step.offset_b, step.transb, step.n, step.k, step.ldb, ONE, ONE
    elif isinstance(step, RoutineCall) and step.routine in _RECURRENT:
        yield from _recurrent(step)
    elif isinstance(step, RoutineCall) and step.routine == "convolution":
        yield _convolved(step)


_RECURRENT = {"recurrence": ((3, True), (5, True)), "recurrence_backward": ((4, False),)}
"""Which operands the weights are, and whether products transpose them (recurrence.c)."""


def _recurrent(step: RoutineCall) -> Iterator[Factor]:
    kind, hidden, width = as_int(step.sizes[0]), step.sizes[4], step.sizes[7]
    assert kind is not None, "the kind of a recurrent layer is known"
    wide = hidden * list(GATES.values())[kind]
    for (place, transposed), inner in zip(_RECURRENT[step.routine], (hidden, width), strict=False):
        weight, offset = step.operands[place]
        if weight is not None:
            n, k = (wide, inner) if transposed else (inner, wide)
            yield weight, offset, transposed, n, k, inner, ONE, ONE


def _convolved(step: RoutineCall) -> Factor:
    """As gw_convolution_routine lays its weight out (channels_last.c)."""
    weight, offset = step.operands[1]
    assert weight is not None, "a convolution has a weight"
    taps = product(step.sizes[5:7])
    groups, ins, outs = step.sizes[13:16]
    if ins == outs == 1:
        return weight, offset, True, groups, taps, taps, ONE, ONE
    return weight, offset, True, outs, ins * taps, ins * taps, taps, groups
