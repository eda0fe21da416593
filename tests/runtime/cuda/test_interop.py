"""Memory of GPUs lent to other libraries, and borrowed from them: who waits, and who keeps it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.tensor import dtypes

pytestmark = pytest.mark.usefixtures("gpu")
EVERY = [dtype for dtype in vars(dtypes).values() if isinstance(dtype, dtypes.dtype)]


def numbers(device: str = "cuda") -> Any:
    return gw.arange(24, dtype=gw.float32).reshape(4, 6).to(device)


class Lender:
    """An object of another library over a tensor's memory, with some of the interface changed."""

    def __init__(self, tensor: Any, **changed: Any) -> None:
        self.tensor, self.changed = tensor, changed

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.tensor.__cuda_array_interface__, **self.changed}


# -- DLPack


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
@pytest.mark.parametrize("view", [
    lambda x: x, lambda x: x.t(), lambda x: x[1:, ::2], lambda x: x[2, 3], lambda x: x[:0],
], ids=["dense", "transposed", "strided", "one element", "no elements"])
def test_capsules_share_the_memory(view: Callable[[Any], Any], device: str, gpu: Any) -> None:
    gpu.set("legacy", 1)        # which capsules are for where no stream is named
    x = view(numbers(device))
    assert x.__dlpack_device__() == (2, x.get_device())
    for y in (gw.from_dlpack(x), gw.from_dlpack(gw.to_dlpack(x))):
        assert y.device == x.device and (y.data_ptr() == x.data_ptr() or not x.numel())
        assert y.shape == x.shape and y.tolist() == x.tolist()
        y.copy_(gw.full(tuple(y.shape), 7.0))
        assert x.tolist() == y.tolist() == gw.full(tuple(y.shape), 7.0).tolist()


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_capsules_of_every_dtype(dtype: gw.dtype) -> None:
    x = gw.tensor([1, 0]).to(dtype).cuda()
    y = gw.from_dlpack(x)
    assert y.dtype is dtype and y.tolist() == x.tolist()


def test_capsules_on_another_device_are_copies() -> None:
    x = numbers()
    for device in ("cpu", "cuda:1"):
        moved = gw.from_dlpack(x, device=device)
        assert moved.device == gw.device(device) and moved.tolist() == x.tolist()
        with pytest.raises(BufferError, match=f"on cuda:0 is not on {device}, and copy is False"):
            gw.from_dlpack(x, device=device, copy=False)
    assert gw.from_dlpack(x, device="cuda", copy=False).data_ptr() == x.data_ptr()
    assert gw.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    assert gw.from_dlpack(np.ones(2), device="cuda").device == gw.device("cuda:0")
    on_host = gw.from_dlpack(x.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    assert on_host.is_cpu and on_host.tolist() == x.tolist()


@pytest.mark.parametrize(("how", "error", "text"), [
    ({"stream": 2}, BufferError, "stream 2 is not supported"),
    ({"stream": 0}, BufferError, "stream 0 is not supported"),
    ({"stream": "s"}, TypeError, "must be an int or None, not str"),
    ({"dl_device": (2, 1)}, BufferError, r"from device \(2, 0\) to \(2, 1\)"),
    ({"dl_device": (1, 0), "copy": False}, BufferError, r"from device \(2, 0\) to \(1, 0\)"),
])
def test_what_is_not_exported(how: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        numbers().__dlpack__(**how)
    with pytest.raises(BufferError, match="require gradient"):
        numbers().requires_grad_().__dlpack__()


def read_in(stream: Any, tensor: Any) -> list[float]:
    """The elements, as another library's stream finds them."""
    with gw.cuda.stream(stream):
        return list(tensor.detach().cpu().tolist())


def test_the_consumer_s_stream_waits_for_the_current_one() -> None:
    """The queues are late: what a stream does not wait for has not run when it does."""
    other = gw.cuda.Stream()
    for waits in (True, False):
        x = gw.zeros(3, device="cuda")
        gw.cuda.synchronize()
        x.fill_(5)
        y = gw.from_dlpack(x.__dlpack__(stream=other.cuda_stream if waits else -1))
        assert read_in(other, y) == [5.0 if waits else 0.0] * 3


def test_no_stream_is_the_legacy_one(gpu: Any) -> None:
    gpu.set("legacy", 1)
    legacy = gw.cuda.ExternalStream(1)
    for stream in (None, 1):
        x = gw.zeros(3, device="cuda")
        gw.cuda.synchronize()
        x.fill_(5)
        y = gw.from_dlpack(x.__dlpack__(stream=stream))
        assert read_in(legacy, y) == [5.0] * 3


def test_the_current_stream_waits_for_the_producer_s(gpu: Any) -> None:
    """`from_dlpack` names its own stream, which the producer has wait."""
    x = gw.zeros(3, device="cuda")
    gw.cuda.synchronize()
    with gw.cuda.stream(gw.cuda.Stream()):
        x.fill_(5)
        x.__dlpack__(stream=gw.cuda.default_stream().cuda_stream)
    assert x.tolist() == [5.0] * 3


def test_memory_lives_as_long_as_what_shares_it() -> None:
    before = gw.cuda.memory_allocated()
    x = numbers()
    capsule, y = x.__dlpack__(stream=-1), gw.from_dlpack(x)
    del x
    assert gw.cuda.memory_allocated() > before and y[1, 1].item() == 7.0
    del capsule
    assert gw.cuda.memory_allocated() > before
    del y
    gw.cuda.synchronize()
    assert gw.cuda.memory_allocated() == before


# -- __cuda_array_interface__


def test_the_interface_of_a_tensor() -> None:
    x = numbers()
    assert x.__cuda_array_interface__ == {
        "typestr": "<f4", "shape": (4, 6), "strides": None, "data": (x.data_ptr(), False),
        "version": 3, "stream": gw.cuda.current_stream().cuda_stream}
    assert x.t()[1:].__cuda_array_interface__["strides"] == (4, 24)
    assert x[:0].__cuda_array_interface__["data"] == (0, False)
    assert not hasattr(gw.ones(2), "__cuda_array_interface__")
    assert not hasattr(gw.ones(2).to(gw.float8_e5m2).cuda(), "__cuda_array_interface__")
    with pytest.raises(RuntimeError, match="requires grad"):
        _ = x.requires_grad_().__cuda_array_interface__


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.t(), lambda x: x[1:, ::2],
                                  lambda x: x.bfloat16()], ids=["dense", "transposed", "strided",
                                                                "bfloat16"])
