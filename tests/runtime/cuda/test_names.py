"""What `torch.cuda` has is here, or is known to be missing; and names beside it that mean GPUs."""

from __future__ import annotations

import types
from typing import Any

import pytest

import graphwright as gw

pytestmark = pytest.mark.usefixtures("gpu")

MISSING = {"jiterator", "nccl", "sparse", "tunable"}
"""Modules of PyTorch's own kernels and libraries."""


@pytest.mark.oracle
def test_all_that_pytorch_exports_is_here() -> None:
    torch = pytest.importorskip("torch")
    for name in ("", "memory", "random", "streams", "graphs", "nvtx", "profiler", "amp"):
        theirs = getattr(torch.cuda, name) if name else torch.cuda
        ours = getattr(gw.cuda, name) if name else gw.cuda
        public = getattr(theirs, "__all__", None) or [
            one for one in dir(theirs) if not one.startswith("_")
            and getattr(getattr(theirs, one), "__module__", "").startswith("torch.cuda")]
        lacking = {one for one in public if not hasattr(ours, one)}
        assert lacking == (MISSING if not name else lacking & {"amp_definitely_not_available"})


@pytest.mark.parametrize("name", sorted(MISSING))
def test_what_is_missing_says_so(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"'graphwright\.cuda' has no attribute '{name}'"):
        getattr(gw.cuda, name)


def test_every_exported_name_is_there() -> None:
    for name in gw.cuda.__all__:
        assert isinstance(getattr(gw.cuda, name), types.ModuleType) or hasattr(
            type(getattr(gw.cuda, name)), "__name__")


def test_classes_of_tensors_and_storages() -> None:
    made = gw.cuda.FloatTensor([1, 2])
    assert made.type() == "graphwright.cuda.FloatTensor" and made.device == gw.device("cuda:0")
    assert isinstance(made, gw.cuda.FloatTensor) and not isinstance(made, gw.cuda.LongTensor)
    assert not isinstance(gw.ones(2), gw.cuda.FloatTensor)
    assert gw.cuda.HalfTensor(2, 3).shape == (2, 3) and gw.cuda.BoolTensor().is_cuda
    there = gw.ones(2).type("torch.cuda.IntTensor")
    assert there.is_cuda and there.dtype is gw.int32 and there.type("torch.IntTensor").is_cpu
    storage = gw.cuda.FloatStorage([1.0, 2.0])
    assert isinstance(storage, gw.cuda.FloatStorage) and storage.tolist() == [1.0, 2.0]
    assert repr(gw.cuda.FloatStorage) == "<class 'graphwright.cuda.FloatStorage'>"


def test_the_default_type_of_tensors() -> None:
    gw.set_default_tensor_type("torch.cuda.DoubleTensor")
    try:
        assert gw.zeros(2).is_cuda and gw.zeros(2).dtype is gw.float64
    finally:
        gw.set_default_tensor_type(gw.FloatTensor)
    assert gw.zeros(2).is_cpu and gw.get_default_dtype() is gw.float32


def test_new_tensors_are_where_their_model_is() -> None:
    x = gw.ones(2, dtype=gw.int32, device="cuda:1")
    for made in (x.new_tensor([3]), x.new([3]), x.new(4), x.new_empty(1), x.new_ones(2, 2)):
        assert made.device == x.device and made.dtype is gw.int32
    with gw.device("cuda"):
        assert gw.tensor([1]).is_cuda and gw.ones(1, device="cpu").new_tensor([1]).is_cpu
        assert gw.asarray([1.0]).is_cuda and gw.as_tensor([1.0]).is_cuda
    assert gw.tensor([x[0], x[1]]).tolist() == [1, 1]
    with pytest.warns(UserWarning, match="copy construct"):
        assert gw.tensor(x, device="cpu").is_cpu and gw.tensor(x).device == x.device


def test_modules_are_moved_by_number() -> None:
    layer = gw.nn.Linear(2, 2).to(1)
    assert layer.weight.get_device() == 1 and layer.cuda(0).bias.get_device() == 0
    empty = gw.nn.Linear(2, 2, device="meta").to_empty(device="cuda")
    assert empty.weight.device == gw.device("cuda:0") and empty.weight.data_ptr() != 0
    assert gw.nn.Linear(2, 2).to("cuda", gw.bfloat16).weight.dtype is gw.bfloat16


