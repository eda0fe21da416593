"""On which device an op of several tensors runs.

A tensor of the CPU without dims goes as a number with tensors of any device, but in lists. Indices
may be on the CPU, and copies lead from one device to another.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops.table import Op
from graphwright.runtime.tensor.device import cpu
from graphwright.runtime.tensor.device import device as Device

CROSSING = frozenset({"copy", "copy_", "to_device"})
"""Ops whose tensors may be on different devices."""
INDEXED = frozenset({"index", "index_put", "index_put_"})
"""Ops whose indices may be on the CPU."""


def tensors_of(op: Op, args: tuple[Any, ...]) -> list[tuple[str, Any]]:
    """The tensors among an op's arguments, with their names, and in lists, as `name[0]`."""
    found = []
    for name, arg in zip(op.names, args, strict=False):
        if isinstance(arg, TensorBase):
            found.append((name, arg))
        elif isinstance(arg, list | tuple):
            found += [(f"{name}[{number}]", item) for number, item in enumerate(arg)
                      if isinstance(item, TensorBase)]
    return found


def is_number(value: Any) -> bool:
    """Whether a tensor goes with tensors of any device."""
    return not value.ndim and bool(value.device == cpu)


def common_device(op: Op, args: tuple[Any, ...]) -> Device:
    """The one device of an op's tensors; of copies between devices the GPU, or the target's.

    Raises: RuntimeError, with the arguments' names, where tensors are on different devices, or an
        in-place op would write to a number what is computed elsewhere.
    """
    given = tensors_of(op, args)
    if op.name in CROSSING:
        return next((t.device for _, t in given if t.is_cuda), args[0].device)
    if op.name in INDEXED:
        given = _without_indices(op, given)
    placed = [(name, tensor) for name, tensor in given
              if not is_number(tensor) or name.endswith("]")]
    if placed and op.is_inplace and is_number(args[0]):
        placed.insert(0, given[0])
    if len({tensor.device for _, tensor in placed}) > 1:
        where = ", ".join(f"{name} on {tensor.device}" for name, tensor in placed)
        raise RuntimeError(
            f"{op.name}: Expected all tensors to be on the same device, but found at least two "
            f"devices: {where}"
        )
    return placed[0][1].device if placed else cpu


def results_device(op: Op, args: tuple[Any, ...]) -> Device | None:
    """The device of what an op gives, whatever its shape rule says; None where only that knows: of
    copies between devices, and where an argument may name the device.

    Raises: RuntimeError where `common_device` does.
    """
    device = common_device(op, args)
    return None if op.name in CROSSING or "device" in op.names else device


def _without_indices(op: Op, given: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """All but the indices. Raises RuntimeError for indices on another device than the CPU and
    that of what is indexed."""
    home = given[0][1].device
    for name, tensor in given:
        if name.startswith("indices[") and tensor.device not in (cpu, home):
            raise RuntimeError(
                f"{op.name}: indices should be either on cpu or on the same device as the indexed "
                f"tensor ({home}), but {name} is on {tensor.device}"
            )
    return [(name, tensor) for name, tensor in given if not name.startswith("indices[")]
