"""What can be asked of a tensor besides its type: where it lies, how it is stored.

Every tensor is dense ("strided") and not quantised: those questions have one answer. They are
here because device-independent code asks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import on_cuda
from graphwright.runtime.errors import DataDependent, require_kind, require_tensor
from graphwright.runtime.tensor import promotion
from graphwright.runtime.tensor.device import absence
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.memory_format import memory_format, strided
from graphwright.runtime.tensor.storage import TypedStorage, UntypedStorage

if TYPE_CHECKING:
    from graphwright.runtime.tensor.tensor import Tensor


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element of a tensor is not zero.

    Args:
        input: a tensor of one element.

    Raises:
        RuntimeError: `input` has no element, or more than one.
        TypeError: `input` is no tensor.

    Example:
        >>> gw.is_nonzero(gw.tensor([2.0]))
        True
    """
    require_tensor("is_nonzero", "input", input)
    if input.numel() != 1:
        raise RuntimeError(
            "Boolean value of Tensor with "
            + ("no values is ambiguous" if input.numel() == 0 else
               "more than one value is ambiguous")
        )
    return bool(input.item())


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape.

    Args:
        input: a tensor.
        other: a tensor.

    Raises:
        TypeError: an argument is no tensor.

    Example:
        >>> gw.is_same_size(gw.ones(2), gw.ones(2, 1))
        False
    """
    require_tensor("is_same_size", "input", input)
    require_tensor("is_same_size", "other", other)
    return bool(input.shape == other.shape)


def is_signed(input: Tensor) -> bool:
    """Whether the dtype of a tensor has negative values.

    Args:
        input: a tensor.

    Raises:
        TypeError: `input` is no tensor.

    Example:
        >>> gw.is_signed(gw.tensor(1, dtype=gw.uint8))
        False
    """
    require_tensor("is_signed", "input", input)
    return input.dtype.is_signed


def can_cast(from_: DType, to: DType) -> bool:
    """Whether a result of one dtype may be written in place into another.

    Args:
        from_: the dtype of the result.
        to: the dtype of the tensor that is written to.

    Raises:
        TypeError: an argument is no dtype.

    Example:
        >>> gw.can_cast(gw.int64, gw.float32), gw.can_cast(gw.float32, gw.int64)
        (True, False)
    """
    require_kind("can_cast", "from_", from_, DType)
    require_kind("can_cast", "to", to, DType)
    return promotion.can_cast(from_, to)


def is_conj(input: Tensor) -> bool:
    """False: conjugates are computed, not marked.

    Args:
        input: a tensor.

    Raises:
        TypeError: `input` is no tensor.

    Example:
        >>> gw.is_conj(gw.tensor(1j).conj())
        False
    """
    require_tensor("is_conj", "input", input)
    return input.is_conj()


def is_neg(input: Tensor) -> bool:
    """False: negatives are computed, not marked.

    Args:
        input: a tensor.

    Raises:
        TypeError: `input` is no tensor.

    Example:
        >>> gw.is_neg(gw.ones(2))
        False
    """
    require_tensor("is_neg", "input", input)
    return input.is_neg()


def is_inference(input: Tensor) -> bool:
    """Whether the memory of a tensor was allocated in inference mode.

    Args:
        input: a tensor.

    Raises:
        TypeError: `input` is no tensor.

    Example:
        >>> gw.is_inference(gw.ones(2))
        False
    """
    require_tensor("is_inference", "input", input)
    return bool(input.is_inference())


def is_storage(obj: Any) -> bool:
    """Whether an object is the memory of a tensor.

    Args:
        obj: any object.

    Example:
        >>> gw.is_storage(gw.ones(2).untyped_storage())
        True
    """
    return isinstance(obj, UntypedStorage | TypedStorage | _core.Storage)


def get_device(input: Tensor) -> int:
    """Index of the GPU that a tensor lies on; -1 for one in main memory.

    Args:
        input: a tensor.

    Raises:
        TypeError: `input` is no tensor.

    Example:
        >>> gw.get_device(gw.ones(2))
        -1
    """
    require_tensor("get_device", "input", input)
    return input.get_device()


def typename(obj: Any) -> str:
    """Dotted name of a class or function, or of an object's type; of a tensor its typed class.

    Args:
        obj: any object.

    Returns: a str.

    Example:
        >>> gw.typename(3)
        'int'
    """
    if isinstance(obj, _core.TensorBase):
        return obj.type()  # type: ignore[attr-defined]
    kind = obj if hasattr(obj, "__qualname__") and hasattr(obj, "__module__") else type(obj)
    return kind.__qualname__ if kind.__module__ in (None, "builtins") else (
        f"{kind.__module__}.{kind.__qualname__}"
    )


def _check_unambiguous(tensor: Any, strides: tuple[int, ...], allowed: Any) -> None:
    """What `dim_order` raises for `ambiguity_check=allowed`."""
    formats = allowed if isinstance(allowed, list) else []
    if allowed is not True and not (
        isinstance(allowed, list) and all(isinstance(f, memory_format) for f in formats)
    ):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    if all(size != 1 for size in tensor.shape) and len(set(strides)) == len(strides):
        return
    if sum(tensor.is_contiguous(memory_format=f) for f in formats) != 1:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given "
            "memory formats."
        )


class Facts:
    """Questions about a tensor's kind, device and storage."""

    __slots__ = ()

    @property
    def is_mps(self) -> bool:
        """False: there are no such devices."""
        return False

    is_xpu = is_mps

    is_ipu = is_maia = is_mkldnn = is_mtia = is_vulkan = is_xla = is_xpu = is_mps

    def dense_dim(self: Any) -> int:
        """The number of dims: all of them are dense."""
        return len(self.shape)

    def sparse_dim(self) -> int:
        """0: no dim is sparse."""
        return 0

    @property
    def name(self) -> None:
        """None: tensors have no names."""
        return None

    @property
    def volatile(self) -> bool:
        """False: `no_grad` took its place."""
        return False

    @property
    def layout(self) -> Any:
        """How the elements are kept: `strided`."""
        return strided

    def is_shared(self: Any) -> bool:
        """Whether the memory is one that other processes may have too."""
        if self.is_fake:
            raise DataDependent("is_shared() asks where the memory of a tensor lies")
        return _core.shared_place(self._storage) is not None

    def is_pinned(self: Any, device: Any = None) -> bool:
        """Whether the memory is page-locked, for copies to and from a GPU.

        Raises TypeError for a `device` that is none.
        """
        if device is not None:
            Device(device)
        return not self.is_fake and _core.is_pinned(self)

    def pin_memory(self: Any, device: Any = None) -> Any:
        """A copy in page-locked memory, which GPUs read and write while the program goes on.

        The tensor itself where it is pinned. Raises RuntimeError for a tensor that is not in main
        memory, and where there is no GPU.
        """
        if _core.cuda_absence() is not None:
            raise RuntimeError(
                "pin_memory: pinning memory needs an accelerator, and there is none")
        if self.device.type != "cpu" or self.is_fake:
            raise RuntimeError(f"cannot pin a tensor on {self.device}: only dense CPU tensors can "
                               "be pinned")
        return on_cuda().transfers.pinned(self)

    def cuda(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        """The tensor on a GPU: itself, where it lies there.

        Args:
            device: the GPU, as a device or its index; the current one if None.
            non_blocking: return before the copy of pinned memory is done.

        Raises:
            AssertionError: there is no GPU.
            RuntimeError: there is none of that index.
        """
        if _core.cuda_absence() is not None:
            raise AssertionError(absence("cuda"))
        index = on_cuda().devices.index_of(device)
        return self.to(Device("cuda", index), non_blocking=non_blocking)

    def record_stream(self: Any, stream: Any) -> None:
        """Keep the memory for work of a stream other than that in which the tensor was made.

        Once the tensor is gone, the memory serves others after what the stream has to do then.

        Args:
            stream: a `cuda.Stream`.

        Raises:
            RuntimeError: the tensor is not on a GPU.
            TypeError: `stream` is none.
        """
        number = getattr(stream, "stream_id", None)
        if number is None:
            raise TypeError(f"record_stream(): expected a stream, not {type(stream).__name__}")
        _core.cuda_record_stream(self, number)

    def to_dense(self: Any, dtype: Any = None) -> Any:
        """The tensor itself, or converted to `dtype`: every tensor is dense."""
        return self if dtype is None else self.to(dtype)

    def dim_order(self: Any, *, ambiguity_check: Any = False) -> tuple[int, ...]:
        """The dims from the outermost in memory to the innermost.

        Args:
            ambiguity_check: True to refuse other possible orders, which sizes of 1 and equal
                strides allow; a list of memory formats to refuse them unless the tensor is in
                exactly one of these.

        Raises:
            RuntimeError: the order is ambiguous, and that is checked.
            TypeError: `ambiguity_check` is neither a bool nor such a list.

        Example:
            >>> gw.ones(2, 3).t().dim_order()
            (1, 0)
        """
        strides = self.stride()
        if ambiguity_check is not False:
            _check_unambiguous(self, strides, ambiguity_check)
        return tuple(sorted(range(self.ndim), key=lambda dim: -strides[dim]))

    def __delitem__(self, key: Any) -> None:
        """Raises TypeError: tensors keep their elements."""
        raise TypeError("Tensor does not support deleting items")

    def is_nonzero(self: Any) -> bool:
        """Whether the one element is not zero.

        Raises:
            RuntimeError: the tensor does not have one element.

        Example:
            >>> gw.tensor([0.5]).is_nonzero()
            True
        """
        return is_nonzero(self)

    def is_same_size(self: Any, other: Tensor) -> bool:
        """Whether another tensor has the same shape.

        Raises:
            TypeError: `other` is no tensor.

        Example:
            >>> gw.ones(2).is_same_size(gw.ones(3))
            False
        """
        return is_same_size(self, other)
