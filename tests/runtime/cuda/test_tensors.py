"""Tensors on a GPU: copies in all directions, views, creation, and what needs a kernel."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.cuda import transfers
from graphwright.runtime.cuda.kernels import register_kernel_provider
from graphwright.runtime.cuda.transfers import to_host
from graphwright.runtime.tensor import dtypes

pytestmark = pytest.mark.usefixtures("gpu")
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda x: x,
    "transposed": lambda x: x.t(),
    "permuted": lambda x: x.reshape(2, 3, 4).permute(2, 0, 1),
    "every second row": lambda x: x[::2],
    "a column": lambda x: x[:, 1],
    "an offset": lambda x: x[1:3, 2:],
    "broadcast": lambda x: x[0].expand(5, 6),
    "one element": lambda x: x[2, 3],
    "no elements": lambda x: x[:0],
    "beside a dim of one": lambda x: x[:, None, ::3],
}
ALL_DTYPES = [dtype for dtype in vars(dtypes).values() if isinstance(dtype, dtypes.dtype)]


def numbers() -> Any:
    return gw.arange(24, dtype=gw.float32).reshape(4, 6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_there_and_back_in_every_layout(layout: str) -> None:
    x = LAYOUTS[layout](numbers())
    there = x.cuda()
    assert there.device == gw.device("cuda", 0) and there.is_cuda and not there.is_cpu
    assert there.shape == x.shape and gw.equal(there.cpu(), x)
    assert there.stride() == x.clone().stride()
    assert repr(there).replace(", device='cuda:0'", "") == repr(x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_view_of_a_gpu_s_tensor_is_metadata(layout: str) -> None:
    x = numbers()
    there = x.cuda()
    view, expected = LAYOUTS[layout](there), LAYOUTS[layout](x)
    assert view.stride() == expected.stride()
    assert view.storage_offset() == expected.storage_offset()
    assert view.data_ptr() == there.data_ptr() + 4 * view.storage_offset()
    assert view.tolist() == expected.tolist()
    assert gw.equal(view.cpu(), expected) and view.contiguous().is_contiguous()
    assert view.clone().tolist() == expected.tolist()


@pytest.mark.parametrize("shape", [(70_000,), (3, 70_000), (40, 50, 60), (2, 9, 5, 2000)])
def test_a_large_tensor_prints_without_being_copied(shape: tuple[int, ...]) -> None:
    x = gw.arange(gw.Size(shape).numel(), dtype=gw.float32).reshape(shape)
    there = x.cuda()
    for edge in (3, 1, 0):
        gw.set_printoptions(edgeitems=edge)
        try:
            assert repr(there).replace(", device='cuda:0'", "") == repr(x)
            assert repr(there.t() if x.ndim == 2 else there).count("device='cuda:0'") == 1
        finally:
            gw.set_printoptions(profile="default")
    with pytest.MonkeyPatch.context() as patch:
        copied: list[int] = []
        patch.setattr(transfers, "to_host", lambda tensor: (
            copied.append(tensor.numel()), to_host(tensor))[1])
        assert str(there) and sum(copied) < x.numel()


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "broadcast"])
@pytest.mark.parametrize("source", ["cpu", "cuda", "cuda:1"])
def test_writes_through_a_view(layout: str, source: str) -> None:
    there, x = numbers().cuda(), numbers()
    given = LAYOUTS[layout](-numbers() - 1)
    LAYOUTS[layout](there).copy_(given.to(source))
    LAYOUTS[layout](x).copy_(given)
    assert gw.equal(there.cpu(), x)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "broadcast"])
def test_reads_into_a_view_of_the_host(layout: str) -> None:
    x, expected = numbers(), numbers()
    LAYOUTS[layout](x).copy_(LAYOUTS[layout](-numbers()).cuda())
    LAYOUTS[layout](expected).copy_(LAYOUTS[layout](-numbers()))
    assert gw.equal(x, expected)


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_every_dtype(dtype: gw.dtype) -> None:
    x = gw.tensor([[0, 1], [1, 2]]).to(dtype)
    there = x.cuda()
    assert there.dtype is dtype and there.cpu().tolist() == x.tolist()
    filled = gw.full((3, 2), 1, dtype=dtype, device="cuda")
    assert filled.tolist() == gw.full((3, 2), 1, dtype=dtype).tolist()
    assert there.fill_(1).tolist() == gw.ones(2, 2).to(dtype).tolist()
    assert there.zero_().tolist() == gw.zeros(2, 2).to(dtype).tolist()


def test_the_cpu_converts_what_goes_and_what_comes() -> None:
    x = gw.tensor([1.5, -2.5])
    assert x.to("cuda", gw.int32).tolist() == [1, -2]
    there = x.cuda()
    assert there.to("cpu", gw.int64).tolist() == [1, -2]
    assert gw.zeros(2, dtype=gw.int32, device="cuda").copy_(x).tolist() == [1, -2]
    assert gw.zeros(2, dtype=gw.int32).copy_(there).tolist() == [1, -2]


def test_pageable_memory_has_been_read_on_return() -> None:
    """The stream is late: a copy that the driver made of the host's memory itself would see it."""
    x = gw.arange(3 << 20)                  # 24 MiB: in pieces
    there = x.cuda()
    x.fill_(-1)
    back = there.cpu()
    assert back[0] == 0 and back[-1] == (3 << 20) - 1 and gw.equal(back, gw.arange(3 << 20))


