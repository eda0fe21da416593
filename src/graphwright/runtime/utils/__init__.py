"""Helpers for training, after `torch.utils`; imported when they are first asked for."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphwright.runtime.utils import checkpoint

__all__ = ["checkpoint"]


def __getattr__(name: str) -> Any:
    if name != "checkpoint":
        raise AttributeError(f"module 'graphwright.utils' has no attribute '{name}'")
    return _import_module("graphwright.runtime.utils.checkpoint")
