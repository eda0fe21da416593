"""Composite ops become the primitives that code generation lowers.

Before::

    softmax = ops.softmax(x, 1)

After::

    amax = ops.amax(x, (1,), True)
    sub = ops.sub(x, amax)
    exp = ops.exp(sub)
    sum_1 = ops.sum(exp, (1,), True)
    div = ops.div(exp, sum_1)

Views stay whatever their name is, since their strides say everything; `detach` has no meaning
any more once gradients are part of the graph.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.trace import Rewrite, Tracer, trace
from graphwright.runtime._core import TensorBase
from graphwright.runtime.fake.fake_tensor import fake_kernel
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.arange_and_windows import arange_bounds
from graphwright.runtime.ops.strides import view_strides
from graphwright.runtime.ops.table import TABLE, Op
from graphwright.runtime.ops.views.basic import slice_bound, wrapped_index

_POINTWISE = {
    "neg", "abs", "sign", "exp", "expm1", "log", "log1p", "log2", "sqrt", "rsqrt", "reciprocal",
    "sin", "cos", "tan", "tanh", "sigmoid", "erf", "normal_cdf", "floor", "ceil", "round", "trunc",
    "relu", "logical_not", "bitwise_not", "signbit", "isnan", "isinf", "isfinite",
    "add", "sub", "mul", "div", "pow", "maximum", "minimum", "fmod", "remainder", "atan2",
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
    "where", "clamp", "to_dtype", "clone", "contiguous", "copy_",
}
_REDUCTIONS = {"sum", "prod", "amax", "amin", "any", "all", "argmax", "argmin"}
_CREATION = {"full", "arange", "empty", "rng_uniform"}
_CONTRACTIONS = {"mm", "bmm"}
_INDEXING = {"cat", "index_select", "gather", "scatter_add", "index_add", "index", "index_put",
             "scatter_src", "scatter_value", "flip", "constant_pad", "view_scatter",
             "_unsafe_view"}
_WINDOWS = {"im2col", "col2im", "max_pool_with_indices", "max_pool_backward", "avg_pool",
            "avg_pool_backward"}

PRIMITIVES = frozenset(
    _POINTWISE | _REDUCTIONS | _CREATION | _CONTRACTIONS | _INDEXING | _WINDOWS
)


def decompose(
    module: GraphModule, fake_inputs: Sequence[Any], taken_apart: Collection[str] = ()
) -> GraphModule:
    """See the module's docstring. taken_apart: names of ops tagged "whole" that are decomposed
    all the same."""
    return trace(module, fake_inputs, keep=lambda op: op.name not in taken_apart and _keep(op),
                 rewrites=REWRITES)


def _keep(op: Op) -> bool:
    """Ops that are neither primitive nor made of primitives run eagerly between kernels.

    So do those tagged "whole", whose own kernel is better than what their parts could become.
    """
    return is_primitive(op) or op.decompose is None or "whole" in op.tags


def is_primitive(op: Op) -> bool:
    """Whether code generation lowers the op itself."""
    return op.is_view or op.name in PRIMITIVES


def _same(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    return args[0]


def _copy(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """What copying `src` to `input` leaves there."""
    target, source = args
    if source.dtype is not target.dtype:
        source = ops.to_dtype(source, target.dtype)
    source = source.to(target.device)
    return source if source.shape == target.shape else ops.expand(source, target.shape)


def _fill(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    target, value = args
    if isinstance(value, TensorBase):
        return _copy(tracer, args)
    return ops.full(target.shape, value, dtype=target.dtype, device=target.device)


def _view(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Decompositions may lay out memory in another way than their composites: copy if need be."""
    value, size = args
    if view_strides(value.shape, value.stride(), size) is None:
        value = ops.contiguous(value)
    op = TABLE["view"]
    return tracer.emit(op, (value, size), fake_kernel(op, (value, size)))


def _as_strided(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Of memory in row-major order, as in the graph before (see `trace.by_memory`)."""
    value, *rest = args
    op, given = TABLE["as_strided"], (ops.contiguous(value), *rest)
    return tracer.emit(op, given, fake_kernel(op, given))


def _softmax(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Of nothing, nothing: there is no maximum to subtract."""
    if 0 in [size for size in args[0].shape if type(size) is int]:
        return ops.full(args[0].shape, 0, dtype=args[2] or args[0].dtype, device=args[0].device)
    return NotImplemented


def _pair_distances(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Keep the op where its kernel, by a matrix product, is less work than all differences."""
    from graphwright.runtime.ops.products.cdist import pays_whole

    if not pays_whole(*args):
        return NotImplemented
    op = TABLE["pair_distances"]
    return tracer.emit(op, args, fake_kernel(op, args))


def _full_like(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    like, value, dtype, device = args
    return ops.full(like.shape, value, dtype=dtype or like.dtype, device=device or like.device)


def _arange(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """With start, end and dtype spelt out."""
    start, end, step, _, device = args
    op = TABLE["arange"]
    assert op.meta is not None
    dtype = op.meta(*args).dtype
    first, last = arange_bounds(start, end)
    full = (first, last, step, dtype, device)
    return tracer.emit(op, full, fake_kernel(op, full))


def _slice(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """A slice whose start counts from the front; guards fix the sign of a symbolic start."""
    value, dim, start, end, step = args
    if start is not None:
        args = (value, dim, slice_bound(start, 0, value.shape[dim]), end, step)
    op = TABLE["slice"]
    return tracer.emit(op, args, fake_kernel(op, args))


def _select(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """A select whose index counts from the front, as the start in `_slice`."""
    value, dim, index = args
    args = (value, dim, wrapped_index(index, value.shape[dim], dim))
    op = TABLE["select"]
    return tracer.emit(op, args, fake_kernel(op, args))


REWRITES: dict[str, Rewrite] = {
    "detach": _same, "copy": _copy, "fill": _fill, "full_like": _full_like,
    "view": _view, "as_strided": _as_strided, "arange": _arange,
    "slice": _slice, "select": _select,
    "softmax": _softmax, "log_softmax": _softmax,
    "pair_distances": _pair_distances,
}
