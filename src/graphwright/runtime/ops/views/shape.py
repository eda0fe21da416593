"""Composites over views: reshapes, permutations by name, narrow."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.strides import contiguous_strides, infer_size, product, view_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
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
define(
    "reshape(Tensor input, Size* shape)",
    Kind.COMPOSITE,
    decompose=_reshape,
    doc="""Tensor of another shape with the same elements in row-major order: a view if possible.

    Args:
        input: a tensor of any shape.
        shape: the new sizes; one may be -1, which the others decide.

    Returns: a view of `input` where its strides allow one, else a copy.

    Raises:
        RuntimeError: the sizes do not have as many elements, or more than one is -1.

    Example:
        >>> gw.reshape(gw.arange(6), (2, -1))
        tensor([[0, 1, 2],
                [3, 4, 5]])
    """,
)
define(
    "view_as(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.view(input, other.shape),
    public=False,
    doc="""View of a tensor with the shape of another one: `input.view(other.shape)`.

    Args:
        input: a tensor.
        other: the tensor whose shape is taken.

    Returns: a view of `input`.

    Raises:
        RuntimeError: as `view`.

    Example:
        >>> gw.arange(4).view_as(gw.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """,
)
define(
    "expand_as(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.expand(input, other.shape),
    public=False,
    doc="""View of a tensor expanded to the shape of another one: `input.expand(other.shape)`.

    Args:
        input: a tensor.
        other: the tensor whose shape is taken.

    Returns: a view of `input`.

    Raises:
        RuntimeError: as `expand`.

    Example:
        >>> gw.tensor([1, 2]).expand_as(gw.ones(2, 2))
        tensor([[1, 2],
                [1, 2]])
    """,
)
define(
    "reshape_as(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.reshape(input, other.shape),
    public=False,
    doc="""Tensor with the shape of another one: `input.reshape(other.shape)`.

    Args:
        input: a tensor.
        other: the tensor whose shape is taken.

    Returns: a view of `input` where its strides allow one, else a copy.

    Raises:
        RuntimeError: the numbers of elements differ.

    Example:
        >>> gw.arange(4).reshape_as(gw.ones(2, 2))
        tensor([[0, 1],
                [2, 3]])
    """,
)
define(
    "broadcast_to(Tensor input, Size* size)",
    Kind.COMPOSITE,
    decompose=lambda input, size: ops.expand(input, size),
    doc="""View broadcast to a shape: dims of size 1 are repeated, new ones put in front.

    Args:
        input: a tensor of any shape.
        size: the sizes of the result, from the last dim on; -1 keeps a size.

    Returns: a view of `input`.

    Raises:
        RuntimeError: `input` does not broadcast to that shape.

    Example:
        >>> gw.broadcast_to(gw.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """,
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
    doc="""Tensor with the dims from `start_dim` to `end_dim` merged into one.

    Args:
        input: a tensor of any shape; one without dims becomes a vector.
        start_dim: the first dim that is merged.
        end_dim: the last one.

    Returns: `input` where nothing is to do, a view where its strides allow one, else a copy.

    Raises:
        RuntimeError: `start_dim` comes after `end_dim`.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.flatten(gw.ones(2, 3, 4), 1).shape
        graphwright.Size([2, 12])
    """,
)


def _ravel(input: Any) -> Any:
    flat = input if input.is_contiguous() else ops.contiguous(input)
    return ops.view(flat, (-1,)) if 0 not in flat.shape else ops.view(flat, (0,))


define(
    "ravel(Tensor input)",
    Kind.COMPOSITE,
    decompose=_ravel,
    doc="""Vector of all elements in row-major order.

    Args:
        input: a tensor of any shape.

    Returns: a view of a contiguous `input`, else a copy.

    Example:
        >>> gw.ravel(gw.tensor([[1, 2], [3, 4]]))
        tensor([1, 2, 3, 4])
    """,
)


def _unflatten(input: Any, dim: int, sizes: tuple[Any, ...]) -> Any:
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    size = input.shape[dim] if input.shape else 1
    inner = infer_size("unflatten", (size,), sizes)
    return ops.view(input, (*input.shape[:dim], *inner, *input.shape[dim + 1 :]))


define(
    "unflatten(Tensor input, Dim dim, Size sizes)",
    Kind.COMPOSITE,
    decompose=_unflatten,
    doc="""View with one dim split into several.

    Args:
        input: a tensor of any shape.
        dim: the dim that is split.
        sizes: the sizes of the new dims; one may be -1, which the others decide.

    Returns: a view of `input`.

    Raises:
        RuntimeError: `sizes` is empty, or its product is not the size of the dim.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.unflatten(gw.ones(2, 6), 1, (2, -1)).shape
        graphwright.Size([2, 2, 3])
    """,
)


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
    doc="""View with dims moved to other places; the rest keep their order.

    Args:
        input: a tensor of any shape.
        source: the dim or dims that move.
        destination: where each goes; as many.

    Returns: a view of `input`.

    Raises:
        RuntimeError: the numbers of dims differ, or one is named twice.
        TypeError: one is an int and the other a sequence.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.movedim(gw.ones(2, 3, 4), 0, -1).shape
        graphwright.Size([3, 4, 2])
    """,
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


define(
    "t(Tensor input)",
    Kind.COMPOSITE,
    decompose=_t,
    doc="""View of a matrix transposed; of a vector or a tensor without dims, a view as it is.

    Args:
        input: a tensor of at most two dims.

    Returns: a view of `input`.

    Raises:
        RuntimeError: `input` has more dims.

    Example:
        >>> gw.t(gw.tensor([[1, 2], [3, 4]]))
        tensor([[1, 3],
                [2, 4]])
    """,
)
define("numpy_T(Tensor input)", Kind.COMPOSITE, decompose=_numpy_t, method=False, public=False)
define("matrix_H(Tensor input)", Kind.COMPOSITE, decompose=_matrix_h, method=False, public=False)
_ADJOINT = """Conjugate transpose of matrices: the last two dims swapped, elements conjugated.

    Args:
        input: a tensor of no or at least two dims.

    Returns: a view of a real `input`, else a new tensor.

    Raises:
        RuntimeError: `input` has one dim.

    Example:
        >>> gw.adjoint(gw.tensor([[1 + 2j, 3 + 1j]]))
        tensor([[1.-2.j],
                [3.-1.j]])
    """
for _name, _shown, _doc in (
    ("adjoint", "adjoint()", _ADJOINT),
    ("mT", "tensor.mT", ""),
    ("mH", "tensor.mH", ""),
):
    define(
        f"{_name}(Tensor input)",
        Kind.COMPOSITE,
        decompose=_swapped_matrices(_shown),
        method=_name == "adjoint",
        public=_name == "adjoint",
        doc=_doc,
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
    doc="""View of `length` positions of one dim from `start` on.

    Args:
        input: a tensor of at least one dim.
        dim: the dim.
        start: the first position, an int or an integer tensor without dims; negative ones
            count from the end.
        length: how many positions, at least 0.

    Returns: a view of `input`.

    Raises:
        RuntimeError: the positions exceed the dim, or `length` is negative.
        IndexError: `start` is out of range, or `input` has no such dim.

    Example:
        >>> gw.narrow(gw.arange(5), 0, 1, 3)
        tensor([1, 2, 3])
    """,
)