def test_pinned_memory_is_copied_while_the_program_goes_on() -> None:
    x = gw.arange(4).pin_memory()
    assert x.is_pinned() and x[1:].is_pinned() and x.pin_memory() is x
    assert not gw.arange(4).is_pinned() and x.numpy().tolist() == [0, 1, 2, 3]
    there = x.to("cuda", non_blocking=True)
    x[0] = 9                                # before the copy, which has not run
    assert there.tolist() == [9, 1, 2, 3]
    there = x.cuda()
    x[0] = 0
    assert there.tolist() == [9, 1, 2, 3]
    back = there.to("cpu", non_blocking=True)
    assert back.is_pinned()
    gw.cuda.synchronize()
    assert back.tolist() == [9, 1, 2, 3]
    assert not there.cpu().is_pinned()


def test_pinned_memory_is_used_again_when_the_copies_are_done() -> None:
    address = [gw.zeros(1000).pin_memory().data_ptr() for _ in range(2)]
    assert address[0] == address[1]
    x = gw.ones(1000).pin_memory()
    there = x.to("cuda", non_blocking=True)
    busy = x.data_ptr()
    del x
    others = [gw.zeros(1000).pin_memory() for _ in range(2)]
    assert busy not in [other.data_ptr() for other in others]
    assert there.tolist() == [1.0] * 1000
    gw.cuda.synchronize()
    assert gw.zeros(1000).pin_memory().data_ptr() == busy


def test_between_gpus() -> None:
    x = numbers().cuda()
    other = x.cuda(1)
    assert other.get_device() == 1 and gw.equal(other.cpu(), numbers())
    other.fill_(3)
    x.copy_(other)
    assert x[0, 0].item() == 3.0
    with gw.cuda.device(1):
        assert x.cuda().get_device() == 1 and gw.zeros(1, device="cuda").get_device() == 1


def test_nothing_is_copied_where_nothing_changes() -> None:
    x = numbers().cuda()
    for same in (x.cuda(), x.to("cuda"), x.to(x.device), x.to("cuda:0"), x.to(0), x.to(x)):
        assert same is x
    assert x.to("cuda", copy=True) is not x and x.cpu().cpu().device.type == "cpu"


def test_the_order_of_dims_goes_along() -> None:
    x = gw.arange(24).reshape(1, 2, 3, 4)
    for moved in (x.to("cuda", memory_format=gw.channels_last),
                  x.cuda().to(memory_format=gw.channels_last), x.cuda()):
        back = moved.cpu(memory_format=gw.channels_last)
        assert back.stride() == (24, 1, 8, 2) and gw.equal(back, x)


def test_creation() -> None:
    assert gw.tensor([[1, 2]], device="cuda").tolist() == [[1, 2]]
    assert gw.as_tensor(np.ones(2), device="cuda").dtype is gw.float64
    x = numbers().cuda()
    assert gw.zeros_like(x.t()).stride() == (1, 6) and gw.ones_like(x[0]).tolist() == [1.0] * 6
    assert x.new_full((2,), 2.5).device == x.device and x.new_zeros(2).tolist() == [0.0, 0.0]
    assert gw.empty_strided((2, 3), (1, 2), device="cuda").stride() == (1, 2)
    assert gw.full((2,), 1.1, dtype=gw.float64, device="cuda").tolist() == [1.1, 1.1]
    assert gw.empty_like(x, device="cpu").device.type == "cpu"
    assert gw.zeros_like(x, device="meta").is_meta
    with gw.device("cuda:1"):
        assert gw.zeros(2).get_device() == gw.tensor([1.0]).get_device() == 1
    with pytest.raises(RuntimeError, match="cannot be converted to type int8"):
        gw.full((2,), 1000, dtype=gw.int8, device="cuda")


