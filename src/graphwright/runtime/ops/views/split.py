"""Tensors split into views: unbind, split, chunk, tensor_split and their relatives.

Outputs of unbind, split and chunk are marked: PyTorch refuses to write to them in place where
a gradient would be recorded.
"""

from __future__ import annotations

import sys
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor.dtypes import uint8
from graphwright.runtime.tensor.tensor import Tensor

MANY = 1 << 20
"""Fewer tensors than this are made without asking whether they fit in memory."""


def _marked(views: list[Any]) -> tuple[Any, ...]:
    for view in views:
        if isinstance(view, Tensor):
            _core.mark_multi_view(view)
    return tuple(views)


def _check_rank(name: str, input: Any) -> None:
    if not input.shape:
        raise RuntimeError(
            f"{name} expects at least a 1-dimensional tensor, got {describe(input)}"
        )


def _reserve(count: int) -> int:
    """`count`, if so many tensors fit in memory; else MemoryError, before the first is made."""
    if count > MANY:
        _core.empty(Tensor, (count, sys.getsizeof(_core.empty(Tensor, (), uint8))), uint8)
    return count


def _unbind(input: Any, dim: int) -> tuple[Any, ...]:
    if not input.shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    count = _reserve(int(input.shape[dim]))
    return _marked([ops.select(input, dim, i) for i in range(count)])


define(
    "unbind(Tensor input, Dim dim=0)",
    Kind.COMPOSITE,
    decompose=_unbind,
    doc="""Views of the slices at each position of one dim.

    Args:
        input: a tensor of at least one dim.
        dim: the dim, which the results lack.

    Returns: a tuple of views of `input`, as many as the dim has positions.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.unbind(gw.tensor([[1, 2], [3, 4]]))
        (tensor([1, 2]), tensor([3, 4]))
    """,
)


def _parts(input: Any, lengths: list[Any], dim: int) -> list[Any]:
    parts, start = [], 0
    for length in lengths:
        parts.append(ops.slice(input, dim, start, start + length))
        start = start + length
    return parts


def _split_with_sizes(input: Any, split_sizes: Any, dim: int) -> tuple[Any, ...]:
    _check_rank("split", input)
    size = input.shape[dim]
    if any(n.__class__ is int and n < 0 for n in split_sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={list(split_sizes)}"
        )
    if sum(split_sizes) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's "
            f"size at dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    return _marked(_parts(input, list(split_sizes), dim))


