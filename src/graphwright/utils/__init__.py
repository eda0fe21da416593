"""Helpers for training, after `torch.utils`; imported when they are first asked for."""

from collections.abc import Callable
from importlib import import_module as _import_module
from operator import call as _call
from typing import TYPE_CHECKING, Any

from graphwright.runtime.naming import missing as _missing

if TYPE_CHECKING:
    from graphwright.utils import _pytree, checkpoint, data, dlpack, hooks
    from graphwright.utils.swapping import swap_tensors

__all__ = [
    "_pytree", "benchmark", "checkpoint", "collect_env", "cpp_extension", "data", "dlpack",
    "flop_counter", "hooks", "model_zoo", "swap_tensors", "tensorboard",
]  # fmt: skip


class _Capture:
    """What the compiler provides once it is imported: calls `run(function, *args, **kwargs)`.

    run_outside: frames of the call are not captured; run_eagerly: nor is compiled code entered.
    """

    __slots__ = ("run_eagerly", "run_outside")

    def __init__(self) -> None:
        self.run_outside: Callable[..., Any] = _call
        self.run_eagerly: Callable[..., Any] = _call


CAPTURE = _Capture()


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise _missing(__name__, name)
    if name == "swap_tensors":
        return _import_module("graphwright.utils.swapping").swap_tensors
    if name == "model_zoo":
        return _import_module("graphwright.hub")
    return _import_module(f"graphwright.utils.{name}")
