"""Kernels that cannot be compiled: the graph runs op by op, what is left runs on the CPU."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.codegen.gpu import launcher, tile_ir
from graphwright.codegen.target import KernelFailure, TritonMissing
from graphwright.codegen.triton import compiler, worker
from graphwright.face import gpu_ops
from graphwright.runtime.cuda import fallbacks

F = gw.nn.functional


@pytest.fixture
def failing(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[..., None]]:
    """Called with texts: kernels that have one of them in their source fail to compile. None was
    compiled before."""
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path))
    build = compiler._build
    planted: set[str] = set()

    def built(missing: Mapping[str, Any]) -> dict[str, bytes]:
        bad = {key for key, job in missing.items() if any(text in job["source"]
                                                          for text in planted)}
        good = {key: job for key, job in missing.items() if key not in bad}
        return dict.fromkeys(bad, worker.pack({"error": "ptxas has a bad day"})) | (
            build(good) if good else {})

    monkeypatch.setattr(compiler, "_build", built)
    monkeypatch.setattr(gpu_ops, "_PROGRAMS", {})
    fallbacks.clear()
    yield planted.update
    fallbacks.clear()
    fallbacks.set_mode("warn")


def network(x: Any) -> Any:
    """Two kernels' worth of ops, whose constants no other test's kernels have."""
    y = F.dropout(x, 0.5) * 1.4375
    gw.rand(3, device=x.device)
    return gw.softmax(gw.sin(y + gw.rand(4, 5, device=x.device)) * 2.8125 + x, -1)


def both(compiled: Any) -> tuple[Any, Any, list[str]]:
    """Two calls on the GPU and what is drawn next there, the same of the CPU, and warnings."""
    x, results, said = gw.randn(4, 5), [], []
    for function, device in ((compiled, "cuda"), (network, "cpu")):
        gw.manual_seed(3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            out = [function(x.to(device)).cpu() for _ in range(2)]
        results.append([*out, gw.rand(2, device=device).cpu()])
        said += [str(one.message) for one in caught]
    return *results, said


def test_a_graph_runs_op_by_op_on_the_gpu(failing: Any) -> None:
    failing(["tl.reduce", "1.4375"])
    compiled = gw.compile(network)
    got, want, said = both(compiled)
    gw.testing.assert_close(got, want)
    assert [text for text in said if "runs op by op" in text] == said[:1]
    assert "'forward network (" in said[0] and "ptxas has a bad day" in said[0]
    assert gw.compiler.stats(compiled).kernels == 0
    note = str(gw.explain(network)(gw.ones(4, 5, device="cuda")))
    assert "runs eagerly: k0_" in note and "cannot be compiled for sm_80 by Triton" in note


def test_an_op_that_fails_by_itself_runs_on_the_cpu(failing: Any) -> None:
    failing(["sin"])
    got, want, said = both(gw.compile(network))
    gw.testing.assert_close(got, want)
    assert len(said) == 2 and said[1].startswith("sin: graphwright has no kernel for these ")
    assert "k0_sin cannot be compiled" in said[1] and "runs on the CPU" in said[1]
    assert gw.cuda.fallbacks() == {"sin": 2}


def test_training_goes_on(failing: Any) -> None:
    failing(["sin", "cos"])
    x, grads = gw.randn(4, 5), []
    for device in ("cuda", "cpu"):
        there = x.to(device).requires_grad_()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gw.compile(lambda x: (gw.sin(x * 1.8125) * x).sum())(there).backward()
        grads.append(there.grad.cpu())
    gw.testing.assert_close(*grads)
    assert gw.cuda.fallbacks() == {"sin": 2, "cos": 1}


def test_writes_to_inputs(failing: Any) -> None:
    failing(["1.8125"])
    x, y = gw.randn(4, 5), gw.randn(4, 5)
    there = x.cuda()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gw.compile(lambda x, y: x.mul_(1.8125).add_(y).sum())(there, y.cuda())
    gw.testing.assert_close(there.cpu(), x.mul_(1.8125).add_(y))


LATER = {"unaligned": lambda x: x.view(-1)[1:8193].view(64, 128), "64-bit sizes": lambda x: x[:96]}
"""Inputs that need other kernels than aligned ones of a few elements."""
later = pytest.mark.parametrize("kind", LATER)


def repeated(function: Callable[[Any], Any], x: Any) -> tuple[list[Any], list[str]]:
    """The results of two calls with the same draws, and the warnings."""
    results = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            gw.cuda.manual_seed(3)
            results.append(function(x))
    return results, [str(one.message) for one in caught]


@later
def test_a_later_call_whose_kernels_fail(
    failing: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(tile_ir, "INT32_ELEMENTS", 3 << 12)
    signs = gw.tensor([-1.0, 1.0]).repeat(64).cuda()

    def function(x: Any) -> Any:
        """Reads a constant, draws, and returns its input, too."""
        return gw.sin(x * 1.6171875) * signs + gw.rand(128, device=x.device), x

    compiled, x = gw.compile(function, dynamic=True), gw.randn(128, 128)
    compiled(x[:64].cuda())
    failing(["1.6171875"])
    there = LATER[kind](x.cuda())
    got, said = repeated(compiled, there)
    want, _ = repeated(function, there)
    gw.testing.assert_close([one for one, _ in got], [one for one, _ in want])
    assert all(same is there for _, same in got)
    assert len(said) == 1 and "'forward " in said[0] and "runs op by op: k1_add" in said[0]
    assert gw.compiler.stats(compiled).graphs == 1


@later
def test_a_later_call_of_an_op_whose_kernel_fails(
    failing: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(tile_ir, "INT32_ELEMENTS", 3 << 12)
    x = gw.randn(128, 128)
    gw.sin(x[:64].cuda())
    failing(["sin"])
    got, said = repeated(gw.sin, LATER[kind](x.cuda()))
    gw.testing.assert_close([one.cpu() for one in got], 2 * [gw.sin(LATER[kind](x))])
    assert gw.cuda.fallbacks() == {"sin": 2}
    assert len(said) == 1 and "k0_sin cannot be compiled" in said[0]
    fallbacks.set_mode("error")
    with pytest.raises(NotImplementedError, match=r"sin: .*k0_sin cannot be compiled"):
        gw.sin(LATER[kind](x.cuda()))


def test_strict_mode_raises(failing: Any) -> None:
    failing(["sin"])
    fallbacks.set_mode("error")
    x = gw.ones(4, 5, device="cuda")
    with pytest.raises(KernelFailure, match=r"cannot be compiled for sm_80 .* ptxas has a"
                       ) as caught:
        gw.compile(network)(x)
    assert type(caught.value).__name__ == "CannotCompile"
    with pytest.raises(NotImplementedError, match=r"sin: .*k0_sin cannot be compiled"):
        gw.sin(x)
    assert gw.cuda.fallbacks() == {}


def test_a_kernel_that_needs_scratch_memory_is_refused() -> None:
    made = compiler.CompiledKernel("", "k0_add", "", b"", 4, 0, 384, 8, 0, ("*fp32",), "3.9.0")
    with pytest.raises(KernelFailure, match="k0_add needs 384 bytes of scratch memory"):
        launcher._kernel(made)


def test_without_triton(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    x = gw.ones(3, device="cuda")
    for call in (lambda: gw.compile(lambda x: x * 1.0078125)(x), lambda: x.double().erfinv()):
        with pytest.raises(TritonMissing, match=r"not installed.*pip install graphwright\[cuda\]"):
            call()
