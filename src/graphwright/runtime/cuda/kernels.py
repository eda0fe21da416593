"""What runs ops on tensors of GPUs.

Views are made of metadata, and what the driver can do runs here: copies, and memory set to one
value. All else goes to the kernel provider, which a later layer registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.common_device import INDEXED, tensors_of
from graphwright.runtime.cuda import devices, fallbacks, interop, transfers
from graphwright.runtime.dispatch import HOOKS, dispatch
from graphwright.runtime.fake.meta import is_dense, view_by_rule
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.indexing.advanced_indexing import without_masks
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.generator import CUDA_GENERATORS, Generator
from graphwright.runtime.tensor.tensor import Tensor

__all__ = [
    "create", "devices", "interop", "register_kernel_provider", "run", "transfers",
]

Kernel = Callable[[Op, tuple[Any, ...]], Any]


def register_kernel_provider(provider: Kernel | None) -> Kernel | None:
    """Have `provider(op, args)` run the ops that need a kernel.

    Args:
        provider: gives the result for the op's bound arguments, of which one tensor or more lie
            on one GPU; NotImplemented where it has no kernel. None registers nobody.

    Returns: the one before.
    """
    before, HOOKS.gpu_kernel = HOOKS.gpu_kernel, provider
    return before


# -- what the driver does


def _element(value: Any, dtype: Any) -> bytes:
    """The bytes of a number as an element of a dtype. Raises RuntimeError if it does not fit."""
    data: bytes = ops.full((), value, dtype=dtype, device=Device("cpu"))._nd.tobytes()
    return data


def _filled(out: Any, value: Any) -> None:
    """Set all elements of a dense tensor; what the driver has no pattern for is copied."""
    number = value.item() if isinstance(value, TensorBase) else value
    if not _core.cuda_fill(out, _element(number, out.dtype)):
        shape = tuple(out.shape)
        transfers.copy_into(out, ops.full(shape, number, dtype=out.dtype, device=Device("cpu")),
                            staged=True)


def create(op: Op, args: tuple[Any, ...], device: Device) -> Any:
    """A new tensor on a GPU, by an op that makes one; a provider is given the device's index."""
    place, at = devices.placed(device), op.names.index("device")
    args = (*args[:at], place, *args[at + 1:])
    out = _made(op, args, place)
    return _provided(op, args) if out is NotImplemented else out


def _made(op: Op, args: tuple[Any, ...], device: Device) -> Any:
    if op.name not in _FILLED and op.name not in _UNFILLED:
        return NotImplemented
    assert op.meta is not None
    spec = op.meta(*args)
    out = transfers.empty(spec.shape, spec.strides, spec.dtype, device)
    if op.name in _FILLED:
        _filled(out, args[1])
    return out


_UNFILLED = frozenset({"empty", "empty_strided"})
_FILLED = frozenset({"full", "full_like"})


def _clone(staged: bool) -> Kernel:
    def clone(op: Op, args: tuple[Any, ...]) -> Any:
        assert op.meta is not None
        input, spec = args[0], op.meta(*args)
        out = transfers.empty(spec.shape, spec.strides, spec.dtype, input.device)
        return out if transfers.copy_into(out, input, staged=staged) else NotImplemented

    return clone


def _copy(staged: bool) -> Kernel:
    def copy(op: Op, args: tuple[Any, ...]) -> Any:
        out, source = args
        assert op.functional is not None and op.functional.meta is not None
        op.functional.meta(out, source)             # whether it broadcasts
        source = ops.expand(source.detach(), tuple(out.shape))
        if not transfers.copy_into(out, source, staged=staged):
            return NotImplemented
        _core.bump_version(out)
        return out

    return copy


def _fill_in_place(op: Op, args: tuple[Any, ...]) -> Any:
    out = args[0]
    if not is_dense(out):
        return NotImplemented
    if op.functional is not None and op.functional.meta is not None:
        op.functional.meta(*args)                   # what the number has to be
    _filled(out, args[1] if len(args) > 1 else 0)
    _core.bump_version(out)
    return out


def _move(op: Op, args: tuple[Any, ...]) -> Any:
    return op.run(*args)


DRIVER: dict[str, Kernel] = {
    **dict.fromkeys(("clone", "contiguous"), _clone(staged=False)),
    "copy_": _copy(staged=False),
    "fill_": _fill_in_place,
    "zero_": _fill_in_place,
    "to_device": _move,
}
"""Ops that the driver runs, where it can; NotImplemented for layouts that need a kernel."""
STAGED: dict[str, Kernel] = {
    **dict.fromkeys(("clone", "contiguous"), _clone(staged=True)),
    "copy_": _copy(staged=True),
}
"""What runs through main memory where the provider has no kernel."""


