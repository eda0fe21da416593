"""The memory of a tensor as an object: `Tensor.untyped_storage()`, `Tensor.storage()`.

A storage has the size that it was made with. Tensors come from one by `Tensor.set_`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.naming import NAMING, missing
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.elements import elements
from graphwright.runtime.tensor.nested_sequences import regular
from graphwright.runtime.torch_function import PLAIN

_CPU = Device("cpu")


class _Memory:
    """What both kinds of storage are: elements of one dtype that tensors share.

    Storages are equal where they begin at one address.
    """

    __slots__ = ("_holder", "dtype")

    dtype: DType
    _holder: Any

    @classmethod
    def _of(cls, tensor: Any, dtype: DType) -> Any:
        """The memory of `tensor`, which the storage keeps alive, read as `dtype`."""
        made = object.__new__(cls)
        made._holder, made.dtype = tensor, dtype
        return made

    @property
    def _memory(self) -> Any:
        return self._holder._storage

    def _flat(self) -> Any:
        """All elements as a tensor that shares the memory."""
        if self._holder.is_fake:
            raise DataDependent("the elements of a storage are read while tracing")
        plain = self._holder.detach()
        return _core.as_view(type(plain), plain, (self.size(),), (1,), 0, self.dtype)

    @property
    def _array(self) -> Any:
        """The elements to be read: of a GPU's memory a copy."""
        return elements(self._flat())

    @property
    def device(self) -> Device:
        """Where the memory lies."""
        device: Device = self._holder.device
        return device

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is a GPU's."""
        return bool(self._holder.is_cuda)

    def data_ptr(self) -> int:
        """The address of the first byte; 0 without memory."""
        return int(self._memory.data_ptr())

    def nbytes(self) -> int:
        """The size in bytes."""
        return int(self._memory.nbytes)

    def size(self) -> int:
        """The number of elements."""
        return self.nbytes() // self.element_size()

    def element_size(self) -> int:
        """The bytes of one element."""
        return int(self.dtype.itemsize)

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """All elements as Python numbers."""
        values: list[Any] = self._flat().tolist()
        return values

    def _at(self, index: int) -> int:
        """A place among the elements. Raises IndexError for one outside."""
        size = self.size()
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        return index % size

    def __setitem__(self, index: int | slice, value: Any) -> None:
        place = index if isinstance(index, slice) else self._at(index)
        self._flat()[place] = value

    def fill_(self, value: Any) -> Any:
        """Set every element."""
        self._flat().fill_(value)
        return self

    def copy_(self, source: _Memory, non_blocking: Any = None) -> Any:
        """Take over the elements of a storage of the same size, converted to this dtype.

        Raises RuntimeError for another size.
        """
        if len(source) != len(self):
            raise RuntimeError(f"size does not match: {len(self)} vs {len(source)}")
        self._flat().copy_(source._flat())
        return self

    def clone(self) -> Any:
        """The same elements in memory of their own."""
        return type(self)._of(self._flat().clone(), self.dtype)

    def _over(self, flat: Any) -> Any:
        """The storage of other elements of this dtype; itself where they are its own."""
        same = flat.device == self.device and flat._address() == self._memory._address()
        return self if same else type(self)._of(flat, self.dtype)

    def cpu(self) -> Any:
        """The elements in main memory: the storage itself, where they are there."""
        return self._over(self._flat().cpu())

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """The elements on a GPU: the storage itself, where they are there; as `Tensor.cuda`."""
        return self._over(self._flat().cuda(device, non_blocking))

    def pin_memory(self, device: Any = None) -> Any:
        """The elements in page-locked memory; as `Tensor.pin_memory`."""
        return self._over(self._flat().pin_memory(device))

    def get_device(self) -> int:
        """The index of the GPU that the memory is on; -1 of main memory."""
        return int(self._holder.get_device())

    def resizable(self) -> bool:
        """False: a storage keeps its size."""
        return False

    def resize_(self, size: int) -> Any:
        """The storage itself where it has that size. Raises RuntimeError otherwise."""
        if size != self.size():
            raise RuntimeError("Trying to resize storage that is not resizable")
        return self

    def is_shared(self) -> bool:
        """Whether the memory is one that other processes may have too."""
        return _core.shared_place(self._memory) is not None

    def share_memory_(self) -> Any:
        """Move the memory into shared memory: see `Tensor.share_memory_`. Returns self."""
        self._holder.share_memory_()
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is page-locked; as `Tensor.is_pinned`."""
        return bool(self._holder.is_pinned(device))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Memory) and other._memory is self._memory

    def __hash__(self) -> int:
        return id(self._memory)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return memo.setdefault(id(self._memory), self.clone())

    def _shown(self, kind: str) -> str:
        lines = "".join(f" {value}\n" for value in self.tolist())
        return f"{lines}[{NAMING.root}.storage.{kind}(device={self.device}) of size {len(self)}]"


def _new_holder(dtype: DType, args: Sequence[Any], device: Any) -> Any:
    """A tensor of a storage's elements, from their number or from a sequence of them."""
    if device is not None and Device(device).type != "cpu":
        return _new_holder(dtype, args, None).to(device)
    if len(args) > 1:
        raise TypeError(f"expected a size or a sequence, got {len(args)} arguments")
    given = args[0] if args else 0
    if hasattr(given, "__index__"):
        return ops.empty((int(given),), dtype=dtype, device=_CPU)
    if not isinstance(given, Sequence):
        raise TypeError(f"expected a size or a sequence, got {type(given).__name__}")
    return _filled(np.array(regular(given), dtype.numpy), dtype)


