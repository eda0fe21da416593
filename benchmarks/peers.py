"""PyTorch and JAX, where they are installed: optional peers to compare with.

Their threads spin for a while after each call, on the CPUs that the next case needs: so peers take
their turns among themselves, after graphwright's.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from collections.abc import Callable, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import graphwright as gw
from graphwright.report import measure


def torch() -> ModuleType | None:
    """PyTorch, set to as many threads as graphwright uses; None where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    module = importlib.import_module("torch")
    module.set_num_threads(gw.get_num_threads())
    return module


def torch_compiles() -> bool:
    """Whether torch.compile can work here: it needs a C++ compiler."""
    return torch() is not None and bool(shutil.which("g++") or shutil.which("clang++"))


def jax() -> ModuleType | None:
    """JAX; None where it is not installed."""
    if importlib.util.find_spec("jax") is None:
        return None
    return importlib.import_module("jax")


def jax_functions() -> SimpleNamespace | None:
    """JAX under the names and keywords that the cases use of graphwright and PyTorch."""
    library = jax()
    if library is None:
        return None
    numpy, nn = library.numpy, library.nn

    def layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / numpy.sqrt(var + eps) * weight + bias

    return SimpleNamespace(
        exp=numpy.exp, tanh=numpy.tanh, sigmoid=nn.sigmoid, relu=nn.relu,
        softmax=lambda x, dim: nn.softmax(x, axis=dim),
        nn=SimpleNamespace(functional=SimpleNamespace(layer_norm=layer_norm)))


def in_turns(cases: Mapping[str, Callable[[], object]]) -> dict[str, measure.Timing]:
    """Time the peers in turns; none where none is installed."""
    return measure.in_turns(cases, seconds=1.0) if cases else {}
