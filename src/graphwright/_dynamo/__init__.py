"""`torch._dynamo`: PyTorch's older names of the controls in `graphwright.compiler`."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from graphwright._dynamo.settings import config
from graphwright.capture.frame.python_support import hook_problem
from graphwright.compiler import (
    allow_in_graph,
    assume_constant_result,
    disable,
    graph_break,
    is_compiling,
    list_backends,
    mark_dynamic,
    mark_static,
    reset,
    set_stance,
)
from graphwright.face.api import BackendLike, OptimizedModule, compile, explain

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "explain",
    "graph_break", "is_compile_supported", "is_compiling", "is_dynamo_supported", "list_backends",
    "mark_dynamic",
    "mark_static", "mark_static_address", "maybe_mark_dynamic", "optimize", "reset", "set_stance",
]  # fmt: skip

maybe_mark_dynamic = mark_dynamic


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Without effect: it is for CUDA graphs, which record addresses."""


def is_dynamo_supported() -> bool:
    """Whether this Python can be compiled for; otherwise everything runs eagerly."""
    return hook_problem() is None


def is_compile_supported(device_type: Any) -> bool:
    """Whether functions of tensors on a kind of device can be compiled: the CPU's can."""
    return is_dynamo_supported() and str(device_type) == "cpu"


@functools.cache
def warn_once(msg: str, stacklevel: int = 1) -> None:
    """Warn, the first time that the message comes."""
    warnings.warn(msg, stacklevel=stacklevel + 2)


def optimize(
    backend: BackendLike = "inductor", *, nopython: bool = False, dynamic: bool | None = None,
    disable: bool = False,
) -> Callable[..., Any]:
    """A decorator: `compile(function, fullgraph=nopython, ...)`."""
    return functools.partial(compile, backend=backend, fullgraph=nopython, dynamic=dynamic,
                             disable=disable)
