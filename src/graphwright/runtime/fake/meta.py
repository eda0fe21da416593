"""The meta device: tensors with shapes and dtypes but no data, and what ops give for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.common_device import results_device
from graphwright.runtime.dispatch import HOOKS, SOME, on_cuda, overlap_text, steps
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.ops.tensor_spec import TensorSpec, ViewSpec
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.promotion import can_cast
from graphwright.runtime.tensor.tensor import Tensor


def meta_kernel(op: Op, args: tuple[Any, ...]) -> Any:
    """What `op` gives for tensors of the meta device: tensors without data of that device."""
    if op.name.endswith("_"):
        return mutate(op, args)
    if op.meta is None:
        if op.decompose is None:
            raise NotImplementedError(f"{op.name}: the result's shape depends on data")
        return op.decompose(*args)
    spec = op.meta(*args)
    if type(spec) is ViewSpec:
        return _view(op, args[0], spec)
    place = results_device(op, args)
    if type(spec) is TensorSpec:
        device = place or spec.device
        if device.type == "meta":
            return _core.meta(Tensor, spec.shape, spec.strides, spec.dtype, device)
        on_gpu = device.type == "cuda"          # as the argument `device` of a creation op has it
        return on_cuda().create(op, args, device) if on_gpu else op.run(*args)
    return tuple(
        _core.meta(Tensor, s.shape, s.strides, s.dtype, place or s.device) for s in spec)


def _view(op: Op, source: Any, spec: ViewSpec) -> Any:
    read_as = () if spec.dtype is None else (spec.dtype,)
    offset = source.storage_offset() + spec.offset
    view = _core.as_view(Tensor, source, spec.shape, spec.strides, offset, *read_as)
    return view if op.differentiable else _core.detach(Tensor, view)


def view_by_rule(op: Op, args: tuple[Any, ...]) -> Any:
    """The view that an op gives, by its shape rule alone; NotImplemented for one without."""
    spec = NotImplemented if op.meta is None else op.meta(*args)
    return _view(op, args[0], spec) if type(spec) is ViewSpec else NotImplemented


def mutate(op: Op, args: tuple[Any, ...]) -> Any:
    """What an in-place op gives where there is no data to change: its tensor, checked.

    An in-place op that refuses more than its functional form has a shape rule of its own.
    """
    target = args[0]
    if len(args) > 1 and isinstance(args[1], Tensor) and _partly_shared(target, args[1]):
        raise RuntimeError(overlap_text(SOME))
    meta = op.meta or (op.functional and op.functional.meta)
    if meta is not None:
        spec = meta(*args)
        if spec.shape != target.shape:
            raise RuntimeError(
                f"{op.name}: output with shape {list(target.shape)} doesn't match the broadcast "
                f"shape {list(spec.shape)}"
            )
        if not can_cast(spec.dtype, target.dtype):
            raise RuntimeError(
                f"{op.name}: result type {spec.dtype.name} can't be cast to the desired output "
                f"type {target.dtype.name}"
            )
    _core.bump_version(target)
    return target


def _partly_shared(target: Any, other: Any) -> bool:
    """Whether two dense tensors have some elements in common, but not all in the same places."""
    if target is other or target._storage is not other._storage:
        return False
    if not (target.numel() and other.numel() and is_dense(target) and is_dense(other)):
        return False
    first, second = target.storage_offset(), other.storage_offset()
    if first == second and target.numel() == other.numel():
        return steps(target) != steps(other)
    return bool(first < second + other.numel() and second < first + target.numel())


def is_dense(tensor: Any) -> bool:
    """Whether elements lie side by side without gaps, in whatever order of the dims."""
    steps = list(zip(tensor.shape, tensor.stride(), strict=True))
    if any(size > 1 and stride == 0 for size, stride in steps):
        return False
    return bool(1 + sum((size - 1) * stride for size, stride in steps) == tensor.numel())


def minding_device(op: Op, run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, which a creation op calls where its argument `device` is the CPU."""
    creates = (op.kind in (Kind.CREATION, Kind.RANDOM) and op.meta is not None) or (
        op.kind is Kind.COMPOSITE and op.eager is not None)
    if not creates or "device" not in op.names:
        return run
    place = op.names.index("device")

    def create(*args: Any) -> Any:
        where = None if args[place] is None else Device(args[place])
        if where is not None and where.type == "cuda" and _core.cuda_absence() is None:
            return on_cuda().create(op, args, where)
        if where is None or where.type != "meta":
            return run(*args)
        return meta_kernel(op, args)

    return create


def install() -> None:
    """Let dispatch know of the meta device."""
    HOOKS.meta_kernel = meta_kernel
