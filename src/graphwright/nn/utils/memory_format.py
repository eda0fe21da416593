"""The memory format of convolutions' weights alone."""

from __future__ import annotations

from typing import Any, TypeVar

from graphwright.nn.layers.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from graphwright.nn.module import Module
from graphwright.runtime.errors import require_kind

M = TypeVar("M", bound=Module)


def convert_conv2d_weight_memory_format(module: M, memory_format: Any) -> M:
    """Order the memory of the weights of 2-dimensional convolutions in `module`."""
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: M, memory_format: Any) -> M:
    """Order the memory of the weights of 3-dimensional convolutions in `module`."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: M, kinds: tuple[type, ...], memory_format: Any) -> M:
    require_kind("convert_conv_weight_memory_format", "module", module, Module)
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().contiguous(memory_format=memory_format)
    return module
