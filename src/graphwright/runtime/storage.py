"""The memory of a tensor as an object: `Tensor.untyped_storage()`, `Tensor.storage()`."""

from __future__ import annotations

from typing import Any


class UntypedStorage:
    """The bytes that a tensor and its views share; equal where they are the same memory."""

    __slots__ = ("_memory",)

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def data_ptr(self) -> int:
        """The address of the first byte; 0 without memory."""
        return int(self._memory.data_ptr())

    def nbytes(self) -> int:
        """The size in bytes."""
        return int(self._memory.nbytes)

    def size(self) -> int:
        """The size in bytes."""
        return self.nbytes()

    def __len__(self) -> int:
        return self.nbytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and other._memory is self._memory

    def __hash__(self) -> int:
        return id(self._memory)


class TypedStorage(UntypedStorage):
    """The same memory counted in elements of the tensor's dtype."""

    __slots__ = ("dtype",)

    def __init__(self, memory: Any, dtype: Any) -> None:
        super().__init__(memory)
        self.dtype = dtype

    def size(self) -> int:
        """The number of elements."""
        return self.nbytes() // int(self.dtype.itemsize)

    def __len__(self) -> int:
        return self.size()

    def untyped(self) -> UntypedStorage:
        """The same memory in bytes."""
        return UntypedStorage(self._memory)