def _provided(op: Op, args: tuple[Any, ...]) -> Any:
    """By the provider, by the op's parts, or on the CPU."""
    out = NotImplemented if HOOKS.gpu_kernel is None else HOOKS.gpu_kernel(op, args)
    if out is NotImplemented and op.name in STAGED:
        out = STAGED[op.name](op, args)
    if out is not NotImplemented:
        return out
    return _on_cpu(op, args) if op.decompose is None else op.decompose(*args)


def _mapped(value: Any, function: Callable[[Any], Any]) -> Any:
    if isinstance(value, list | tuple):
        return type(value)([_mapped(item, function) for item in value])
    return function(value)


def _device_of(op: Op, args: tuple[Any, ...]) -> Device:
    """The GPU that an op runs on."""
    on_gpu = [tensor.device for _, tensor in tensors_of(op, args) if tensor.is_cuda]
    named = [arg for arg in args if isinstance(arg, Device)]
    return devices.placed([*on_gpu, *named][0])


def _on_cpu(op: Op, args: tuple[Any, ...]) -> Any:
    """The result of an op without a kernel, computed in main memory and copied to the GPU.

    Raises: NotImplementedError where such calls are to be refused.
    """
    fallbacks.count(op.name)
    place = _device_of(op, args)
    assert place.index is not None
    stream: Generator = CUDA_GENERATORS.of(place.index)
    drawn = Generator()

    def here(value: Any) -> Any:
        nonlocal stream
        if isinstance(value, TensorBase):
            return transfers.to_host(value) if value.is_cuda else value
        if isinstance(value, Generator):
            stream = value
            return drawn
        return Device("cpu") if isinstance(value, Device) else value

    values: list[Any] = [
        drawn if arg is None and name == "generator" else _mapped(arg, here)
        for name, arg in zip(op.names, args, strict=False)]
    drawn._set(*stream._get())
    result = dispatch(op, tuple(values))
    stream._set(*drawn._get())
    if op.is_inplace:
        return ops.copy_(args[0], values[0])
    return _mapped(result, lambda x: x.to(place) if isinstance(x, Tensor) else x)


def _beside(target: Any, index: Any) -> Any:
    """An index, on the GPU of what it indexes."""
    return index.to(target.device) if isinstance(index, Tensor) else index


def run(op: Op, args: tuple[Any, ...]) -> Any:
    """An op's result where one of its tensors is on a GPU.

    Raises:
        RuntimeError: the GPU fails.
        NotImplementedError: there is no kernel, and ops are not to run on the CPU.
    """
    writes = op.name.endswith("_") and isinstance(args[0], TensorBase)
    if writes and args[0]._storage.readonly:
        raise RuntimeError(f"{op.name}: the memory of the tensor is read-only")
    if op.name in INDEXED:
        indices = without_masks(tuple(args[1]))
        args = (args[0], [_beside(args[0], index) for index in indices], *args[2:])
    out = _without_provider(op, args)
    return _provided(op, args) if out is NotImplemented else out


def _without_provider(op: Op, args: tuple[Any, ...]) -> Any:
    """What metadata and the driver give; NotImplemented for ops that need a kernel."""
    kernel = DRIVER.get(op.name)
    if kernel is not None:
        return kernel(op, args)
    if op.kind is Kind.VIEW:
        return view_by_rule(op, args)
    if op.name == "where" and args[1] is None and args[2] is None:
        return ops.nonzero(args[0], as_tuple=True)
    if op.name in ("empty_like", "full_like"):
        given = args[op.names.index("device")]
        place = args[0].device if given is None else Device(given)
        return _like(op, args, place)
    return NotImplemented


def _like(op: Op, args: tuple[Any, ...], place: Device) -> Any:
    """What is made like a tensor on a GPU, of which a device beside them needs the layout alone.
    """
    if place.type == "cuda":
        return op.decompose(*args) if op.meta is None and op.decompose is not None else _made(
            op, args, devices.placed(place))
    strides = transfers.kept_strides(args[0])
    model = _core.meta(Tensor, args[0].shape, strides, args[0].dtype, Device("meta"))
    return dispatch(op, (model, *args[1:-1], place))
