"""Lookup tables as functions."""

from __future__ import annotations

import warnings

from graphwright.autograd.grad_mode import no_grad
from graphwright.runtime.errors import describe, require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.int_arguments import as_index
from graphwright.runtime.ops.value_checks import checked
from graphwright.runtime.tensor.dtypes import int64
from graphwright.runtime.tensor.tensor import Tensor


def padding_row(
    name: str, padding_idx: int | None, rows: int, error: type[Exception] = ValueError
) -> int | None:
    """The padding row counted from the start, None for none. Raises `error` out of range."""
    if padding_idx is None:
        return None
    padding_idx = as_index("argument 'padding_idx'", padding_idx)
    if not -rows <= padding_idx < rows:
        raise error(
            f"{name}: padding_idx must be within the number of embeddings, {-rows} through "
            f"{rows - 1}, but got {padding_idx}"
        )
    return padding_idx % rows


def _limit(weight: Tensor, input: Tensor, max_norm: float | None, norm_type: float) -> None:
    if max_norm is not None:
        with no_grad():
            ops.embedding_renorm_(weight, input, max_norm, norm_type)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of a table by their indices.

    Args:
        input: indices, int32 or int64, `(*)`.
        weight: the table, `(V, D)`.
        padding_idx: a row that gets no gradient; negative counts from the end.
        max_norm: rows that are looked up and have a greater norm are scaled to it first, in
            place.
        norm_type: order of that norm.
        scale_grad_by_freq: divide gradients by how often a row was looked up.
        sparse: changes nothing: gradients are dense.

    Returns: a tensor of shape `(*, D)`.

    Raises:
        IndexError: an index is out of range.
        RuntimeError: `weight` has not 2 dims.
        ValueError: `padding_idx` is out of range.

    Example:
        >>> F.embedding(gw.tensor([1, 0]), gw.tensor([[1.0, 2.0], [3.0, 4.0]]))
        tensor([[3., 4.],
                [1., 2.]])
    """
    require_tensor("embedding", "weight", weight)
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    row = padding_row("embedding", padding_idx, weight.shape[0])
    _limit(weight, input, max_norm, norm_type)
    place = -1 if row is None else row
    return ops.embedding(weight, input, place, scale_grad_by_freq, sparse)


def _check_bags(
    input: Tensor,
    offsets: Tensor | None,
    mode: str,
    scale_grad_by_freq: bool,
    sparse: bool,
    per_sample_weights: Tensor | None,
) -> None:
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({tuple(per_sample_weights.shape)}) is not "
            f"None, then it must have the same shape as the input ({tuple(input.shape)})"
        )
    if input.ndim not in (1, 2):
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
            f"fixed length sequences. However, found offsets of type {type(offsets)}"
        )
    if input.ndim == 1 and (offsets is None or offsets.ndim != 1):
        found = None if offsets is None else f"{offsets.ndim}D Tensor"
        raise ValueError(f"offsets has to be a 1D Tensor but got {found}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}')."
        )


def _without_last(offsets: Tensor, length: int) -> Tensor:
    """The starts of the bags. RuntimeError where the end of the last lies behind the indices."""
    bags = offsets.shape[0] - 1
    inside = ops.le(ops.narrow(offsets, 0, bags, 1), length)
    starts: Tensor = checked(
        ops.narrow(offsets, 0, 0, bags),
        inside,
        f"embedding_bag: offsets[-1] can not be greater than input's length {length}",
    )
    return starts


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of bags of rows of a table.

    Args:
        input: indices: `(B, N)` for bags of one size, or `(N,)` for bags that start at
            `offsets`.
        weight: the table, `(V, D)`; exchanged with `input` where it holds the indices, with a
            warning.
        offsets: `(B,)`, or `(B + 1,)` with `include_last_offset`; None for `(B, N)`.
        max_norm: rows that are looked up and have a greater norm are scaled to it first, in
            place.
        norm_type: order of that norm.
        scale_grad_by_freq: divide gradients by how often a row was looked up; not with "max".
        mode: "sum", "mean" or "max".
        sparse: changes nothing: gradients are dense; not with "max".
        per_sample_weights: factors of the shape of `input`, with "sum" only; 1 if None.
        include_last_offset: `offsets` ends with the end of the last bag.
        padding_idx: indices of this value count nothing.

    Returns: a tensor of shape `(B, D)`; empty bags give zeros.

    Raises:
        NotImplementedError: `per_sample_weights` are given for another mode than "sum".
        RuntimeError: an index, an offset or `padding_idx` is out of range, or the indices are
            not integers.
        ValueError: shapes do not match, or `mode` is unknown.

    Example:
        >>> table = gw.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> F.embedding_bag(gw.tensor([0, 1, 1]), table, gw.tensor([0, 2]), mode="sum")
        tensor([[4., 6.],
                [3., 4.]])
    """
    for name, tensor in (("input", input), ("weight", weight)):
        require_tensor("embedding_bag", name, tensor)
    for name, given in (("offsets", offsets), ("per_sample_weights", per_sample_weights)):
        if given is not None:
            require_tensor("embedding_bag", name, given)
    if weight.dtype is int64 and input.dtype.is_floating_point:
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
            "`embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        input, weight = weight, input
    if weight.ndim != 2:
        raise ValueError(f"embedding_bag: weight has to be a matrix, but got {describe(weight)}")
    _check_bags(input, offsets, mode, scale_grad_by_freq, sparse, per_sample_weights)
    row = padding_row("embedding_bag", padding_idx, weight.shape[0], RuntimeError)
    if input.ndim == 2:
        bags, size = input.shape
        offsets = ops.mul(ops.arange(0, bags, 1, dtype=input.dtype, device=input.device), size)
        input = ops.reshape(input, (-1,))
        if per_sample_weights is not None:
            per_sample_weights = ops.reshape(per_sample_weights, (-1,))
    elif include_last_offset:
        if offsets is None or offsets.shape[0] == 0:
            raise RuntimeError("include_last_offset: number of offsets should be at least 1")
        offsets = _without_last(offsets, input.shape[0])
    assert offsets is not None
    _limit(weight, input, max_norm, norm_type)
    place = -1 if row is None else row
    return ops.embedding_bag_parts(
        weight, input, offsets, per_sample_weights, mode, place, scale_grad_by_freq
    )[0]
