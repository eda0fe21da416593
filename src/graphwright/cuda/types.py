"""`cuda.FloatTensor` and its like: what makes tensors and storages on a GPU, and knows them."""

from __future__ import annotations

from typing import Any

from graphwright.compat import typed_constructors
from graphwright.compat.typed_constructors import TensorType, constructed
from graphwright.runtime.cuda.devices import is_available
from graphwright.runtime.naming import missing
from graphwright.runtime.tensor import storage
from graphwright.runtime.tensor.device import absence
from graphwright.runtime.tensor.storage import StorageType, TypedStorage


def _require(cls: type) -> None:
    if not is_available():
        raise TypeError(f"type {cls.__module__}.{cls.__name__} is not available: "
                        f"{absence('cuda')}")


class GpuTensorType(TensorType):
    """The type of `cuda.FloatTensor` and its like. TypeError where there is no GPU."""

    def __call__(cls, *args: Any) -> Any:
        _require(cls)
        return constructed(cls.dtype, args, cls.__name__).cuda()

    def __instancecheck__(cls, value: Any) -> bool:
        return super().__instancecheck__(value) and value.is_cuda

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


class GpuStorageType(StorageType):
    """The type of `cuda.FloatStorage` and its like. TypeError where there is no GPU."""

    def __call__(cls, *args: Any) -> Any:
        _require(cls)
        return TypedStorage(*args, dtype=cls.dtype, device="cuda")

    def __instancecheck__(cls, value: Any) -> bool:
        return super().__instancecheck__(value) and value.is_cuda

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


_made: dict[str, type] = {}


def named(name: str) -> type:
    """The class of that name. Raises AttributeError unless the CPU has one like it."""
    of_tensors = name.endswith("Tensor")
    like = getattr(typed_constructors if of_tensors else storage, name, None)
    dtype = getattr(like, "dtype", None)
    if not isinstance(like, TensorType | StorageType):
        raise missing("graphwright.cuda", name)
    kind = GpuTensorType if of_tensors else GpuStorageType
    made = kind(name, (), {"dtype": dtype, "__module__": "graphwright.cuda"})
    return _made.setdefault(name, made)
