"""Changing which memory a tensor has and how it reads it, as a mixin of Tensor."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import PYTHON_TYPES, on_cuda
from graphwright.runtime.errors import DataDependent, describe, require_kind, require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import as_size, varargs
from graphwright.runtime.ops.int_arguments import as_ints
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.memory_format import strides_in_format
from graphwright.runtime.tensor.storage import TypedStorage, UntypedStorage, storage_type
from graphwright.runtime.torch_function import PLAIN

if TYPE_CHECKING:
    from graphwright.runtime.tensor.tensor import Tensor


def _refuse_fake(name: str, tensor: Any) -> None:
    if tensor.is_fake:
        raise DataDependent(f"{name}() changes the memory of a tensor while tracing")


def _check_memory(name: str, tensor: Any) -> None:
    if tensor.requires_grad:
        raise RuntimeError(f"{name}: cannot change the memory of tensors that require grad")
    _core.check_may_write(tensor)


def _elements(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    if 0 in shape:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


def _grown(tensor: Any, elements: int) -> Any:
    """A flat tensor of so many elements that begins with the bytes of `tensor`'s storage."""
    cls = type(tensor)
    if tensor.is_cuda:
        return on_cuda().transfers.grown(tensor, elements)
    flat = _core.empty(cls, (elements,), tensor.dtype)
    held = tensor._storage.nbytes // tensor.dtype.itemsize
    old = _core.as_view(cls, tensor, (held,), (1,), 0)
    flat._nd[:held] = old._nd
    return flat


