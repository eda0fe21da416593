"""Views that methods give: `T`, `mT`, `view(dtype)`, and views that a tensor becomes in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import varargs
from graphwright.runtime.ops.methods import TensorMethods
from graphwright.runtime.ops.table import op
from graphwright.runtime.tensor.dtypes import dtype as DType

if TYPE_CHECKING:
    from graphwright.runtime.tensor.tensor import Tensor


VIEW_NOT_DETACHED = "Can't detach views in-place. Use detach() instead. The view is"


def strided_from(
    flat: Any, start: Any, shape: tuple[Any, ...], strides: tuple[Any, ...]
) -> Any:
    """The view of a vector that begins at its element `start`; an empty one may begin anywhere.

    It stays within the vector, wherever that begins in its storage, so that it can be captured.
    """
    begin = 0 if 0 in shape else start
    tail = ops.narrow(flat, 0, begin, flat.shape[0] - begin)
    return ops.as_strided(tail, shape, strides)


def view_extent(shape: tuple[Any, ...], strides: tuple[Any, ...]) -> Any:
    """How many elements of memory a view spans, from its first to its last."""
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def _become(name: str, tensor: Any, view: Any) -> Any:
    """`tensor` with the layout and history of a view of itself."""
    adopt = getattr(tensor, "_adopt", None) if tensor.is_fake else None
    if adopt is None and tensor.is_fake:
        raise DataDependent(f"{name}() changes the layout of a tensor while tracing")
    if tensor.requires_grad and _core.grad_enabled() and tensor.grad_fn is None:
        raise RuntimeError(
            f"{name}: a leaf Variable that requires grad is being used in an in-place operation."
        )
    _core.check_may_write(tensor)
    node, number = view.grad_fn, view.output_nr
    _core.become(tensor, view)
    if adopt is not None:
        adopt(view)
    _core.bump_version(tensor)
    if node is not None:
        tensor.grad_fn, tensor.output_nr = node, number
    return tensor


def _in_place(name: str) -> Any:
    operation = getattr(TensorMethods, name)
    own = f"{name}_"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        view = operation(self, *args, **kwargs) if kwargs else operation(self, *args)
        return _become(own, self, view)

    method.__name__ = own
    method.__qualname__ = f"Views.{own}"
    method.__doc__ = f"`{name}` in place: the tensor becomes that view of itself, and is returned."
    return method


def _reinterpreted(tensor: Any, dtype: DType) -> Any:
    """The same bytes read as another dtype; the last dim grows or shrinks with the item size."""
    return ops.view_dtype(tensor.detach() if tensor.requires_grad else tensor, dtype)


class Views:
    """`T`, `mT`, `H`, `mH`, `view` and the in-place views, as a mixin of Tensor."""

    __slots__ = ()

    @property
    def T(self: Any) -> Tensor:
        """View with the dims in reverse order.

        Example:
            >>> gw.ones(2, 3).T.shape
            graphwright.Size([3, 2])
        """
        return ops.numpy_T(self)

    @property
    def mT(self: Any) -> Tensor:
        """View with the last two dims swapped.

        Raises:
            RuntimeError: the tensor has one dim.

        Example:
            >>> gw.ones(4, 2, 3).mT.shape
            graphwright.Size([4, 3, 2])
        """
        return ops.mT(self)

    @property
    def H(self: Any) -> Tensor:
        """Conjugate transpose of a matrix: a view of a real one, else a new tensor.

        Raises:
            RuntimeError: the tensor does not have 0 or 2 dims.

        Example:
            >>> gw.tensor([[1 + 2j, 3 + 1j]]).H
            tensor([[1.-2.j],
                    [3.-1.j]])
        """
        return ops.matrix_H(self)

    @property
    def mH(self: Any) -> Tensor:
        """Conjugate transpose of matrices, the last two dims: as `adjoint`.

        Raises:
            RuntimeError: the tensor has one dim.

        Example:
            >>> gw.tensor([[1 + 2j, 3 + 1j]]).mH
            tensor([[1.-2.j],
                    [3.-1.j]])
        """
        return ops.mH(self)

    def view(self: Any, *sizes: Any, size: Any = None, dtype: DType | None = None) -> Tensor:
        """View of the tensor with another shape, or of its bytes read as another dtype.

        Args:
            sizes: the new sizes, a sequence or one argument each, of which one may be -1, which
                the others decide; or a dtype.
            size: the sizes by name.
            dtype: the dtype by name; the last dim grows or shrinks with the size of elements.

        Returns: a view that shares memory.

        Raises:
            RuntimeError: the sizes do not have as many elements, the strides allow no such view,
                or the bytes do not suit the dtype.
            TypeError: both sizes and a dtype are given, or neither.

        Example:
            >>> gw.arange(6).view(2, -1)
            tensor([[0, 1, 2],
                    [3, 4, 5]])
        """
        if dtype is None and len(sizes) == 1 and sizes[0].__class__ is DType:
            dtype, sizes = sizes[0], ()
        if (not sizes) + (size is None) + (dtype is None) != 2:
            raise TypeError("view() takes either a size or a dtype")
        if dtype is None:
            return ops.view(self, varargs(sizes) if size is None else size)
        return ops.alias(self) if dtype is self.dtype else _reinterpreted(self, dtype)

    view.__gw_op__ = op("view")  # type: ignore[attr-defined]

    squeeze_ = _in_place("squeeze")
    unsqueeze_ = _in_place("unsqueeze")
    transpose_ = _in_place("transpose")
    swapaxes_ = _in_place("swapaxes")
    swapdims_ = _in_place("swapdims")
    t_ = _in_place("t")
    as_strided_ = _in_place("as_strided")

    def detach_(self: Any) -> Tensor:
        """Cut the tensor off its history, in place: it becomes a leaf without gradient.

        Raises:
            RuntimeError: the tensor is a view.

        Example:
            >>> (gw.ones(2, requires_grad=True) * 2).detach_().is_leaf
            True
        """
        if self._base is not None:
            raise RuntimeError(f"{VIEW_NOT_DETACHED} {describe(self)}")
        self.grad_fn = None
        self.requires_grad = False
        return self
