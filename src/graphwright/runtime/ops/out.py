"""`out=`: an op's result written into a tensor of the caller's, as in PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import GRAD, dispatch
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.ops.table import Kind, Op, op
from graphwright.runtime.promotion import can_cast

_copy = op("copy_")


def with_out(op: Op, args: tuple[Any, ...], out: Any) -> Any:
    """Run `op` on its bound arguments, write what it gives into `out` and return `out`.

    `out` has another shape: it is resized, with a UserWarning unless it was empty. Its dtype may
    be another one of a category at least as high. It may share memory with the arguments.

    Raises TypeError where `out` is no tensor (or tuple of as many as the op returns), RuntimeError
    where gradients would be recorded or the result's dtype cannot be cast to that of `out`.
    """
    outs = (out,) if isinstance(out, _core.TensorBase) else out
    if not isinstance(outs, tuple | list):
        raise _no_tensor(op, out)
    for target in outs:
        if not isinstance(target, _core.TensorBase):
            raise TypeError(
                f"{op.name}(): argument 'out' must be tuple of Tensors, but found element of type "
                f"{type(target).__name__}"
            )
    if (_core.dispatch_flags(args) | _core.dispatch_flags(tuple(outs))) & GRAD:
        raise RuntimeError(
            f"{op.name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    result = dispatch(op, _typed_by_out(op, args, outs[0] if outs else None))
    if isinstance(result, _core.TensorBase):
        if outs is out:
            raise _no_tensor(op, out)
        if "exact_out" in op.tags and result.dtype is not out.dtype:
            raise RuntimeError(
                f"{op.name} expects out of dtype {result.dtype.name}, got {out.dtype.name}"
            )
        write_out(op.name, result, out)
        return out
    if outs is not out or len(outs) != len(result):
        raise TypeError(
            f"{op.name}(): argument 'out' must be a tuple of {len(result)} Tensors, not "
            f"{len(outs) if outs is out else type(out).__name__}"
        )
    for part, target in zip(result, outs, strict=True):
        write_out(op.name, part, target)
    return tuple(outs) if type(result) in (tuple, list) else type(result)(*outs)


def _no_tensor(op: Op, out: Any) -> TypeError:
    return TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")


def _typed_by_out(op: Op, args: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
    """Factories, and reductions where it can hold the input, take the dtype of `out`."""
    if out is None or "dtype" not in op.names:
        return args
    index = op.names.index("dtype")
    if args[index] is not None:
        return args
    makes = "factory" in op.tags or op.kind in (Kind.CREATION, Kind.RANDOM)
    if not makes and not (op.kind is Kind.REDUCTION and can_cast(args[0].dtype, out.dtype)):
        return args
    return (*args[:index], out.dtype, *args[index + 1 :])


def write_out(name: str, result: Any, out: Any) -> None:
    """Copy `result` into `out`, which takes its shape."""
    if not can_cast(result.dtype, out.dtype):
        raise RuntimeError(
            f"{name}: result type {result.dtype.name} can't be cast to the desired output type "
            f"{out.dtype.name}"
        )
    if out.shape != result.shape:
        if out.is_fake:
            raise DataDependent(f"{name}: out= of another shape is resized")
        if out.numel() != 0:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out.shape)}, which does not match the required output shape "
                f"{list(result.shape)}. This behavior is deprecated; to reuse a tensor t as the "
                "output, resize it to zero elements before with t.resize_(0).",
                UserWarning,
                stacklevel=4,
            )
        out.resize_(result.shape)
    dispatch(_copy, (out, result))