@pytest.mark.parametrize("make", [
    lambda: gw.Stream(), lambda: gw.Stream("cuda:0"), lambda: gw.Stream(0, priority=-1),
])
def test_streams_of_an_accelerator_are_those_of_a_gpu(make: Any) -> None:
    stream = make()
    assert isinstance(stream, gw.cuda.Stream) and isinstance(stream, gw.Stream)
    before = gw.cuda.current_stream()
    with stream as inner, stream:
        assert inner is stream and gw.cuda.current_stream() == stream
        mark = gw.Event("cuda", enable_timing=True)
        mark.record()
    assert gw.cuda.current_stream() == before and isinstance(mark, gw.cuda.Event)
    assert stream.native_handle == stream.cuda_stream and not stream.is_capturing()
    with pytest.raises(TypeError, match=r"record_stream\(\): expected a stream, not int"):
        gw.ones(1).cuda().record_stream(3)


def test_questions_about_devices() -> None:
    facts = gw.cuda.get_device_properties(1)
    assert str(facts.uuid).count("-") == 4 and facts.uuid != gw.cuda.get_device_properties(0).uuid
    assert facts.gcnArchName == facts.name and facts.warp_size == 32
    assert gw.get_device_module() is gw.cuda and gw.get_device_module("cpu") is gw.cpu
    assert gw.cuda.is_bf16_supported() and gw.accelerator.current_accelerator().type == "cuda"


def test_errors_have_the_driver_s_number(gpu: Any) -> None:
    gpu.fail("cuMemsetD8Async", 1)
    with pytest.raises(gw.AcceleratorError, match="CUDA_ERROR_INVALID_VALUE, 1") as caught:
        gw.zeros(3, device="cuda")
    assert caught.value.error_code == 1 and gw.cuda.AcceleratorError is gw.AcceleratorError
    gw.cuda.check_error(gw.cuda.cudaStatus.SUCCESS)
    with pytest.raises(gw.cuda.CudaError, match=r"CUDA error \(700\)"):
        gw.cuda.check_error(700)


def test_figures_of_pinned_memory() -> None:
    for device in (0, 1):
        gw.cuda.synchronize(device)
    gw.accelerator.empty_host_cache()           # of what tests before have used
    gw.cuda.reset_accumulated_host_memory_stats()
    before = gw.cuda.host_memory_stats()
    x = gw.zeros(5000, pin_memory=True)
    stats = gw.cuda.host_memory_stats()
    assert list(stats) == sorted(stats) and x.is_pinned()
    grown = {name: stats[f"{name}.current"] - before[f"{name}.current"]
             for name in ("active_bytes", "active_requests")}
    assert grown == {"active_bytes": 32768, "active_requests": 1}
    nested = gw.cuda.host_memory_stats_as_nested_dict()
    assert nested["active_requests"]["allocated"] == 1
    assert nested["num_host_alloc"] == nested["allocations"]["allocated"]
    del x
    gw.zeros(5000).pin_memory()                 # when memory is next asked for
    assert gw.cuda.host_memory_stats()["active_requests.freed"] >= 1
    gw.cuda.reset_peak_host_memory_stats()
    peak = gw.cuda.host_memory_stats()
    assert peak["active_bytes.peak"] == peak["active_bytes.current"]


def test_figures_have_pytorch_s_names() -> None:
    gw.zeros(1, device="cuda")
    stats = gw.cuda.memory_stats()
    assert {name.partition(".")[0] for name in stats} == {
        "allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes",
        "active_bytes", "inactive_split_bytes", "requested_bytes", "num_alloc_retries",
        "num_ooms", "num_device_alloc", "num_device_free", "num_sync_all_streams",
        "num_oom_rejections", "max_split_size", "oversize_allocations", "oversize_segments"}
    assert stats["oversize_segments.peak"] == 0 and stats["max_split_size"] == -1