def _filled(array: np.ndarray[Any, Any], dtype: DType) -> Any:
    """A flat tensor with a copy of the elements."""
    holder = ops.empty(array.shape, dtype=dtype, device=_CPU)
    holder._nd[:] = array
    return holder


def _file_memory(filename: Any, shared: bool, size: int) -> np.ndarray[Any, Any]:
    """The first `size` bytes of a file, mapped: writes reach the file if `shared`.

    A shared file is made, or made longer, where it has to be. RuntimeError where it is too short.
    """
    import mmap

    name = os.fspath(filename)
    if size == 0:
        return np.empty(0, np.uint8)
    handle = os.open(name, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY, 0o666)
    try:
        there = os.fstat(handle).st_size
        if there < size and not shared:
            raise RuntimeError(
                f"file <{name}> size <{there}> is smaller than the required mapping size <{size}>"
            )
        if there < size:
            os.truncate(handle, size)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        return np.frombuffer(mmap.mmap(handle, size, access=access), np.uint8)
    finally:
        os.close(handle)


class UntypedStorage(_Memory):
    """The bytes that a tensor and its views share. `UntypedStorage(8)` are new ones."""

    __slots__ = ()

    def __new__(cls, *args: Any, device: Any = None) -> UntypedStorage:
        """From a number of bytes, or a sequence of them; on the CPU, if no device is given."""
        made: UntypedStorage = cls._of(_new_holder(dtypes.uint8, args, device), dtypes.uint8)
        return made

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The first `nbytes` of a file as memory, read when first touched.

        What is written reaches the file if `shared`, which is then made, or made longer, where it
        has to be. The file must not be truncated meanwhile. Raises RuntimeError where it is too
        short, OSError where it cannot be opened.
        """
        memory = _file_memory(filename, shared, nbytes)
        holder: Any = _core.from_ndarray(PLAIN[0], memory, dtypes.uint8)
        made: UntypedStorage = cls._of(holder, dtypes.uint8)
        return made

    def __getitem__(self, index: Any) -> Any:
        """One byte as an int, or those of a slice as a storage that shares them."""
        if not isinstance(index, slice):
            return int(self._array[self._at(index)])
        start, stop, step = index.indices(self.size())
        if step != 1:
            raise RuntimeError(f"UntypedStorage: slices must have step 1, got {step}")
        if self.is_cuda:
            size = max(0, stop - start)
            part: Any = _core.cuda_borrow(PLAIN[0], (size,), (1,), dtypes.uint8,
                                          self.data_ptr() + start, self._holder, False)
        else:
            part = _core.from_ndarray(type(self._holder), self._array[start:stop], dtypes.uint8)
        return UntypedStorage._of(part, dtypes.uint8)

    def to(self, *, device: Any, non_blocking: bool = False) -> UntypedStorage:
        """The bytes on another device: the storage itself, where they are there."""
        moved: UntypedStorage = self._over(self._flat().to(device, non_blocking=non_blocking))
        return moved

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    def type(self, dtype: Any = None, non_blocking: bool = False) -> str:
        """"graphwright.storage.UntypedStorage"; on a GPU "graphwright.cuda.UntypedStorage"."""
        return f"{NAMING.root}.{'cuda' if self.is_cuda else 'storage'}.UntypedStorage"

    def __repr__(self) -> str:
        return self._shown("UntypedStorage")

    def __reduce__(self) -> Any:
        return _rebuild, (None, self._array.copy(), self.device)


class TypedStorage(_Memory):
    """A storage that is counted in elements of a dtype.

    `TypedStorage(3, dtype=...)` is new memory, `TypedStorage(wrap_storage=s, dtype=...)` that of
    an untyped storage.
    """

    __slots__ = ()

    def __new__(
        cls, *args: Any, wrap_storage: Any = None, dtype: DType | None = None, device: Any = None
    ) -> TypedStorage:
        kind = dtypes.get_default_dtype() if dtype is None else dtype
        if wrap_storage is None:
            made: TypedStorage = TypedStorage._of(_new_holder(kind, args, device), kind)
            return made
        if not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(
                "Argument 'wrap_storage' must be UntypedStorage, but got "
                f"{type(wrap_storage).__name__}"
            )
        made = TypedStorage._of(wrap_storage._holder, kind)
        return made

    def __getitem__(self, index: Any) -> Any:
        """One element as a number. Raises NotImplementedError for a slice."""
        if isinstance(index, slice):
            raise NotImplementedError("only UntypedStorage.__getitem__ supports slices")
        return self._flat()[self._at(index)].item()

    def untyped(self) -> UntypedStorage:
        """This storage, counted in bytes."""
        made: UntypedStorage = UntypedStorage._of(self._holder, dtypes.uint8)
        return made

    def to(
        self, dtype: DType | None = None, *, device: Any = None, non_blocking: bool = False
    ) -> TypedStorage:
        """The elements on another device, or converted to a dtype, in memory of their own."""
        if dtype is None:
            moved: TypedStorage = self._over(self._flat().to(device, non_blocking=non_blocking))
            return moved
        made: TypedStorage = TypedStorage._of(self._flat().to(device, dtype, copy=True), dtype)
        return made

    def type(self, dtype: Any = None, non_blocking: bool = False) -> str:
        """Such as "graphwright.FloatStorage"; on a GPU "graphwright.cuda.FloatStorage"."""
        package = f"{NAMING.root}.cuda" if self.is_cuda else NAMING.root
        return f"{package}.{CLASS_NAMES.get(self.dtype, 'TypedStorage')}"

    def __repr__(self) -> str:
        return self._shown(f"TypedStorage(dtype={self.dtype})").replace(")(", ", ")

    def __reduce__(self) -> Any:
        return _rebuild, (self.dtype, self._array.copy(), self.device)


def _rebuild(dtype: DType | None, array: Any, device: Device) -> Any:
    """A storage that was pickled."""
    kind = dtypes.uint8 if dtype is None else dtype
    holder = _filled(array, kind).to(device)
    return (UntypedStorage if dtype is None else TypedStorage)._of(holder, kind)


class StorageType(type):
    """The type of `FloatStorage` and its like: makes storages of a dtype, and knows them."""

    dtype: DType

    def __call__(cls, *args: Any) -> Any:
        return TypedStorage(*args, dtype=cls.dtype)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, TypedStorage) and value.dtype is cls.dtype

    def __repr__(cls) -> str:
        return f"<class 'graphwright.{cls.__name__}'>"


_KINDS = {
    "bool": dtypes.bool,
    "byte": dtypes.uint8,
    "char": dtypes.int8,
    "short": dtypes.int16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16,
    "float": dtypes.float32,
    "double": dtypes.float64,
    "complex_float": dtypes.complex64,
    "complex_double": dtypes.complex128,
}


def _class_name(kind: str) -> str:
    """`ComplexFloatStorage` of "complex_float"."""
    name = "BFloat16" if kind == "bfloat16" else kind.title().replace("_", "")
    return f"{name}Storage"


def _conversion(dtype: DType) -> Any:
    def convert(self: TypedStorage) -> TypedStorage:
        return self.to(dtype)

    convert.__doc__ = f"The elements as {dtype.name}, in memory of their own."
    return convert


for _kind, _dtype in _KINDS.items():
    setattr(TypedStorage, _kind, _conversion(_dtype))

CLASS_NAMES = {dtype: _class_name(kind) for kind, dtype in _KINDS.items()}
"""By dtype; the dtypes that came later have untyped storages alone."""


def __getattr__(name: str) -> StorageType:
    """`FloatStorage` and its like, made when they are first asked for."""
    dtype = next((dtype for dtype, known in CLASS_NAMES.items() if known == name), None)
    if dtype is None:
        raise missing(__name__, name)
    about = f"Storages of {dtype.name}, as a constructor and for `isinstance`."
    made = StorageType(
        name, (), {"dtype": dtype, "__doc__": about, "__module__": "graphwright"}
    )
    kind: StorageType = globals().setdefault(name, made)    # another thread may have been first
    return kind


def storage_type(dtype: DType) -> StorageType:
    """The class of storages of a dtype: `FloatStorage` for float32."""
    made: StorageType = getattr(sys.modules[__name__], CLASS_NAMES[dtype])
    return made
