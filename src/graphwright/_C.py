"""What libraries take from `torch._C`, beside what PyTorch's documentation of overrides does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

from graphwright.runtime._core import TensorBase
from graphwright.runtime.device import device
from graphwright.runtime.dtypes import dtype
from graphwright.runtime.formats import layout, memory_format
from graphwright.runtime.generator import Generator
from graphwright.runtime.library.keys import (
    DispatchKey,
    DispatchKeySet,
    _AutoDispatchBelowAutograd,
    _ExcludeDispatchKeyGuard,
)
from graphwright.runtime.nn.module import _parse_to
from graphwright.runtime.overrides import DisableTorchFunctionSubclass
from graphwright.runtime.overriding import disabled_torch_function_impl
from graphwright.runtime.size import Size

_disabled_torch_function_impl = disabled_torch_function_impl
_TensorBase = TensorBase
_TensorMeta = type(TensorBase)


class Graph:
    """A graph of TorchScript's, as annotations name it; there are none."""


class Value(Graph):
    """A value in such a graph."""


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
    "PyTorchFileReader", "Size", "Value", "_AutoDispatchBelowAutograd",
    "_ExcludeDispatchKeyGuard", "device", "dtype", "layout", "memory_format",
]  # fmt: skip