def test_lent_memory_is_shared(view: Callable[[Any], Any], device: str) -> None:
    x = view(gw.arange(24, dtype=gw.float32).reshape(4, 6)).to(device)
    y = gw.as_tensor(Lender(x), device=device)
    assert y.device == x.device and y.dtype is x.dtype and y.data_ptr() == x.data_ptr()
    assert y.stride() == x.stride() and y.tolist() == x.tolist()
    copied = gw.tensor(Lender(x), device=device)
    assert copied.data_ptr() != x.data_ptr() and copied.tolist() == x.tolist()
    assert gw.as_tensor(Lender(x)).is_cpu
    assert gw.as_tensor(Lender(x), dtype=gw.float64).dtype is gw.float64


def test_lent_memory_is_written_first(gpu: Any) -> None:
    """By the stream that the interface names, or the legacy one, which older versions mean."""
    gpu.set("legacy", 1)
    other = gw.cuda.Stream()
    for stream, changed in ((other, {"stream": other.cuda_stream}), (other, {"stream": None}),
                            (gw.cuda.ExternalStream(1), {"version": 2})):
        x = gw.zeros(3, device="cuda")
        gw.cuda.synchronize()
        with gw.cuda.stream(stream):
            x.fill_(5)
        waits = changed.get("stream", 1) is not None
        assert gw.as_tensor(Lender(x, **changed), device="cuda").tolist() == [5.0 * waits] * 3


def test_the_lender_is_kept_until_the_work_is_done() -> None:
    lender = Lender(gw.zeros(1000, device="cuda"))
    gone = weakref.ref(lender)
    y = gw.as_tensor(lender, device="cuda")
    view = y[10:]
    del lender, y
    gc.collect()
    assert gone() is not None and view.numel() == 990
    view.fill_(1)
    del view                    # the stream has not run this yet
    assert gone() is not None
    gw.empty(1, device="cuda")
    assert gone() is not None
    gw.cuda.synchronize()
    assert gone() is None


@pytest.mark.parametrize(("changed", "error", "text"), [
    ({"strides": (24, 3)}, ValueError, "multiples of 4, the size of an element"),
    ({"strides": (-24, 4)}, ValueError, "multiples of 4, the size of an element"),
    ({"typestr": "<M8[s]"}, TypeError, "datetime64"),
    ({"data": (4096, False)}, ValueError, "0x1000 is not in the memory of a GPU"),
])
def test_what_is_not_borrowed(
    changed: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        gw.as_tensor(Lender(numbers(), **changed), device="cuda")


def test_read_only_memory_is_not_written() -> None:
    x = numbers()
    y = gw.as_tensor(Lender(x, data=(x.data_ptr(), True)), device="cuda")
    for write in (lambda: y.copy_(gw.zeros(4, 6)), y.zero_, lambda: y.add_(1)):
        with pytest.raises(RuntimeError, match="the memory of the tensor is read-only"):
            write()
    assert x[0, 1].item() == 1.0


# -- NumPy


def test_arrays_of_a_gpu_s_tensor_are_asked_for() -> None:
    x = numbers().requires_grad_()
    with pytest.raises(TypeError, match=r"can't convert cuda:0 device type tensor to numpy\. Use "
                                        r"Tensor\.cpu\(\) to copy the tensor to host memory"):
        x.numpy()
    array = x.numpy(force=True)
    assert array.tolist() == x.tolist()
    array[:] = 0
    assert x[0, 1].item() == 1.0