def _split(input: Any, split_size: Any, dim: int) -> tuple[Any, ...]:
    if isinstance(split_size, tuple | list):
        return _split_with_sizes(input, split_size, dim)
    _check_rank("split", input)
    size = input.shape[dim]
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got {split_size}")
    if split_size == 0 and size != 0:
        raise RuntimeError(
            "split_size can only be 0 if dimension size is 0, but got dimension size of "
            f"{size}"
        )
    before = _reserve(max(int(-(-size // split_size)) - 1, 0)) if split_size else 0
    lengths = [split_size] * before + [size - split_size * before]
    return _marked(_parts(input, lengths, dim))


define(
    "split(Tensor input, Ints split_size, Dim dim=0)",
    Kind.COMPOSITE,
    decompose=_split,
    doc="""Views of consecutive parts of one dim, of a given size or of given sizes.

    Args:
        input: a tensor of at least one dim.
        split_size: the size of each part, of which the last may be less; or the sizes of all.
        dim: the dim that is split.

    Returns: a tuple of views of `input`.

    Raises:
        RuntimeError: `input` has no dims, a size is negative, 0 for a dim with elements, or
            sizes do not sum to that of the dim.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.split(gw.arange(5), 2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """,
)
define(
    "unsafe_split(Tensor input, SymInt split_size, Dim dim=0)",
    Kind.COMPOSITE,
    decompose=_split,
    doc="""As `split` with one size: views of parts of `split_size` positions of one dim.

    Args:
        input: a tensor of at least one dim.
        split_size: the size of each part, of which the last may be less.
        dim: the dim that is split.

    Returns: a tuple of views of `input`.

    Raises:
        RuntimeError: `input` has no dims, or the size is negative, or 0 for a dim with
            elements.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.unsafe_split(gw.arange(5), 3)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """,
)
define(
    "split_with_sizes(Tensor input, Size split_sizes, Dim dim=0)",
    Kind.COMPOSITE,
    decompose=_split_with_sizes,
    doc="""Views of consecutive parts of one dim, of given sizes.

    Args:
        input: a tensor of at least one dim.
        split_sizes: the size of each part.
        dim: the dim that is split.

    Returns: a tuple of views of `input`.

    Raises:
        RuntimeError: `input` has no dims, a size is negative, or they do not sum to that of
            the dim.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.split_with_sizes(gw.arange(5), (2, 3))
        (tensor([0, 1]), tensor([2, 3, 4]))
    """,
)


def _chunk(input: Any, chunks: int, dim: int) -> tuple[Any, ...]:
    _check_rank("chunk", input)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = input.shape[dim]
    if size == 0:
        return _marked(_parts(input, [0] * _reserve(chunks), dim))
    return _split(input, (size + chunks - 1) // chunks, dim)


define(
    "chunk(Tensor input, int chunks, Dim dim=0)",
    Kind.COMPOSITE,
    decompose=_chunk,
    doc="""Views of consecutive parts of one dim, of equal size but for the last.

    There may be fewer parts than asked for: each has the size of the dim by `chunks`, rounded
    up.

    Args:
        input: a tensor of at least one dim.
        chunks: how many parts at most.
        dim: the dim that is split.

    Returns: a tuple of views of `input`.

    Raises:
        RuntimeError: `input` has no dims, or `chunks` is not positive.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.chunk(gw.arange(5), 2)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """,
)


# -- at positions


def _section_ends(size: Any, sections: int) -> list[Any]:
    least, extra = size // sections, int(size % sections)
    ends, at = [], 0
    for i in range(_reserve(sections)):
        at += least + int(i < extra)
        ends.append(at)
    return ends[:-1]


def _tensor_split(
    input: Any, indices_or_sections: Any, dim: int, sections: Any, indices: Any
) -> tuple[Any, ...]:
    given = [g for g in (indices_or_sections, sections, indices) if g is not None]
    if len(given) != 1:
        raise TypeError("tensor_split(): exactly one of sections and indices must be given")
    places = given[0]
    if not input.shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    if isinstance(places, Tensor):
        if places.ndim > 1 or places.dtype.name != "int64":
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
                f"one-dimensional int64 tensor, but got {describe(places)}"
            )
        places = places.tolist()
    if not isinstance(places, tuple | list):
        if not hasattr(places, "__index__"):
            raise TypeError(
                "tensor_split(): sections must be an int and indices a sequence of ints, "
                f"not {type(places).__name__}"
            )
        if places <= 0:
            raise RuntimeError(
                f"number of sections must be larger than 0, got {places}"
            )
        places = _section_ends(input.shape[dim], int(places))
    parts, start = [], None
    for end in places:
        parts.append(ops.slice(input, dim, start, end))
        start = end
    parts.append(ops.slice(input, dim, start, None))
    return tuple(parts)


define(
    "tensor_split(Tensor input, Ints|Tensor? indices_or_sections=None, Dim dim=0, *, "
    "Ints? sections=None, Ints|Tensor? indices=None)",
    Kind.COMPOSITE,
    decompose=_tensor_split,
    doc="""Views of consecutive parts of one dim, split at positions or into sections.

    The sizes of sections differ by at most 1; the first ones are longer.

    Args:
        input: a tensor of at least one dim.
        indices_or_sections: an int, the number of sections; or a sequence of the positions
            where new parts begin; or an int64 tensor with either.
        dim: the dim that is split.
        sections, indices: the same by name; exactly one of the three is given.

    Returns: a tuple of views of `input`; parts may be empty.

    Raises:
        TypeError: none or several of the three are given.
        RuntimeError: `input` has no dims, or the number of sections is not positive.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.tensor_split(gw.arange(5), (1, 3))
        (tensor([0]), tensor([1, 2]), tensor([3, 4]))
    """,
)


def _axis_split(name: str, rank: int, axis: int) -> Any:
    def decompose(
        input: Any, indices_or_sections: Any, sections: Any, indices: Any
    ) -> tuple[Any, ...]:
        given = [g for g in (indices_or_sections, sections, indices) if g is not None]
        if len(given) != 1:
            raise TypeError(f"{name}(): exactly one of sections and indices must be given")
        if input.ndim < rank:
            raise RuntimeError(
                f"{name} requires a tensor with at least {rank} dimension(s), but got "
                f"{describe(input)}"
            )
        dim = 0 if name == "hsplit" and input.ndim == 1 else axis
        places = given[0].item() if isinstance(given[0], Tensor) else given[0]
        if isinstance(places, int):
            if places <= 0:
                raise RuntimeError(f"{name}: number of sections must be larger than 0")
            if input.shape[dim] % places != 0:
                raise RuntimeError(
                    f"{name} attempted to split along dimension {dim}, but the size of the "
                    f"dimension {input.shape[dim]} is not divisible by the split_size {places}"
                )
        return _tensor_split(input, places, dim, None, None)

    return decompose


_AXIS_DOCS = {
    "hsplit": """\
    Views of parts of the second or the only dim: as `tensor_split`, of equal sections.

    Args:
        input: a tensor of at least one dim.
        indices_or_sections: an int, the number of sections; or the positions where new parts
            begin.
        sections, indices: the same by name; exactly one of the three is given.

    Returns: a tuple of views of `input`.

    Raises:
        RuntimeError: `input` has no dims, or the number of sections does not divide the dim.
        TypeError: none or several of the three are given.

    Example:
        >>> gw.hsplit(gw.tensor([[1, 2], [3, 4]]), 2)
        (tensor([[1],
                [3]]), tensor([[2],
                [4]]))
    """,
    "vsplit": """Views of parts of the first dim: as `tensor_split`, of equal sections.

    Args:
        input: a tensor of at least two dims.
        indices_or_sections: an int, the number of sections; or the positions where new parts
            begin.
        sections, indices: the same by name; exactly one of the three is given.

    Returns: a tuple of views of `input`.

    Raises:
        RuntimeError: `input` has fewer dims, or the number of sections does not divide the
            dim.
        TypeError: none or several of the three are given.

    Example:
        >>> gw.vsplit(gw.tensor([[1, 2], [3, 4]]), 2)
        (tensor([[1, 2]]), tensor([[3, 4]]))
    """,
    "dsplit": """Views of parts of the third dim: as `tensor_split`, of equal sections.

    Args:
        input: a tensor of at least three dims.
        indices_or_sections: an int, the number of sections; or the positions where new parts
            begin.
        sections, indices: the same by name; exactly one of the three is given.

    Returns: a tuple of views of `input`.

    Raises:
        RuntimeError: `input` has fewer dims, or the number of sections does not divide the
            dim.
        TypeError: none or several of the three are given.

    Example:
        >>> gw.dsplit(gw.tensor([[[1, 2], [3, 4]]]), 2)
        (tensor([[[1],
                 [3]]]), tensor([[[2],
                 [4]]]))
    """,
}
for _name, _rank, _axis in (("hsplit", 1, 1), ("vsplit", 2, 0), ("dsplit", 3, 2)):
    define(
        f"{_name}(Tensor input, Ints*? indices_or_sections=None, *, Ints? sections=None, "
        "Ints? indices=None)",
        Kind.COMPOSITE,
        decompose=_axis_split(_name, _rank, _axis),
        doc=_AXIS_DOCS[_name],
    )
