"""What libraries take from `torch._C`, beside what PyTorch's documentation of overrides does."""

from __future__ import annotations

from enum import Enum
from types import SimpleNamespace
from typing import Any, NoReturn

from graphwright.library.keys import (
    DispatchKey,
    DispatchKeySet,
    _AutoDispatchBelowAutograd,
    _ExcludeDispatchKeyGuard,
)
from graphwright.nn.module import _parse_to
from graphwright.overrides import DisableTorchFunctionSubclass
from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.tensor.device import device
from graphwright.runtime.tensor.dtypes import dtype
from graphwright.runtime.tensor.generator import Generator
from graphwright.runtime.tensor.memory_format import layout, memory_format
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.torch_function import disabled_torch_function_impl

_has_cuda = _has_cudnn = _has_mkldnn = _has_mps = _has_mtia = _has_xpu = False
has_mkl = has_openmp = False
has_lapack = True

_disabled_torch_function_impl = disabled_torch_function_impl
_TensorBase = TensorBase
_TensorMeta = type(TensorBase)


class Graph:
    """A graph of TorchScript's, as annotations name it; there are none."""


class Value(Graph):
    """A value in such a graph."""


class Type:
    """A type of TorchScript's, as annotations name it; making one raises NotImplementedError."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{cls.__name__}: graphwright has no types of TorchScript")


class AnyType(Type):
    """Anything."""


class BoolType(Type):
    """A bool."""


class DeviceObjType(Type):
    """A device."""


class DictType(Type):
    """A dict."""


class FloatType(Type):
    """A float."""


class IntType(Type):
    """An int."""


class ListType(Type):
    """A list."""


class NoneType(Type):
    """None."""


class NumberType(Type):
    """An int or a float."""


class OptionalType(Type):
    """A value or None."""


class StringType(Type):
    """A str."""


class TensorType(Type):
    """A tensor."""


class TupleType(Type):
    """A tuple."""


class Tag(Enum):
    """What is said of an op when it is declared; graphwright draws nothing from it."""

    core = 0
    cudagraph_unsafe = 1
    data_dependent_output = 2
    dynamic_output_shape = 3
    flexible_layout = 4
    generated = 5
    inplace_view = 6
    maybe_aliasing_or_mutating = 7
    needs_exact_strides = 8
    needs_fixed_stride_order = 9
    nondeterministic_bitwise = 10
    nondeterministic_seeded = 11
    pointwise = 12
    pt2_compliant_tag = 13
    reduction = 14
    view_copy = 15


class PyTorchFileReader:
    """PyTorch's reader of its files, as annotations name it; making one raises."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("PyTorchFileReader: files are read with torch.load alone")


def _to_arguments(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format) of arguments that `Module.to` takes."""
    format_, wait = kwargs.pop("memory_format", None), kwargs.get("non_blocking", False)
    where, kind = _parse_to(args, kwargs)
    return None if where is None else device(where), kind, wait, format_


_nn = SimpleNamespace(_parse_to=_to_arguments)


def _log_api_usage_once(message: str) -> None:
    """Without effect: use is not counted."""


def _are_functorch_transforms_active() -> bool:
    """Whether a function under `vmap` or a transform of `func` runs on this thread."""
    return bool(_core.levels())


def _get_tracing_state() -> None:
    """The trace of TorchScript's that the thread is in: None."""


def _get_accelerator(check: bool = False) -> device:
    """The device that programs run on: the CPU."""
    return device("cpu")


def _get_privateuse1_backend_name() -> str:
    """What devices of third parties are called: there are none."""
    return "privateuseone"


__all__ = [
    "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet", "Generator", "Graph",
    "PyTorchFileReader", "Size", "Tag", "TensorType", "Type", "Value",
    "_AutoDispatchBelowAutograd", "_ExcludeDispatchKeyGuard", "device", "dtype", "layout",
    "memory_format",
]  # fmt: skip
