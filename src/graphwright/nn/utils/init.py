"""Making modules without drawing initial values."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from graphwright.nn.module import Module
from graphwright.runtime.ops import functions as ops


def skip_init(module_cls: Callable[..., Module], *args: Any, **kwargs: Any) -> Module:
    """`module_cls(*args, **kwargs)` with uninitialised parameters and buffers.

    It is built on the meta device, where drawing costs nothing. RuntimeError for what is no
    module or does not take `device`.
    """
    if not issubclass(module_cls, Module):  # type: ignore[arg-type]
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    make: Callable[..., Module] = module_cls
    module = make(*args, **kwargs, device="meta")

    def materialise(tensor: Any) -> Any:
        return ops.empty(tuple(tensor.shape), dtype=tensor.dtype, device=device)

    return module._apply(materialise)
