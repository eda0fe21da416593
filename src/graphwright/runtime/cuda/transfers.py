"""Copies between the host and GPUs.

What lies in one piece of memory is copied as it is. Other layouts go through dense memory of the
host, where the CPU's kernels rearrange and convert them; so do strided copies on one GPU, for
which no kernel is there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import dispatch, steps
from graphwright.runtime.fake.meta import is_dense
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.strides import preserved_strides
from graphwright.runtime.ops.table import unlisted
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.tensor import Tensor


class _Waiting(threading.local):
    """Whether copies of pinned memory are waited for."""

    wanted = True


_WAITING = _Waiting()


@contextmanager
def non_blocking() -> Iterator[None]:
    """Copies between pinned memory and GPUs return before they are done."""
    before, _WAITING.wanted = _WAITING.wanted, False
    try:
        yield
    finally:
        _WAITING.wanted = before


def kept_strides(tensor: Any) -> Any:
    """The strides of what is made like a tensor."""
    return preserved_strides(tensor.shape, tensor.stride())


def empty(shape: Any, strides: Any, dtype: DType, device: Device) -> Any:
    """A new tensor on a GPU or, for another device, in main memory."""
    if device.type == "cuda":
        assert device.index is not None
        return _core.cuda_empty(Tensor, shape, strides, dtype, device.index)
    return _core.empty_strided(Tensor, shape, strides, dtype)


def _is_same_layout(a: Any, b: Any) -> bool:
    """Whether elements lie in the same order without gaps, so that memory is copied as it is."""
    return a.dtype is b.dtype and steps(a) == steps(b) and is_dense(a)


def _span(tensor: Any) -> Any:
    """All memory from the first element to the last, as a tensor of one dim."""
    last = sum((size - 1) * stride for size, stride in steps(tensor))
    plain = _core.detach(Tensor, tensor)
    return _core.as_view(Tensor, plain, (last + 1,), (1,), tensor.storage_offset())


def to_host(tensor: Any) -> Any:
    """A copy of a tensor in main memory, of its strides where these are dense."""
    tensor, strides = _core.detach(Tensor, tensor), kept_strides(tensor)
    if tensor.numel() == 0 or is_dense(tensor):
        out = _core.empty_strided(Tensor, tensor.shape, strides, tensor.dtype)
        _core.cuda_transfer(out, tensor, True)
        return out
    span = to_host(_span(tensor))
    return ops.clone(_core.as_view(Tensor, span, tensor.shape, tensor.stride(), 0))


def _from_host(out: Any, source: Any) -> None:
    """Write a tensor of main memory to one on a GPU, broadcast and converted."""
    source = source.detach()
    if _is_same_layout(out, source):
        _core.cuda_transfer(out, source, _WAITING.wanted)
    elif is_dense(out):
        staged = _core.empty_strided(Tensor, out.shape, out.stride(), out.dtype)
        ops.copy_(staged, source)
        _core.cuda_transfer(out, staged, True)
    else:                       # the gaps are written as they were
        span = _span(out)
        staged = to_host(span)
        ops.copy_(_core.as_view(Tensor, staged, out.shape, out.stride(), 0), source)
        _core.cuda_transfer(span, staged, True)


def _to_memory(out: Any, source: Any) -> None:
    """Write a tensor on a GPU to one in main memory, broadcast and converted."""
    if _is_same_layout(out, source):
        _core.cuda_transfer(out, source, _WAITING.wanted)
    else:
        ops.copy_(out.detach(), to_host(source))


def copy_into(out: Any, source: Any, *, staged: bool) -> bool:
    """Write `source`, which broadcasts to `out`, where one of them or both are on a GPU.

    Between two GPUs, or on one, False without `staged` for what is no plain copy of memory; and
    always False for another dtype there.
    """
    if out.numel() == 0:
        return True
    if not out.is_cuda:
        _to_memory(out, source)
    elif not source.is_cuda:
        _from_host(out, source)
    elif out.dtype is not source.dtype:
        return False
    elif _is_same_layout(out, source):
        _core.cuda_transfer(out, source, True)
    elif staged:
        _from_host(out, to_host(source))
    else:
        return False
    return True


# -- `to` another device


def _move(input: Any, device: Device, source: Device, wait: bool) -> Any:
    """The elements on another device, one of the two a GPU."""
    strides = kept_strides(input)
    if device.type == "cpu" and not wait:
        out = _core.pinned_empty(Tensor, input.shape, strides, input.dtype)
    else:
        out = empty(input.shape, strides, input.dtype, device)
    if wait:
        copy_into(out, input, staged=True)
    else:
        with non_blocking():
            copy_into(out, input, staged=True)
    return out


TO_DEVICE: Any = unlisted(
    "to_device(Tensor input, device device, device source, bool wait)",
    meta=lambda input, device, source, wait: TensorSpec(
        input.shape, kept_strides(input), input.dtype, device),
    vjp=lambda ctx, grad: grad.to(ctx.source),
    saves=(),
    decompose=None,
    call=lambda *args: dispatch(TO_DEVICE, args),
    eager=_move,
)
"""The copy of a tensor on another device; `source` is the one that its gradient goes to."""


def moved(tensor: Any, dtype: DType, device: Device, wait: bool) -> Any:
    """What `tensor.to(device, dtype)` gives for another device, one of the two a GPU.

    The CPU converts it: before it goes to a GPU, or after it came from one.
    """
    if not tensor.is_cuda and tensor.dtype is not dtype:
        tensor = ops.to_dtype(tensor, dtype)
    out = dispatch(TO_DEVICE, (tensor, device, tensor.device, wait))
    return out if out.dtype is dtype else ops.to_dtype(out, dtype)


def pinned(tensor: Any) -> Any:
    """A copy of a tensor of main memory that is page-locked; itself where it is."""
    if _core.is_pinned(tensor):
        return tensor
    out = _core.pinned_empty(
        Tensor, tensor.shape, kept_strides(tensor), tensor.dtype)
    out.copy_(tensor.detach())
    return out


def grown(tensor: Any, elements: int) -> Any:
    """A flat tensor of so many elements that begins with the bytes of a GPU's tensor's storage."""
    flat = empty((elements,), (1,), tensor.dtype, tensor.device)
    held = tensor._storage.nbytes // tensor.dtype.itemsize
    old = _core.as_view(Tensor, _core.detach(Tensor, tensor), (held,), (1,), 0)
    _core.cuda_transfer(_core.as_view(Tensor, flat, (held,), (1,), 0), old, True)
    return flat
