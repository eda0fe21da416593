"""What autocast does to an op: its floating arguments are cast as `policy` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.amp import policy
from graphwright.amp.state import UNCACHED, keep_cast, kept_cast, lower_dtype
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
    16-bit dtypes are put together.
    """
    if op.is_inplace or op.name in policy.AS_GIVEN:
        return dispatch_as_given(op, args)
    wanted = _dtype_for(op, args)
    if wanted is None:
        return NotImplemented
    return dispatch_as_given(op, _cast_all(op, args, wanted))


def _dtype_for(op: Op, args: Args) -> Any:
    """The dtype that the op runs in; None where that is its arguments' own."""
    name = op.name
    if name in policy.LOWER:
        return lower_dtype(_core.modes())
    if name in policy.FLOAT32 or _holds(policy.FLOAT32_WHERE.get(name), args):
        return dtypes.float32
    return _widest(op, args) if name in policy.WIDEST else None


def _holds(condition: Callable[[Args], bool] | None, args: Args) -> bool:
    return condition is not None and condition(args)


def _is_cast(value: Any) -> bool:
    """Whether autocast changes the value's dtype at all."""
    return (
        isinstance(value, TensorBase)
        and value.dtype.is_floating_point
        and value.dtype is not dtypes.float64
        and value.device.type == "cpu"
    )


def _widest(op: Op, args: Args) -> Any:
    lower = lower_dtype(_core.modes())
    found = {t.dtype for t in _tensors(op, args) if _is_cast(t)}
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


def _cast_all(op: Op, args: Args, dtype: Any) -> Args:
    values = list(args)
    for index, is_list in op.tensor_slots:
        value = values[index]
        if is_list and isinstance(value, list | tuple):
            values[index] = tuple([_cast(item, dtype) for item in value])
        else:
            values[index] = _cast(value, dtype)
    return tuple(values)


def _cast(value: Any, dtype: Any) -> Any:
    if not _is_cast(value) or value.dtype is dtype:
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
