"""The one door: every op passes `dispatch(op, args)`.

Fixed order: autocast, autograd, trace, then the fake or the real kernel. `args` is the fully
bound positional tuple in schema order. Later layers hang themselves in through `HOOKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops.table import Op

_flags = _core.dispatch_flags

GRAD, MODES, FAKE, OTHER_DEVICE = 1, 2, 4, 8
TRACE, AUTOCAST, INFERENCE, COMPILING = 1, 2, 4, 8


class Hooks:
    """Callables that other modules of the runtime provide when they are imported."""

    __slots__ = ("autocast", "fake_kernel", "record", "record_inplace")

    def __init__(self) -> None:
        self.autocast: Callable[[Op, tuple[Any, ...]], tuple[Any, ...]] | None = None
        self.fake_kernel: Callable[[Op, tuple[Any, ...]], Any] | None = None
        self.record: Callable[[Op, tuple[Any, ...], int], Any]
        self.record_inplace: Callable[[Op, tuple[Any, ...], int], Any]


HOOKS = Hooks()


def dispatch(op: Op, args: tuple[Any, ...]) -> Any:
    """Run `op` on `args`; tensors among them decide how. Raises what the op's rules raise."""
    flags = _flags(args)
    try:
        if not flags:
            return op.run(*args)
        return _dispatch_modes(op, args, flags)
    except (AttributeError, TypeError):
        check_types(op, args)
        plain = _plain_numbers(op, args)
        if plain is None:
            raise
    return dispatch(op, plain)


def _dispatch_modes(op: Op, args: tuple[Any, ...], flags: int) -> Any:
    if flags & MODES and _core.modes() & AUTOCAST and HOOKS.autocast is not None:
        args = HOOKS.autocast(op, args)
    if flags & GRAD and op.vjp is None and op.functional is None and op.decompose is not None:
        return op.decompose(*args)
    if flags & GRAD and op.differentiable:
        if op.is_inplace:
            return HOOKS.record_inplace(op, args, flags)
        return HOOKS.record(op, args, flags)
    return below_autograd(op, args, flags)


def below_autograd(op: Op, args: tuple[Any, ...], flags: int) -> Any:
    """Trace, or run the fake or the real kernel."""
    if flags & MODES:
        tracer = _core.tracer()
        if tracer is not None:
            out = tracer.record(op, args)
            if out is not NotImplemented:
                return out
            if op.decompose is None:
                raise NotImplementedError(f"{op.name}: refused by the tracer, no decomposition")
            return op.decompose(*args)
    if flags & FAKE:
        if op.meta is None and op.functional is None:
            if op.decompose is None:
                raise NotImplementedError(f"{op.name}: no shape rule")
            return op.decompose(*args)
        assert HOOKS.fake_kernel is not None
        return HOOKS.fake_kernel(op, args)
    if flags & OTHER_DEVICE:
        raise NotImplementedError(
            f"{op.name}: no kernel for {', '.join(_devices(args)) or 'this device'}"
        )
    return op.run(*args)


def _devices(args: tuple[Any, ...]) -> list[str]:
    return sorted({str(a.device) for a in args if isinstance(a, TensorBase)})


_NUMBER = (int, float)


def _plain_numbers(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """`args` with NumPy scalars and subclasses of numbers as plain ones; None if there are none.

    Kernels test exact types; this is tried after one has failed.
    """
    values = list(args)
    for index, _ in op.tensor_slots:
        item = values[index]
        if type(item) in (int, float, bool) or isinstance(item, TensorBase):
            continue
        if hasattr(item, "dtype") and hasattr(item, "item") and not getattr(item, "shape", 1):
            values[index] = item.item()
        elif isinstance(item, _NUMBER):
            values[index] = float(item) if isinstance(item, float) else int(item)
    changed = any(a is not b for a, b in zip(values, args, strict=True))
    return tuple(values) if changed else None


def check_types(op: Op, args: tuple[Any, ...]) -> None:
    """Raise TypeError naming the argument that is no tensor where the schema wants one."""
    for index, is_list in op.tensor_slots:
        param, value = op.schema.params[index], args[index]
        optional = param.type.endswith("?")
        values = value if is_list and isinstance(value, list | tuple) else (value,)
        for item in values:
            if isinstance(item, TensorBase) or (item is None and optional):
                continue
            if param.type.startswith("Operand") and isinstance(item, _NUMBER):
                continue
            scalar = hasattr(item, "__index__") or hasattr(item, "dtype")
            if param.type.startswith("Operand") and scalar and not getattr(item, "shape", ()):
                continue
            expected = "Tensor or number" if param.type.startswith("Operand") else "Tensor"
            raise TypeError(
                f"{op.name}(): argument '{param.name}' must be {expected}, "
                f"not {type(item).__name__}"
            )


__all__ = ["HOOKS", "below_autograd", "check_types", "dispatch"]
