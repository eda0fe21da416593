"""Devices, exporters and libraries that are not here: names to import, answers, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

pytestmark = pytest.mark.usefixtures("no_gpu")


@pytest.mark.parametrize("module", [gw.cuda, gw.xpu, gw.mps, gw.mtia], ids=lambda m: m.__name__)
def test_questions_have_the_answers_of_a_machine_without(module: Any) -> None:
    assert not module.is_available() and module.device_count() == 0
    assert module.manual_seed(3) is None and module.seed() is None
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: gw.cuda.current_device(), AssertionError, "no CUDA devices"),
    (lambda: gw.cuda.make_graphed_callables(1, 2), AssertionError, "no CUDA devices"),
    (lambda: gw.cuda.graph(None), RuntimeError, "cuda.graph requires a CUDA device"),
    (lambda: gw.cuda.CUDAGraph(), RuntimeError, "cuda.CUDAGraph requires a CUDA device"),
    (lambda: gw.cuda.nvtx.range_push("x"), RuntimeError, "no CUDA devices"),
    (lambda: gw.cuda.profiler.start(), AssertionError, "no CUDA devices"),
    (lambda: gw.cuda.FloatTensor(2), TypeError, "type graphwright.cuda.FloatTensor is not avail"),
    (lambda: gw.xpu.current_device(), AssertionError, "no XPU devices"),
    (lambda: gw.xpu.Stream(), RuntimeError, "xpu.Stream requires a XPU device"),
    (lambda: gw.xpu.set_stream(3), RuntimeError, "no XPU devices"),
    (lambda: gw.mps.current_allocated_memory(), RuntimeError, "no MPS devices"),
    (lambda: gw.mtia.current_device(), RuntimeError, "no MTIA devices"),
    (lambda: gw.accelerator.current_device_index(), RuntimeError, "no ACCELERATOR devices"),
    (lambda: gw.Event(), RuntimeError, "Event requires a ACCELERATOR device"),
    (lambda: gw.profiler.emit_nvtx(), NotImplementedError, "does not record for this tool"),
    (lambda: gw.profiler.ExecutionTraceObserver(), NotImplementedError, "does not record for"),
    (lambda: gw.utils.cpp_extension.load("x"), NotImplementedError, "no C\\+\\+ library"),
    (lambda: gw.utils.cpp_extension.BuildExtension(), NotImplementedError, "no C\\+\\+ library"),
    (lambda: gw.ao.quantization.prepare(1), NotImplementedError, "no quantised tensors"),
    (lambda: gw.hub.load("a/b", "model"), RuntimeError, "downloads nothing"),
])
def test_what_needs_the_absent_is_refused(
    call: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        call()


def test_classes_of_tensors_on_a_gpu_have_no_instances() -> None:
    assert not isinstance(gw.ones(2), gw.cuda.FloatTensor)
    assert gw.cuda.FloatTensor is gw.cuda.FloatTensor
    with pytest.raises(AttributeError, match="'OddTensor'"):
        _ = gw.cuda.OddTensor


def test_the_parts_of_cuda_are_modules() -> None:
    import like_torch.cuda.memory as memory
    from like_torch.cuda.graphs import CUDAGraph
    from like_torch.cuda.random import manual_seed_all

    assert memory.memory_allocated() == 0 and manual_seed_all(1) is None
    assert CUDAGraph is gw.cuda.CUDAGraph and issubclass(gw.cuda.Stream, gw.Stream)


def test_streams_of_the_cpu_do_nothing() -> None:
    stream = gw.cpu.Stream()
    with gw.cpu.stream(stream):
        stream.wait_stream(gw.cpu.current_stream())
    event = gw.cpu.Event()
    event.record()
    assert event.query() and gw.get_device_module("cpu") is gw.cpu


def test_further_switches_of_backends() -> None:
    backends = gw.backends
    assert backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    assert not backends.mps.is_macos_or_newer(14, 0) and not backends.xnnpack.enabled
    assert not backends.cuda.is_flash_attention_available()
    before = backends.cudnn.set_flags(_benchmark=True)
    assert backends.cudnn.benchmark and before == (True, False)
    backends.cudnn.set_flags(_benchmark=False)
    backends.mha.set_fastpath_enabled(False)
    assert not backends.mha.get_fastpath_enabled()
    backends.mha.set_fastpath_enabled(True)
    with pytest.raises(AttributeError, match=r"'graphwright\..*cudnn' has no attribute 'nope'"):
        _ = backends.cudnn.nope


def test_marks_of_an_export_are_kept() -> None:
    from like_torch.onnx.symbolic_helper import parse_args

    from graphwright.onnx import symbolic_opset11

    @parse_args("v", "f")
    def described(g: Any, x: Any) -> str:
        return "description"

    gw.onnx.register_custom_op_symbolic("a::b", described, 11)
    assert described(1, 2) == "description" and not gw.onnx.is_in_onnx_export()
    with pytest.raises(AttributeError, match="has no attribute 'select'"):
        _ = symbolic_opset11.select


def test_stubs_of_quantisation_are_the_identity() -> None:
    x = gw.ones(2)
    stub = gw.ao.quantization.QuantStub()
    wrapped = gw.ao.quantization.QuantWrapper(gw.nn.Linear(2, 2))
    functional = gw.nn.quantized.FloatFunctional()
    assert stub(x) is x and wrapped(x).shape == (2,)
    assert functional.add_relu(x, -2 * x).tolist() == [0.0, 0.0]
    assert gw.nn.quantized.FloatFunctional is gw.ao.nn.quantized.FloatFunctional
