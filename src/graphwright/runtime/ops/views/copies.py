"""Views as copies: `NAME_copy` is the view `NAME` in memory of its own."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor.dtypes import dtype as DType

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


_COPY_DOCS = {
    "alias": """Copy of all elements.

    Args:
        input: a tensor of any shape.

    Returns: a new tensor.

    Example:
        >>> gw.alias_copy(gw.tensor([1, 2]))
        tensor([1, 2])
    """,
    "as_strided": """\
    Copy of `as_strided`: a tensor's storage read with given sizes, strides and offset.

    Args:
        input: the tensor whose storage is read.
        size: the sizes of the result.
        stride: the strides to read with, counted in elements.
        storage_offset: the position of the first element; that of `input` if None.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: as `as_strided`.

    Example:
        >>> gw.as_strided_copy(gw.arange(6), (2, 3), (1, 2))
        tensor([[0, 2, 4],
                [1, 3, 5]])
    """,
    "detach": """Copy of all elements that does not require a gradient.

    Args:
        input: a tensor of any shape.

    Returns: a new tensor.

    Example:
        >>> gw.detach_copy(gw.ones(2, requires_grad=True)).requires_grad
        False
    """,
    "diagonal": """\
    Copy of `diagonal`: a diagonal of the matrices that two dims span, in a new last dim.

    Args:
        input: a tensor of at least two dims.
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        dim1, dim2: the dims of the rows and of the columns.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: `dim1` and `dim2` are one dim.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.diagonal_copy(gw.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """,
    "expand": """Copy of `expand`: dims of size 1 are repeated, and new dims put in front.

    Args:
        input: a tensor of any shape.
        size: the sizes of the result, from the last dim on; -1 keeps a size.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: as `expand`.

    Example:
        >>> gw.expand_copy(gw.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """,
    "permute": """Copy of `permute`: the dims in another order.

    Args:
        input: a tensor of any shape.
        dims: the dims of `input` in their new order, each once.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: a dim is missing or named twice.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.permute_copy(gw.ones(2, 3, 4), (2, 0, 1)).stride()
        (6, 3, 1)
    """,
    "select": """Copy of `select`: the slice at one position of a dim.

    Args:
        input: a tensor of at least one dim.
        dim: the dim, which the result lacks.
        index: the position; negative ones count from the end.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: `input` has no such dim, or the dim no such position.

    Example:
        >>> gw.select_copy(gw.tensor([[1, 2], [3, 4]]), 1, -1)
        tensor([2, 4])
    """,
    "slice": """\
    Copy of every `step`-th position of one dim from `start` to `end`, which is excluded.

    Args:
        input: a tensor of at least one dim.
        dim: the dim that is sliced.
        start: the first position; 0 if None. Negative ones count from the end.
        end: the position behind the last one; the size of the dim if None.
        step: the distance of positions, above 0; 1 if None.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: `input` has no such dim.
        ValueError: `step` is not positive.

    Example:
        >>> gw.slice_copy(gw.arange(6), 0, 1, 6, 2)
        tensor([1, 3, 5])
    """,
    "split": """Copies of the parts that `split` makes: `split_size` positions of one dim each.

    Args:
        input: a tensor of at least one dim.
        split_size: the size of each part.
        dim: the dim that is split.

    Returns: a tuple of new tensors.

    Raises:
        RuntimeError: as `split`.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.split_copy(gw.arange(5), 3)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """,
    "split_with_sizes": """Copies of the parts that `split_with_sizes` makes, one for each size.

    Args:
        input: a tensor of at least one dim.
        split_sizes: the size of each part, which sum to that of the dim.
        dim: the dim that is split.

    Returns: a tuple of new tensors.

    Raises:
        RuntimeError: a size is negative, or they sum to another number.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.split_with_sizes_copy(gw.arange(5), (2, 3))
        (tensor([0, 1]), tensor([2, 3, 4]))
    """,
    "squeeze": """Copy of `squeeze`: without dims of size 1.

    Args:
        input: a tensor of any shape.
        dim: the dim or dims that go where they have size 1; all if None.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.squeeze_copy(gw.ones(1, 2, 1)).shape
        graphwright.Size([2])
    """,
    "t": """Copy of `t`: a matrix transposed; a vector as it is.

    Args:
        input: a tensor of at most two dims.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: `input` has more dims.

    Example:
        >>> gw.t_copy(gw.tensor([[1, 2], [3, 4]]))
        tensor([[1, 3],
                [2, 4]])
    """,
    "transpose": """Copy of `transpose`: two dims swapped.

    Args:
        input: a tensor of any shape.
        dim0, dim1: the two dims.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.transpose_copy(gw.tensor([[1, 2], [3, 4]]), 0, 1)
        tensor([[1, 3],
                [2, 4]])
    """,
    "unbind": """Copies of the slices at each position of one dim.

    Args:
        input: a tensor of at least one dim.
        dim: the dim, which the results lack.

    Returns: a tuple of new tensors.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.unbind_copy(gw.tensor([[1, 2], [3, 4]]))
        (tensor([1, 2]), tensor([3, 4]))
    """,
    "unfold": """\
    Copy of `Tensor.unfold`: the windows of a given size along one dim, in a new last dim.

    Args:
        input: a tensor of any shape.
        dimension: the dim that windows slide along; it then counts them.
        size: the size of windows, at most that of the dim.
        step: the distance of windows, above 0.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: `size` exceeds the dim or is negative, or `step` is not positive.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.unfold_copy(gw.arange(4), 0, 3, 1)
        tensor([[0, 1, 2],
                [1, 2, 3]])
    """,
    "unsqueeze": """Copy with a new dim of size 1.

    Args:
        input: a tensor of any shape.
        dim: the place of the new dim in the result.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: the place is out of range.

    Example:
        >>> gw.unsqueeze_copy(gw.tensor([1, 2]), 1)
        tensor([[1],
                [2]])
    """,
    "view_as_complex": """\
    Copy of `view_as_complex`: pairs of real numbers in the last dim as complex numbers.

    Args:
        input: a floating point tensor whose last dim has size 2.

    Returns: a new complex tensor without the last dim.

    Raises:
        RuntimeError: the dtype or the last dim does not suit.

    Example:
        >>> gw.view_as_complex_copy(gw.tensor([[1.0, 2.0]]))
        tensor([1.+2.j])
    """,
    "view_as_real": """\
    Copy of `view_as_real`: real and imaginary parts of complex numbers in a new last dim.

    Args:
        input: a complex tensor of any shape.

    Returns: a new real tensor with one more dim, of size 2.

    Raises:
        RuntimeError: `input` is not complex.

    Example:
        >>> gw.view_as_real_copy(gw.tensor([1 + 2j]))
        tensor([[1., 2.]])
    """,
}
for _name, _parameters in _COPIES.items():
    define(
        f"{_name}_copy({_parameters})",
        Kind.COMPOSITE,
        decompose=_copied(_name),
        method=False,
        doc=_COPY_DOCS[_name],
    )


define(
    "view_copy(Tensor input, object size)",
    Kind.COMPOSITE,
    decompose=lambda input, size: ops.clone(input.view(size).contiguous())
    if isinstance(size, DType) else _copied("view")(input, size),
    method=False,
    doc="""Copy of `view`: the elements of `input` in another shape, or read as another dtype.

    Args:
        input: a tensor of any shape.
        size: the new sizes, of which one may be -1, or a dtype.

    Returns: a new tensor.

    Raises:
        RuntimeError: as `view`.

    Example:
        >>> gw.view_copy(gw.arange(4), (2, 2))
        tensor([[0, 1],
                [2, 3]])
    """,
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
    doc="""Copy of `narrow`: `length` positions of one dim from `start` on.

    Args:
        input: a tensor of at least one dim.
        dim: the dim.
        start: the first position, an int or an integer tensor without dims; negative ones
            count from the end.
        length: how many positions, at least 0.

    Returns: a new tensor.

    Raises:
        RuntimeError: the positions exceed the dim, `length` is negative, or `input` has no
            such dim.
        IndexError: `start` is out of range.

    Example:
        >>> gw.narrow_copy(gw.arange(5), 0, 1, 3)
        tensor([1, 2, 3])
    """,
)
