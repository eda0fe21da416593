"""Composites over views: reshapes, permutations by name, and copies of views."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.strides import contiguous_strides, infer_size, product, view_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor

# -- reshapes


def _reshape(input: Any, shape: tuple[Any, ...]) -> Any:
    if input.is_contiguous() and not input.is_fake:
        return ops.view(input, shape)
    size = infer_size("reshape", input.shape, shape)
    if view_strides(input.shape, input.stride(), size) is not None:
        return ops.view(input, size)
    copy = ops.contiguous(input)
    if copy.is_fake or _core.tracer() is not None:
        return ops.view(copy, size)
    return ops._unsafe_view(copy, size)


def _over(input: Tensor, size: tuple[Any, ...]) -> Tensor:
    input = input.contiguous()
    view = _core.as_view(
        type(input), input, size, contiguous_strides(size), input.storage_offset(), input.dtype
    )
    return _core.detach(type(view), view)


define(
    "_unsafe_view(Tensor input, Size* size)",
    Kind.OTHER,
    meta=lambda input, size: TensorSpec(
        size, contiguous_strides(size), input.dtype, input.device
    ),
    vjp=lambda ctx, grad: ops.reshape(grad, ctx.input.shape),
    eager=_over,
    method=False,
    public=False,
)
define("reshape(Tensor input, Size* shape)", Kind.COMPOSITE, decompose=_reshape)
define(
    "view_as(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.view(input, other.shape),
    public=False,
)
define(
    "expand_as(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.expand(input, other.shape),
    public=False,
)
define(
    "reshape_as(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.reshape(input, other.shape),
    public=False,
)
define(
    "broadcast_to(Tensor input, Size* size)",
    Kind.COMPOSITE,
    decompose=lambda input, size: ops.expand(input, size),
)


def _flatten(input: Any, start_dim: int, end_dim: int) -> Any:
    shape = input.shape
    if not shape:
        return ops.reshape(input, (1,))
    if start_dim > end_dim:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start_dim == end_dim:
        return input
    middle = product(shape[start_dim : end_dim + 1])
    return ops.reshape(input, (*shape[:start_dim], middle, *shape[end_dim + 1 :]))


define(
    "flatten(Tensor input, Dim start_dim=0, Dim end_dim=-1)",
    Kind.COMPOSITE,
    decompose=_flatten,
)


def _ravel(input: Any) -> Any:
    flat = input if input.is_contiguous() else ops.contiguous(input)
    return ops.view(flat, (-1,)) if 0 not in flat.shape else ops.view(flat, (0,))


define("ravel(Tensor input)", Kind.COMPOSITE, decompose=_ravel)


def _unflatten(input: Any, dim: int, sizes: tuple[Any, ...]) -> Any:
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    size = input.shape[dim] if input.shape else 1
    inner = infer_size("unflatten", (size,), sizes)
    return ops.view(input, (*input.shape[:dim], *inner, *input.shape[dim + 1 :]))


define("unflatten(Tensor input, Dim dim, Size sizes)", Kind.COMPOSITE, decompose=_unflatten)


# -- permutations


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _movedim(input: Any, source: Any, destination: Any) -> Any:
    sources, targets = _as_tuple(source), _as_tuple(destination)
    if isinstance(source, tuple | list) is not isinstance(destination, tuple | list):
        raise TypeError(
            "movedim(): `source` and `destination` must be both ints or both tuples of ints, got "
            f"{source!r} and {destination!r}"
        )
    if len(sources) != len(targets):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: they should have the same number of "
            f"elements, got {sources} and {targets}"
        )
    ndim = input.ndim
    come = [wrap_dim(s, ndim) for s in sources]
    go = [wrap_dim(t, ndim) for t in targets]
    for name, dims in (("source", come), ("destination", go)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` {dims}")
    if not ndim:
        return ops.alias(input)
    moved = dict(zip(go, come, strict=True))
    rest = iter(d for d in range(ndim) if d not in come)
    return ops.permute(input, tuple(moved[i] if i in moved else next(rest) for i in range(ndim)))


define(
    "movedim(Tensor input, Ints source, Ints destination)",
    Kind.COMPOSITE,
    decompose=_movedim,
)


def _t(input: Any) -> Any:
    if input.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {describe(input)}"
        )
    return ops.transpose(input, 0, 1) if input.ndim == 2 else ops.alias(input)


def _numpy_t(input: Any) -> Any:
    return ops.permute(input, tuple(range(input.ndim - 1, -1, -1)))


def _matrix_h(input: Any) -> Any:
    if input.ndim not in (0, 2):
        raise RuntimeError(
            "tensor.H is only supported on matrices (2-D tensors), got "
            f"{describe(input)}; for batches of matrices there is tensor.mH"
        )
    return _conjugated(ops.transpose(input, 0, 1) if input.ndim else input)


def _conjugated(input: Any) -> Any:
    return ops.conj(input) if input.dtype.is_complex else input


def _swapped_matrices(name: str) -> Any:
    def decompose(input: Any) -> Any:
        if input.ndim == 1:
            raise RuntimeError(
                f"{name} is only supported on matrices or batches of matrices, got "
                f"{describe(input)}"
            )
        swapped = ops.transpose(input, -2, -1) if input.ndim else input
        return swapped if name == "tensor.mT" else _conjugated(swapped)

    return decompose


define("t(Tensor input)", Kind.COMPOSITE, decompose=_t)
define("numpy_T(Tensor input)", Kind.COMPOSITE, decompose=_numpy_t, method=False, public=False)
define("matrix_H(Tensor input)", Kind.COMPOSITE, decompose=_matrix_h, method=False, public=False)
for _name, _shown in (("adjoint", "adjoint()"), ("mT", "tensor.mT"), ("mH", "tensor.mH")):
    define(
        f"{_name}(Tensor input)",
        Kind.COMPOSITE,
        decompose=_swapped_matrices(_shown),
        method=_name == "adjoint",
        public=_name == "adjoint",
    )


# -- narrow


def _narrow(input: Any, dim: int, start: Any, length: Any) -> Any:
    if not input.shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    size = input.shape[dim]
    if isinstance(start, Tensor):
        if start.ndim or start.dtype.is_floating_point or start.dtype is dtypes.bool:
            raise RuntimeError(f"narrow: start must be an 0-dim integral Tensor, got {start}")
        start = int(start.item())
    if length < 0:
        raise RuntimeError(f"narrow(): length must be non-negative, got {length}")
    if start < -size or start > size:
        raise IndexError(
            f"narrow: start out of range (expected to be in range of [{-size}, {size}], but "
            f"got {start})"
        )
    if start < 0:
        start = start + size
    if start + length > size:
        raise RuntimeError(
            f"narrow: start ({start}) + length ({length}) exceeds dimension size ({size})."
        )
    return ops.slice(input, dim, start, start + length)


define(
    "narrow(Tensor input, Dim dim, SymInt|Tensor start, SymInt length)",
    Kind.COMPOSITE,
    decompose=_narrow,
)


# -- views as copies

_COPIES = {
    "alias": "Tensor input",
    "as_strided": "Tensor input, Size size, Size stride, SymInt? storage_offset=None",
    "detach": "Tensor input",
    "diagonal": "Tensor input, int offset=0, Dim dim1=0, Dim dim2=1",
    "expand": "Tensor input, Size* size",
    "permute": "Tensor input, Perm* dims",
    "select": "Tensor input, Dim dim, SymInt index",
    "slice": "Tensor input, Dim dim=0, SymInt? start=None, SymInt? end=None, SymInt? step=1",
    "split": "Tensor input, SymInt split_size, Dim dim=0",
    "split_with_sizes": "Tensor input, Size split_sizes, Dim dim=0",
    "squeeze": "Tensor input, Ints? dim=None",
    "t": "Tensor input",
    "transpose": "Tensor input, Dim dim0, Dim dim1",
    "unbind": "Tensor input, Dim dim=0",
    "unfold": "Tensor input, Dim dimension, int size, int step",
    "unsqueeze": "Tensor input, NewDim dim",
    "view_as_complex": "Tensor input",
    "view_as_real": "Tensor input",
}


def _row(view: Any) -> Any:
    """A copy of a view whose strides are those of a new tensor."""
    plain = view.stride() == contiguous_strides(view.shape)
    return ops.clone(view) if plain else ops.contiguous(view)


def _copied(name: str) -> Any:
    def decompose(*args: Any) -> Any:
        view = getattr(ops, name)(*args)
        return tuple(map(_row, view)) if isinstance(view, tuple) else _row(view)

    return decompose


for _name, _parameters in _COPIES.items():
    define(
        f"{_name}_copy({_parameters})",
        Kind.COMPOSITE,
        decompose=_copied(_name),
        method=False,
    )


define(
    "view_copy(Tensor input, object size)",
    Kind.COMPOSITE,
    decompose=lambda input, size: ops.clone(input.view(size).contiguous())
    if isinstance(size, DType) else _copied("view")(input, size),
    method=False,
)


def _narrow_copy(input: Any, dim: int, start: Any, length: Any) -> Any:
    if dim >= input.ndim:
        raise RuntimeError(f"narrow_copy: dim {dim} is out of range for {describe(input)}")
    view = ops.narrow(input, dim, start, length)
    return _row(view)


define(
    "narrow_copy(Tensor input, int dim, SymInt|Tensor start, SymInt length)",
    Kind.COMPOSITE,
    decompose=_narrow_copy,
)
