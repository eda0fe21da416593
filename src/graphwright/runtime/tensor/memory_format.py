"""The order of dims in memory, as arguments: `channels_last` and its like; `strided`.

Ops keep the order that their inputs have where PyTorch's pointwise ops do, and give row-major
results otherwise: a convolution of `channels_last` images is right, and not `channels_last`.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.naming import NAMING
from graphwright.runtime.ops.strides import contiguous_strides


class memory_format:
    """An order of dims in memory. There is one object for each; compare with `is` or `==`."""

    __slots__ = ("name", "ndim")

    name: str
    ndim: int
    """How many dims a tensor has to have; 0 for any."""

    def __init__(self, name: str, ndim: int = 0) -> None:
        self.name = name
        self.ndim = ndim

    def __repr__(self) -> str:
        return f"{NAMING.root}.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def __copy__(self) -> memory_format:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> memory_format:
        return self


class layout:
    """How the elements of a tensor are kept; every tensor is `strided`, the others are names."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{NAMING.root}.{self.name}"

    def __reduce__(self) -> str:
        return self.name


contiguous_format = memory_format("contiguous_format")
legacy_contiguous_format = contiguous_format
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last", 4)
channels_last_3d = memory_format("channels_last_3d", 5)
strided = layout("strided")
sparse_coo, jagged = layout("sparse_coo"), layout("jagged")
sparse_csr, sparse_csc = layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc = layout("sparse_bsr"), layout("sparse_bsc")


def _known(name: str, format: Any) -> memory_format:
    if not isinstance(format, memory_format):
        raise TypeError(
            f"{name}(): argument 'memory_format' must be memory_format, "
            f"not {type(format).__name__}"
        )
    return format


def _orders(format: memory_format, ndim: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The permutation that brings channels last, and the one that undoes it."""
    if ndim != format.ndim:
        raise RuntimeError(
            f"required rank {format.ndim} tensor to use {format.name} format, got {ndim} dims"
        )
    return (0, *range(2, ndim), 1), (0, ndim - 1, *range(1, ndim - 1))


def in_format(name: str, tensor: Any, format: Any) -> Any:
    """`tensor` with its dims in the order that `format` says; itself where they are.

    Raises TypeError for what is no memory_format, RuntimeError where the rank does not fit.
    """
    if _known(name, format) is preserve_format:
        return tensor
    if format is contiguous_format:
        return tensor.contiguous()
    last, back = _orders(format, tensor.ndim)
    return tensor.permute(last).contiguous().permute(back)


def strides_in_format(name: str, shape: tuple[int, ...], format: Any) -> tuple[int, ...]:
    """The strides of a dense tensor in an order; None is row-major.

    Raises TypeError for what is no memory_format, RuntimeError where the rank does not fit.
    """
    strides = contiguous_strides(shape)
    if format is None or _known(name, format) is contiguous_format:
        return strides
    if format is preserve_format:
        raise RuntimeError(f"{name}: preserve memory format is unsupported by this operator")
    last, back = _orders(format, len(shape))
    strides = contiguous_strides(tuple(shape[dim] for dim in last))
    return tuple(strides[dim] for dim in back)


def is_in_format(name: str, tensor: Any, format: Any) -> bool:
    """Whether the elements lie one after the other as `format` says; to preserve: row-major."""
    if _known(name, format) in (preserve_format, contiguous_format):
        return bool(tensor.is_contiguous())
    if tensor.ndim != format.ndim:
        return False
    last, _ = _orders(format, tensor.ndim)
    return bool(tensor.detach().permute(last).is_contiguous())


def check_placement(name: str, kind: Any, pin_memory: Any) -> None:
    """Raise unless tensors can be made so: they are strided, and pinned only where a GPU is."""
    if kind is not None and kind is not strided:
        raise TypeError(
            f"{name}(): argument 'layout' must be {strided!r}, not {kind!r}: graphwright has no "
            "sparse or nested tensors"
        )
    if pin_memory and _core.cuda_absence() is not None:
        raise RuntimeError(f"{name}: pinning memory needs an accelerator, and there is none")
