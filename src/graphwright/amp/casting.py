"""What autocast does to an op: its floating arguments are cast as the device's policy says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.amp.policy import BY_DEVICE, Policy
from graphwright.amp.state import DEVICES, UNCACHED, keep_cast, kept_cast, lower_dtype
from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import dispatch_as_given
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op
from graphwright.runtime.tensor import dtypes

Args = tuple[Any, ...]


def run(op: Op, args: Args) -> Any:
    """The op on cast arguments, without autocast inside; NotImplemented where no rule says so.

    An in-place op runs on its arguments as they are. RuntimeError where tensors of several
    16-bit dtypes are put together, and for an op that is refused.
    """
    kind = _kind(op, args)
    modes = _core.modes()
    if not modes & DEVICES[kind].on:
        return NotImplemented
    rules, lower = BY_DEVICE[kind], lower_dtype(modes, kind)
    if op.is_inplace or op.name in rules.as_given:
        return dispatch_as_given(op, args)
    if op.name in rules.refused:
        raise RuntimeError(f"{op.name}: {rules.refused[op.name]}")
    wanted = _dtype_for(rules, op, args, lower, kind)
    if wanted is None:
        return NotImplemented
    return dispatch_as_given(op, _cast_all(op, args, wanted, kind))


def _kind(op: Op, args: Args) -> str:
    """The kind of device that an op runs on: a GPU where one of its tensors is there."""
    on_gpu = any(isinstance(t, TensorBase) and t.device.type == "cuda" for t in _tensors(op, args))
    return "cuda" if on_gpu else "cpu"


def _dtype_for(rules: Policy, op: Op, args: Args, lower: Any, kind: str) -> Any:
    """The dtype that the op runs in; None where that is its arguments' own."""
    name = op.name
    if name in rules.lower:
        return lower
    if name in rules.float32 or _holds(rules.float32_where.get(name), args):
        return dtypes.float32
    if name in rules.float32_unless_given:
        given = args[op.names.index("dtype")] if "dtype" in op.names else None
        return dtypes.float32 if given is None else None
    return _widest(op, args, lower, kind) if name in rules.widest else None


def _holds(condition: Callable[[Args], bool] | None, args: Args) -> bool:
    return condition is not None and condition(args)


def _is_cast(value: Any, kind: str) -> bool:
    """Whether autocast of a kind of device changes the value's dtype at all."""
    return (
        isinstance(value, TensorBase)
        and value.dtype.is_floating_point
        and value.dtype is not dtypes.float64
        and value.device.type == kind
    )


def _widest(op: Op, args: Args, lower: Any, kind: str) -> Any:
    found = {t.dtype for t in _tensors(op, args) if _is_cast(t, kind)}
    if dtypes.float32 in found:
        return dtypes.float32
    if found - {lower}:
        names = ", ".join(sorted(dtype.name for dtype in found))
        raise RuntimeError(f"{op.name}: tensors of {names} under autocast to {lower.name}")
    return lower


def _tensors(op: Op, args: Args) -> list[Any]:
    found: list[Any] = []
    for index, is_list in op.tensor_slots:
        value = args[index]
        found += value if is_list and isinstance(value, list | tuple) else (value,)
    return found


def _cast_all(op: Op, args: Args, dtype: Any, kind: str) -> Args:
    values = list(args)
    for index, is_list in op.tensor_slots:
        value = values[index]
        if is_list and isinstance(value, list | tuple):
            values[index] = tuple([_cast(item, dtype, kind) for item in value])
        else:
            values[index] = _cast(value, dtype, kind)
    return tuple(values)


def _cast(value: Any, dtype: Any, kind: str) -> Any:
    if not _is_cast(value, kind) or value.dtype is dtype:
        return value
    if dtype is dtypes.float32 or not _is_weight(value):
        return ops.to_dtype(value, dtype)
    cast = kept_cast(value)
    if cast is None or cast.dtype is not dtype:
        cast = ops.to_dtype(value, dtype)
        keep_cast(value, cast)
    return cast


def _is_weight(value: Any) -> bool:
    """Whether a cast is worth keeping: of a leaf that is trained, while gradients are recorded."""
    return (
        value.requires_grad
        and value.is_leaf
        and value._base is None
        and value.dtype is dtypes.float32
        and _core.grad_enabled()
        and not _core.modes() & UNCACHED
    )
