"""Gradients of products that one kernel in C computes: see shortcuts.py.

`PRODUCTS` gives each op's rule, and what it needs kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim

Rule = Callable[..., Any]


# -- a product added to a term


def _transposed(x: Any) -> Any:
    return ops.transpose(x, -2, -1)


def _of_matrices(grad: Any, a: Any, b: Any, needs: tuple[bool, bool]) -> tuple[Any, Any]:
    """a @ b, also of batches; of the sum over a batch, to whose matrices the gradient spreads."""
    return (
        ops.matmul(grad, _transposed(b)) if needs[0] else None,
        ops.matmul(_transposed(a), grad) if needs[1] else None,
    )


def _of_matrix_and_vector(
    grad: Any, a: Any, b: Any, needs: tuple[bool, bool]
) -> tuple[Any, Any]:
    return (
        ops.outer(grad, b) if needs[0] else None,
        ops.mv(_transposed(a), grad) if needs[1] else None,
    )


def _of_vectors(grad: Any, a: Any, b: Any, needs: tuple[bool, bool]) -> tuple[Any, Any]:
    return (
        ops.mv(grad, b) if needs[0] else None,
        ops.mv(_transposed(grad), a) if needs[1] else None,
    )


def _scaled(grad: Any, factor: Any) -> Any:
    return grad if factor == 1 else ops.mul(grad, factor)


def _with_term(left: str, right: str, product: Rule) -> tuple[Rule, tuple[str, ...]]:
    """beta * input + alpha * product(left, right)."""

    def rule(ctx: Any, grad: Any) -> Any:
        needs = ctx.needs[left], ctx.needs[right]
        scaled = _scaled(grad, ctx.alpha)
        parts = product(scaled, getattr(ctx, left), getattr(ctx, right), needs)
        return _scaled(grad, ctx.beta), *parts

    return rule, (f"{left}?{right}", f"{right}?{left}")


def _matmul(ctx: Any, grad: Any) -> Any:
    """The batches that were broadcast are summed by what takes the answer."""
    return _of_matrices(grad, ctx.input, ctx.other, (ctx.needs["input"], ctx.needs["other"]))


# -- along dims


def _contracted_dims(ctx: Any) -> tuple[list[int], list[int]]:
    """The dims of both that `tensordot` sums over."""
    dims, a, b = ctx.dims, ctx.a, ctx.b
    ndims = len(a.shape), len(b.shape)
    if not isinstance(dims, list | tuple):
        return list(range(ndims[0] - dims, ndims[0])), list(range(dims))
    first, second = ([d] if isinstance(d, int) else list(d) for d in dims)
    return [wrap_dim(d, ndims[0]) for d in first], [wrap_dim(d, ndims[1]) for d in second]


def _toward(
    grad: Any, at: list[int], other: Any, ndim: int, dims: list[int], paired: list[int]
) -> Any:
    """The gradient of a factor of `ndim` dims, of which `dims` meet the other's `paired`.

    `at`: the dims of the gradient that are the other's remaining ones.
    """
    free = [d for d in range(len(other.shape)) if d not in paired]
    found = ops.tensordot(grad, other, (at, free))
    kept = [d for d in range(ndim) if d not in dims]
    order = [d for _, d in sorted(zip(paired, dims, strict=True))]
    now = kept + order
    return ops.permute(found, tuple(now.index(d) for d in range(ndim))) if ndim else found


def _tensordot(ctx: Any, grad: Any) -> Any:
    first, second = _contracted_dims(ctx)
    left, right = len(ctx.a.shape), len(ctx.b.shape)
    rows, ndim = left - len(first), len(grad.shape)
    to_a = to_b = None
    if ctx.needs["a"]:
        to_a = _toward(grad, list(range(rows, ndim)), ctx.b, left, first, second)
    if ctx.needs["b"]:
        to_b = _toward(grad, list(range(rows)), ctx.a, right, second, first)
    return to_a, to_b


def _kron(ctx: Any, grad: Any) -> Any:
    """Each dim of the result as two: that of `input`, then that of `other`."""
    a, b = tuple(ctx.input.shape), tuple(ctx.other.shape)
    ndim = max(len(a), len(b))
    left, right = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    split = ops.reshape(grad, tuple(n for pair in zip(left, right, strict=True) for n in pair))
    outer, inner = tuple(range(0, 2 * ndim, 2)), tuple(range(1, 2 * ndim, 2))
    to_input = to_other = None
    if ctx.needs["input"]:
        spread = ops.reshape(ctx.other, tuple(n for size in right for n in (1, size)))
        to_input = ops.mul(split, spread)
        to_input = ops.reshape(ops.sum(to_input, inner) if ndim else to_input, a)
    if ctx.needs["other"]:
        spread = ops.reshape(ctx.input, tuple(n for size in left for n in (size, 1)))
        to_other = ops.mul(split, spread)
        to_other = ops.reshape(ops.sum(to_other, outer) if ndim else to_other, b)
    return to_input, to_other


PRODUCTS: dict[str, tuple[Rule, tuple[str, ...]]] = {
    "addbmm": _with_term("batch1", "batch2", _of_matrices),
    "addmm": _with_term("mat1", "mat2", _of_matrices),
    "addmv": _with_term("mat", "vec", _of_matrix_and_vector),
    "addr": _with_term("vec1", "vec2", _of_vectors),
    "baddbmm": _with_term("batch1", "batch2", _of_matrices),
    "broadcast_matmul": (_matmul, ("input?other", "other?input")),
    "kron": (_kron, ("input?other", "other?input")),
    "tensordot": (_tensordot, ("a?b", "b?a")),
}
