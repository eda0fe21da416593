"""Small programs by hand, and a way to run them natively without the rest of the project."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphwright.codegen.emit.native import LoadedProgram, compile_program
from graphwright.codegen.loops import Apply, Axis, Buffer, Kernel, Load, Value
from graphwright.codegen.program import NativeProgram, Output, Slot
from graphwright.codegen.target import Machine
from graphwright.runtime.symbolic.expr import Expr, ExprLike, Int, Sym, as_expr
from graphwright.runtime.tensor import dtypes

BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
PARALLEL_FOR = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, BODY, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@PARALLEL_FOR
def _parallel_for(ctx: int, body: Any, closure: int, count: int, grain: int) -> None:
    """Two chunks, one after the other: chunk bounds are exercised, threads are not needed."""
    middle = count // 2
    if middle:
        body(closure, 0, middle)
    if count > middle:
        body(closure, middle, count)


class Context(ctypes.Structure):
    """`gw_ctx` of runtime/_core/abi.h."""

    _fields_ = (
        ("parallel_for", PARALLEL_FOR), ("gemm", ctypes.c_void_p), ("seed", ctypes.c_uint64),
        ("offset", ctypes.c_uint64), ("num_threads", ctypes.c_int64),
        ("error_info", ctypes.POINTER(ctypes.c_int64)),
    )


class NativeError(Exception):
    """The run ended with an error; args are value, bound and message id."""


def axis(name: str, extent: ExprLike) -> Axis:
    extent = as_expr(extent)
    return Axis(Sym(name, 0, extent - 1), extent)


def buffer(name: str, dtype: dtypes.dtype, size: ExprLike, role: str = "input") -> Buffer:
    return Buffer(name, dtype, as_expr(size), role)


def op(name: str, *args: Value, dtype: dtypes.dtype | None = None) -> Apply:
    """`Apply` with the dtype of the last argument, or bool for comparisons."""
    if dtype is None:
        compares = name in ("eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf")
        dtype = dtypes.bool_ if compares else args[-1].dtype
    return Apply(name, args, dtype)


def load(source: Buffer, index: ExprLike) -> Load:
    return Load(source, as_expr(index))


def program(
    body: Sequence[Any], inputs: Sequence[Buffer], outputs: Sequence[Buffer],
    symbols: tuple[tuple[str, int, int], ...] = (), rng_ops: int = 0,
    messages: tuple[str, ...] = (), temps: Sequence[tuple[Buffer, int]] = (),
) -> NativeProgram:
    """One kernel over flat inputs and outputs."""
    slots = {b.name: Slot("input", i) for i, b in enumerate(inputs)}
    slots |= {b.name: Slot("output", i) for i, b in enumerate(outputs)}
    slots |= {b.name: Slot("arena", 0, Int(offset)) for b, offset in temps}
    kernel = Kernel("kernel", (*inputs, *outputs, *(b for b, _ in temps)), tuple(body))
    return NativeProgram(
        tuple(inputs), tuple(Output(b, (b.size,), (Int(1),)) for b in outputs), slots,
        Int(1 << 20 if temps else 0), (kernel,), symbols, rng_ops, (), messages)


def run(
    what: NativeProgram, inputs: Sequence[np.ndarray], sizes: Sequence[int] = (),
    target: str = "llvm", machine: Machine | None = None, seed: int = 0, offset: int = 0,
    loaded: LoadedProgram | None = None,
) -> list[np.ndarray]:
    """The outputs of the program; memory past them is checked to stay as it was."""
    loaded = loaded or compile_program(what, target, machine)
    values = {name: size for (name, _, _), size in zip(what.symbols, sizes, strict=True)}
    guard = 64
    outputs = []
    for output in what.outputs:
        dtype = output.buffer.dtype.numpy
        raw = np.full(output.buffer.size.evaluate(values) * dtype.itemsize + guard, 0xA5, "u1")
        outputs.append((raw, dtype))
    arena = np.zeros(what.arena_bytes.evaluate(values) + 64, "u1")
    arrays = [*inputs, *(raw for raw, _ in outputs), arena]
    pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    info = (ctypes.c_int64 * 4)()
    context = Context(_parallel_for, None, seed, offset, 2, info)
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p,
                                ctypes.c_void_p)(loaded.run_address)
    packed = (ctypes.c_int64 * max(1, len(sizes)))(*sizes)
    status = function(ctypes.byref(context), pointers, packed)
    if status:
        raise NativeError(*list(info)[:3])
    for raw, _ in outputs:
        assert (raw[-guard:] == 0xA5).all(), "wrote past the end"
    return [raw[:-guard].view(dtype) for raw, dtype in outputs]


def elementwise(
    count: ExprLike, value: Any, inputs: Sequence[Buffer], dtype: dtypes.dtype,
    symbols: tuple[tuple[str, int, int], ...] = (), index: Expr | None = None,
) -> NativeProgram:
    """out[i] = value(i) over one vector loop."""
    from graphwright.codegen.loops import For, LoopKind, Store

    i = axis("i", count)
    out = buffer("out", dtype, count, "output")
    body = For(i, LoopKind.VECTOR, (Store(out, index or i.symbol, value(i.symbol)),))
    return program([body], inputs, [out], symbols)
