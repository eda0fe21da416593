"""PyTorch and JAX, where they are installed: optional peers to compare with."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from types import ModuleType


def torch() -> ModuleType | None:
    """PyTorch, set to as many threads as graphwright uses; None where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    return importlib.import_module("torch")


def torch_compiles() -> bool:
    """Whether torch.compile can work here: it needs a C++ compiler."""
    return torch() is not None and bool(shutil.which("g++") or shutil.which("clang++"))


def jax() -> ModuleType | None:
    """JAX; None where it is not installed."""
    if importlib.util.find_spec("jax") is None:
        return None
    return importlib.import_module("jax")