def test_elements_as_numbers() -> None:
    x = numbers().cuda()
    assert x[1, 2].item() == 8.0 and bool(x[0, 1]) and int(x[1, 0]) == 6 and f"{x[0, 3]}" == "3.0"
    assert not gw.zeros((), device="cuda") and float(gw.tensor(2.5).cuda()) == 2.5
    with pytest.raises(RuntimeError, match="24 elements cannot be converted to Scalar"):
        x.item()
    text = (r"can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu\(\) to copy the "
            "tensor to host memory first.")
    for convert in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(TypeError, match=text):
            convert()


def test_gradients_go_back_where_they_came_from() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    (x.cuda().cpu() * gw.tensor([3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [3.0, 4.0] and x.grad.device.type == "cpu"
    there = gw.tensor([1.0, 2.0], device="cuda:1", requires_grad=True)
    (there.to("cuda:0").cpu() * 2).sum().backward()
    assert there.is_leaf and there.grad.device == there.device
    assert there.grad.tolist() == [2.0, 2.0]
    target = gw.zeros(2, device="cuda")
    target.copy_(x)
    x.grad = None
    (target.cpu() * 5).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    half = x.to("cuda", gw.float16)
    x.grad = None
    half.cpu().float().sum().backward()
    assert x.grad.dtype is gw.float32 and x.grad.tolist() == [1.0, 1.0]


def test_modules_move() -> None:
    layer = gw.nn.Linear(3, 2)
    parameters, state = list(layer.parameters()), copy.deepcopy(layer.state_dict())
    layer.cuda()
    assert all(a is b for a, b in zip(layer.parameters(), parameters, strict=True))
    assert {p.device.type for p in parameters} == {"cuda"} and layer.weight.is_leaf
    layer.load_state_dict({name: value.cuda() for name, value in state.items()})
    layer.cpu()
    assert gw.equal(layer.weight, state["weight"])


def test_copies_and_pickles_stay_on_the_gpu() -> None:
    x = numbers().cuda(1)
    a, b = copy.deepcopy([x, x[1]])
    assert a.get_device() == 1 and b.data_ptr() == a.data_ptr() + 24 and gw.equal(a.cpu(), x.cpu())
    again = pickle.loads(pickle.dumps(gw.nn.Parameter(x)))
    assert again.get_device() == 1 and again.requires_grad and again.tolist() == x.tolist()


def test_versions_count_writes() -> None:
    x = numbers().cuda()
    before = x._version
    x[0].fill_(1)
    x.zero_()
    x.copy_(numbers())
    assert x._version == before + 3


def test_memory_that_grows_and_is_exchanged() -> None:
    x = gw.arange(4).cuda()
    x.resize_(2, 4)
    assert x.shape == (2, 4) and x[0].tolist() == [0, 1, 2, 3]
    y = gw.empty(0, dtype=gw.int64, device="cuda")
    y.set_(x)
    assert y.data_ptr() == x.data_ptr()
    y.data = gw.zeros(2, device="cuda:1")
    assert y.get_device() == 1
    storage = x.untyped_storage()
    assert storage.is_cuda and storage.data_ptr() == x.data_ptr() and storage.nbytes() == 64
    with pytest.raises(RuntimeError, match="reaches out of its storage"):
        x.as_strided((100,), (1,))


# -- what needs a kernel


def test_a_provider_runs_what_needs_a_kernel() -> None:
    asked: list[str] = []

    def provider(op: Any, args: tuple[Any, ...]) -> Any:
        asked.append(op.name)
        if op.name != "add":
            return NotImplemented
        moved = [arg.cpu() if isinstance(arg, gw.Tensor) else arg for arg in args]
        return op.run(*moved).cuda()

    x = gw.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    gw.cuda.reset_fallbacks()
    before = register_kernel_provider(provider)
    try:
        y = x + x
        assert y.tolist() == [2.0, 4.0] and y.device == x.device
        y.backward(gw.ones(2, device="cuda"))
        assert x.grad.tolist() == [2.0, 2.0]
        assert (x * x).tolist() == [1.0, 4.0] and gw.cuda.fallbacks()["mul"] == 1
    finally:
        assert register_kernel_provider(before) is provider
    assert asked == ["add", "add", "mul"]


def test_compiled_functions_run_copies_op_by_op() -> None:
    @gw.compile
    def there_and_back(x: Any) -> Any:
        return (x + 1).cuda().t().cpu() * 2

    assert gw.equal(there_and_back(numbers()), (numbers() + 1).t() * 2)
