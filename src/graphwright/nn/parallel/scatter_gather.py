"""`nn.parallel.scatter_gather`: parts of batches on several GPUs, of which there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphwright.compat.absent_devices import refusal
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.device import device
from graphwright.runtime.tensor.tensor import Tensor

__all__ = ["gather", "scatter", "scatter_kwargs"]

scatter = scatter_kwargs = refusal("cuda")


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """Join outputs along `dim` on the CPU: tensors, and those in lists, tuples and mappings.

    target_device: "cpu", or -1. Raises AssertionError for a GPU, ValueError for mappings with
    different keys.
    """
    if target_device != -1 and device(target_device).type != "cpu":
        scatter()
    first = outputs[0]
    if isinstance(first, Tensor):
        return ops.cat([t.unsqueeze(0) if t.ndim == 0 else t for t in outputs], dim)
    if first is None:
        return None
    if isinstance(first, Mapping):
        if any(len(first) != len(other) for other in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)(  # type: ignore[call-arg]
            (key, gather([output[key] for output in outputs], target_device, dim))
            for key in first
        )
    joined = [gather(parts, target_device, dim) for parts in zip(*outputs, strict=True)]
    return type(first)(*joined) if hasattr(first, "_fields") else type(first)(joined)
