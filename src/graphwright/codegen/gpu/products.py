"""Matrix products as kernels over tiles, with the pointwise kernels that read them in them.

    k0 = gemm(x, w)                        kernel k0_mm_relu: i, j in tiles of 64
    kernel k1_relu: i in tiles of 1024 ->      product = sum over r: x[...] * w[...]
        out0[i] = max(0, k0[i] + b[i % N])     out0[N*i + j] = max(0, product + b[j])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphwright.codegen.gpu.tile_ir import Product, TileAxis, TileKernel
from graphwright.codegen.gpu.tile_sizes import product_tile
from graphwright.codegen.loops import (
    Accumulate,
    Apply,
    Buffer,
    Check,
    Let,
    Load,
    Local,
    Stmt,
    Store,
)
from graphwright.codegen.program import Gemm
from graphwright.codegen.scheduler.affine import coefficient
from graphwright.codegen.scheduler.buffer_access import touched, touches
from graphwright.codegen.scheduler.loopnest import rename
from graphwright.runtime.record import replace
from graphwright.runtime.symbolic.expr import Expr, Int, Sym, product

RESULT = "product"
"""The local that an epilogue knows an element of the product by."""


def with_products(
    steps: Sequence[TileKernel | Gemm], temps: set[str], lines: Mapping[str, tuple[str, ...]],
    precision: str,
) -> list[TileKernel]:
    """The steps with products as kernels.

    temps: the names of buffers that nothing outside reads; lines: the source lines of products, by
    the names of their buffers; precision: of float32 products.
    """
    result: list[TileKernel | None] = [s if isinstance(s, TileKernel) else None for s in steps]
    for number, step in enumerate(steps):
        if isinstance(step, TileKernel):
            continue
        kernel = replace(_kernel(step, f"k{number}_mm", precision),
                         source=lines.get(step.out.name, ()))
        reader = _epilogue(steps, number, step, temps)
        other = None if reader is None else result[reader]
        if other is None or other.product is not None:
            result[number] = kernel
            continue
        assert reader is not None, "a reader has a number"
        result[reader] = _fused(kernel, step, other)
    return [kernel for kernel in result if kernel is not None]


def _kernel(step: Gemm, name: str, precision: str) -> TileKernel:
    """A product that is stored as it is."""
    tile = product_tile(step.m, step.n, step.k, step.a.dtype, precision)
    p, i, j = (Sym(symbol, 0, extent - 1)
               for symbol, extent in (("p", step.batch), ("i", step.m), ("j", step.n)))
    r = Sym("r", 0, step.k - 1)
    index_a = step.offset_a + p * step.stride_a + (
        r * step.lda + i if step.transa else i * step.lda + r)
    index_b = step.offset_b + p * step.stride_b + (
        j * step.ldb + r if step.transb else r * step.ldb + j)
    axes = [TileAxis(p, step.batch, 1)] if step.batch != 1 else []
    axes += [TileAxis(i, step.m, tile.rows), TileAxis(j, step.n, tile.columns)]
    if step.batch == 1:
        index_a, index_b = (index.subs({p: 0}) for index in (index_a, index_b))
    made = Product(RESULT, step.a, step.b, index_a, index_b, TileAxis(r, step.k, tile.inner),
                   step.out.dtype, precision, tile.warps)
    store = Store(step.out, _position(step), Local(RESULT, step.out.dtype))
    return TileKernel(name, tuple(axes), None, _buffers(made, (store,)), (store,), (), made)


def _position(step: Gemm) -> Expr:
    """Where an element of the product is in its buffer."""
    p, i, j = (Sym(symbol, 0, extent - 1)
               for symbol, extent in (("p", step.batch), ("i", step.m), ("j", step.n)))
    index = i * step.n + j
    return index if step.batch == 1 else p * step.stride_c + index


def _buffers(made: Product, body: tuple[Stmt, ...]) -> tuple[Buffer, ...]:
    return tuple({b.name: b for b in (made.a, made.b, *touched(body))}.values())


def _epilogue(
    steps: Sequence[TileKernel | Gemm], number: int, step: Gemm, temps: set[str]
) -> int | None:
    """The number of the pointwise kernel that alone reads the product, element by element."""
    name = step.out.name
    if name not in temps:
        return None
    readers = [n for n, other in enumerate(steps) if n != number and name in _touched(other)]
    if len(readers) != 1:
        return None
    (reader,) = readers
    kernel = steps[reader]
    if isinstance(kernel, Gemm) or kernel.row is not None or kernel.product or kernel.attention:
        return None
    operands = {step.a.name, step.b.name}
    between = [other for other in steps[number + 1:reader + 1] if isinstance(other, TileKernel)]
    if any(t.store and t.buffer.name in operands for k in between for t in touches(k.body)):
        return None
    return reader if _bound(step, kernel) is not None else None


def _touched(step: TileKernel | Gemm) -> set[str]:
    if isinstance(step, Gemm):
        return {step.a.name, step.b.name, step.out.name}
    return {b.name for b in step.buffers}


def _bound(step: Gemm, kernel: TileKernel) -> dict[str, Expr] | None:
    """What to put for the axes of a pointwise kernel, over those of the product; None where it
    does not go through the elements of the product one by one."""
    indices = {t.index for t in touches(kernel.body) if t.buffer.name == step.out.name}
    if len(indices) != 1 or not all(isinstance(s, (Let, Store, Check)) for s in kernel.body):
        return None
    (index,), extents = indices, {a.symbol: a.extent for a in kernel.axes}
    if product(list(extents.values())) != step.batch * step.m * step.n:
        return None
    if list(extents) == [index]:
        return {next(iter(extents)).name: _position(step)}
    wanted = {"i": (step.n, step.m), "j": (Int(1), step.n), "p": (step.stride_c, step.batch)}
    bound: dict[str, Expr] = {}
    for symbol, extent in extents.items():
        step_along = coefficient(index, symbol)
        axis = next((name for name, (stride, size) in wanted.items()
                     if step_along == stride and size == extent), None)
        if axis is None:
            return None
        _, size = wanted.pop(axis)
        bound[symbol.name] = Sym(axis, 0, size - 1)
    return bound


def _fused(kernel: TileKernel, step: Gemm, other: TileKernel) -> TileKernel:
    """The product with another kernel's body as its epilogue."""
    bound = _bound(step, other)
    made = kernel.product
    assert bound is not None and made is not None, "an epilogue that does not fit"
    body = tuple(_with_product(s, step) for s in rename(other.body, bound))
    return replace(kernel, name=f"{other.name}_mm", body=body, buffers=_buffers(made, body),
                   source=tuple(dict.fromkeys((*kernel.source, *other.source))))


def _with_product(stmt: Any, step: Gemm) -> Stmt:
    """A statement that takes the product from its local."""
    def value(found: Any) -> Any:
        if isinstance(found, Apply):
            return Apply(found.op, tuple(value(a) for a in found.args), found.dtype)
        if isinstance(found, Load):
            if found.buffer.name == step.out.name:
                return Local(RESULT, step.out.dtype)
            return found if found.mask is None else replace(found, mask=value(found.mask))
        return found

    assert not isinstance(stmt, Accumulate), "an epilogue has no atomics"
    if isinstance(stmt, Store) and stmt.mask is not None:
        return replace(stmt, value=value(stmt.value), mask=value(stmt.mask))
    return replace(stmt, value=value(stmt.value))