class Memory:
    """`resize_`, `resize_as_`, `set_`, `data`, `copy_`."""

    __slots__ = ()

    def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
        """Write other elements into this tensor.

        Args:
            src: a tensor that broadcasts to this one's shape, or a number; converted to its
                dtype.
            non_blocking: return before the copy is done between a GPU and pinned memory.

        Returns: the tensor.

        Raises:
            RuntimeError: `src` does not broadcast.
            TypeError: `src` is neither a tensor nor a number.

        Example:
            >>> gw.zeros(2, 2).copy_(gw.tensor([1, 2]))
            tensor([[1., 2.],
                    [1., 2.]])
        """
        if non_blocking.__class__ is not bool:
            require_kind("copy_", "non_blocking", non_blocking, bool)
        if isinstance(src, int | float | complex):
            kind = next(kind for kind in PYTHON_TYPES if isinstance(src, kind))
            src = ops.scalar_tensor(src, dtype=PYTHON_TYPES[kind])
        if non_blocking and (self.is_cuda or getattr(src, "is_cuda", False)):
            with on_cuda().transfers.non_blocking():
                return ops.copy_(self, src)
        return ops.copy_(self, src)

    def resize_(self: Any, *sizes: Any, memory_format: Any = None) -> Tensor:
        """Give the tensor any shape, in place; elements keep their position in memory.

        Where the memory does not suffice, the tensor gets new memory, whose new elements are
        uninitialised; tensors that shared the old memory keep that.

        Args:
            sizes: the shape: a sequence, or one argument per size.
            memory_format: the order of dims in memory; row-major if None.

        Returns: the tensor.

        Raises:
            RuntimeError: a gradient is required, or a size is negative.

        Example:
            >>> gw.arange(4).resize_(2, 1)
            tensor([[0],
                    [1]])
        """
        _refuse_fake("resize_", self)
        _check_memory("resize_", self)
        shape = as_ints("resize_(): argument 'size'", varargs(sizes))
        if any(n < 0 for n in shape):
            raise RuntimeError(f"resize_: negative size in {list(shape)}")
        _core.bump_version(self)
        if shape == self.shape and memory_format is None:
            return self
        strides = strides_in_format("resize_", shape, memory_format)
        offset, wanted = self.storage_offset(), _elements(shape, strides)
        source = self
        if (offset + wanted) * self.dtype.itemsize > self._storage.nbytes and wanted:
            source = _grown(self, offset + wanted)
        _core.become(self, _core.as_view(type(self), source, shape, strides, offset))
        return self

    def resize(self: Any, *sizes: Any) -> Tensor:
        """The tensor in another shape. Deprecated, with a UserWarning: use `reshape`.

        Args:
            sizes: the shape: a sequence, or one argument per size, none of them -1.

        Raises:
            RuntimeError: a size is negative, or the number of elements differs.
        """
        warnings.warn("non-inplace resize is deprecated", stacklevel=2)
        shape = as_size(varargs(sizes))
        if any(size < 0 for size in as_ints("resize(): argument 'sizes'", shape)):
            raise RuntimeError(
                f"requested resize to {shape}, but the given tensor is {describe(self)}; resize "
                "can only change its shape, while preserving the number of elements"
            )
        return ops.reshape(self, shape)

    def resize_as(self: Any, tensor: Tensor) -> Tensor:
        """The tensor in the shape of another. Deprecated, with a UserWarning: use `reshape_as`.

        Raises:
            RuntimeError: the numbers of elements differ.
        """
        warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
        return ops.reshape(self, tensor.shape)

    def resize_as_(self: Any, the_template: Tensor) -> Tensor:
        """Give the tensor the shape of another one, in place; as `resize_`.

        Args:
            the_template: the tensor whose shape it gets.

        Raises:
            TypeError: `the_template` is no tensor.

        Example:
            >>> gw.arange(4).resize_as_(gw.ones(2, 2))
            tensor([[0, 1],
                    [2, 3]])
        """
        require_tensor("resize_as_", "the_template", the_template)
        return self.resize_(the_template.shape)

    def set_(
        self: Any,
        source: Any = None,
        storage_offset: int = 0,
        size: Any = (),
        stride: Any = (),
    ) -> Tensor:
        """Have the tensor share the memory of another one, or of a storage, in place.

        Args:
            source: a tensor of the same dtype, or a storage, which is read as that; the tensor
                becomes empty if None.
            storage_offset: the position of the first element.
            size: the shape; that of `source` if empty and no offset is given.
            stride: the strides in elements; row-major if empty.

        Returns: the tensor.

        Raises:
            RuntimeError: a gradient is required, the dtypes or devices differ, or the shape
                reaches out of the memory.

        Example:
            >>> gw.zeros(1).set_(gw.ones(3))
            tensor([1., 1., 1.])
        """
        _refuse_fake("set_", self)
        _check_memory("set_", self)
        cls = type(self)
        if source is None:
            _core.become(self, _core.empty(cls, (0,), self.dtype))
            return self
        if isinstance(source, UntypedStorage | TypedStorage):
            typed = isinstance(source, TypedStorage)
            source = (source if typed else TypedStorage._of(source._holder, self.dtype))._flat()
        require_tensor("set_", "source", source)
        if source.device != self.device:
            raise RuntimeError(
                f'Attempted to set the storage of a tensor on device "{self.device}" to a storage '
                f'on different device "{source.device}": the devices must match')
        if source.dtype is not self.dtype:
            raise RuntimeError(
                f"set_: expected a source of {self.dtype.name}, got {source.dtype.name}"
            )
        shape = as_size(size)
        if not shape and not stride and not storage_offset:
            _core.become(self, _core.detach(cls, source))
            return self
        strides = as_size(stride) if stride else contiguous_strides(shape)
        _core.become(self, _core.as_view(cls, source, shape, strides, storage_offset))
        return self

    def share_memory_(self: Any) -> Tensor:
        """Move the memory into shared memory, with all tensors over it; returns self.

        Processes that are given the tensor then share its memory: those forked from here, and
        those that it is sent to. NumPy arrays made before keep the old memory. Raises RuntimeError
        unless the tensor is on the CPU, OSError where memory does not suffice.
        """
        import_module("graphwright.multiprocessing.reductions").share([self])
        return self

    def untyped_storage(self: Any) -> UntypedStorage:
        """The memory that this tensor and its views share, counted in bytes.

        Example:
            >>> gw.ones(4).untyped_storage().nbytes()
            16
        """
        made: UntypedStorage = UntypedStorage._of(self, dtypes.uint8)
        return made

    def storage(self: Any) -> TypedStorage:
        """The memory that this tensor and its views share, counted in elements of its dtype.

        Example:
            >>> gw.arange(4).storage().size()
            4
        """
        made: TypedStorage = TypedStorage._of(self, self.dtype)
        return made

    def storage_type(self: Any) -> Any:
        """The class of storages of this dtype: `FloatStorage` for float32."""
        return storage_type(self.dtype)

    def is_set_to(self: Any, tensor: Tensor) -> bool:
        """Whether another tensor has the same storage, offset, shape and strides.

        Example:
            >>> x = gw.ones(2)
            >>> x.is_set_to(x.detach()), x.is_set_to(gw.ones(2))
            (True, False)
        """
        require_tensor("is_set_to", "tensor", tensor)
        return bool(
            _same_memory(self._storage, tensor._storage)
            and self.storage_offset() == tensor.storage_offset()
            and self.shape == tensor.shape
            and self.stride() == tensor.stride()
        )

    @property
    def data(self: Any) -> Tensor:
        """A view without history; in-place writes are not version-checked.

        That of a parameter is a plain tensor. Assigning a tensor of any shape and dtype makes
        this one share its memory; gradient, history and version stay.
        """
        cls = self.__class__
        return _core.unversioned(cls if cls is PLAIN[0] else type(self.detach()), self)

    @data.setter
    def data(self: Any, value: Tensor) -> None:
        if not isinstance(value, _core.TensorBase):
            raise TypeError(
                f"Variable data has to be a tensor, but got {type(value).__name__}"
            )
        _refuse_fake("data", self)
        _refuse_fake("data", value)
        if self.requires_grad and not (value.dtype.is_floating_point or value.dtype.is_complex):
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or "
                f"complex dtype, not {value.dtype.name}"
            )
        _core.become(self, _core.unversioned(type(value), value, self))


def _same_memory(one: Any, two: Any) -> bool:
    """Whether storages begin at one address: those of a tensor and of its `.data` do."""
    return one is two or one._address() == two._address() != 0
