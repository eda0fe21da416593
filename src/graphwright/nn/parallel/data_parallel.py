"""`DataParallel` on a machine without GPUs: the module itself, under another name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.nn.module import Module

__path__: list[str] = []


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """`module(*inputs, **module_kwargs)`, as there are no GPUs to share the batch."""
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))


class DataParallel(Module):
    """Calls `module`, as PyTorch's does where there are no GPUs; its parameters are `module.*`."""

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
