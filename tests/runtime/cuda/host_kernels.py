"""A provider of kernels that runs every op on the CPU, for tests of what surrounds kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import graphwright as gw
from graphwright.runtime.cuda.kernels import register_kernel_provider
from graphwright.runtime.tensor.generator import draw_on_gpu
from graphwright.runtime.trees import of_kind


def _placed(value: Any, device: Any) -> Any:
    if isinstance(value, gw.Tensor):
        return value.detach().to(device)
    if isinstance(value, list | tuple):
        return of_kind(value, [_placed(item, device) for item in value])
    return value


def _index(args: tuple[Any, ...]) -> int:
    """The GPU of the first tensor, or the one that a device names."""
    for arg in args:
        for item in arg if isinstance(arg, list | tuple) else (arg,):
            if isinstance(item, gw.Tensor) and item.is_cuda:
                return item.get_device()
    named = next(arg for arg in args if isinstance(arg, gw.device))
    return gw.cuda.current_device() if named.index is None else named.index


def run(op: Any, args: tuple[Any, ...]) -> Any:
    """The op's result, whose random numbers are draws of the GPU's generator."""
    steps = op.name.endswith("_") and op.functional is None     # may write to any argument
    if steps or (op.eager is None and op.functional is None):
        return NotImplemented
    index = _index(args)
    there, here = gw.device("cuda", index), gw.device("cpu")
    values = [here if isinstance(arg, gw.device) else _placed(arg, here) for arg in args]
    if "generator" in op.names:
        given = args[op.names.index("generator")]
        seed, offset = draw_on_gpu(index, given, 0)
        generator = values[op.names.index("generator")] = gw.Generator()
        generator._set(seed, offset)
        out = op.run(*values)
        draw_on_gpu(index, given, generator._get()[1] - offset)
    else:
        out = op.run(*values)
    if op.is_inplace:
        args[0].detach().copy_(values[0])
        return args[0]
    return _placed(out, there)


@contextmanager
def host_kernels() -> Iterator[None]:
    """Within the block ops that need a kernel run on the CPU."""
    before = register_kernel_provider(run)
    try:
        yield
    finally:
        register_kernel_provider(before)
