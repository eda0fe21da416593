"""What is shown of graphs on a GPU: dumps, explanations, pages, logs, profiles, files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.export.packaging import package
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import artifacts_of
from graphwright.report.stages import by_kernel, halves


def mixed(x: Any, w: Any) -> Any:
    """Two kernels on the GPU, and one on the CPU between them."""
    y = gw.softmax(x @ w, -1)
    return (y + gw.tanh(x.cpu()).sum().cuda()).sum()


@pytest.fixture
def compiled(gpu: Any) -> Any:
    """`mixed`, after a forward and a backward pass."""
    made = gw.compile(mixed)
    made(gw.randn(4, 4).cuda(), gw.randn(4, 4).cuda().requires_grad_()).backward()
    gw.cuda.synchronize()
    return made


def test_dumps_show_the_programs_that_ran(compiled: Any, gpu: Any) -> None:
    texts = gw.compiler.dump(compiled, ["loops", "llvm", "tiles", "triton", "ptx"])
    ran = {launched.name for launched in gpu.launches}
    entries = {line.split()[2].rstrip("(") for line in texts["ptx"].splitlines()
               if line.startswith(".visible .entry")}
    assert entries == ran and "target sm_80" in texts["ptx"]
    assert ".param .u64 .ptr" in texts["ptx"]
    assert "# backward: " in texts["triton"] and "tl.dot(" in texts["triton"]
    assert texts["tiles"].count("kernel k") == gw.compiler.stats(compiled).kernels - 1
    assert "tanh(to_device" in texts["loops"] and "tanh(to_device" not in texts["tiles"]
    sizes = [line for line in texts["triton"].splitlines() if ".to(tl.int64)" in line]
    assert not sizes                            # indices fit in 32 bits, as the launcher has seen


def test_what_a_graph_on_the_cpu_would_have_on_a_gpu(gpu: Any) -> None:
    on_cpu = gw.compile(lambda x: x * 2)
    on_cpu(gw.ones(4))
    texts = gw.compiler.dump(on_cpu, ["tiles", "ptx"])
    assert "kernel k0_mul" in texts["tiles"] and ".target sm_90" in texts["ptx"]
    assert not gpu.launches


def test_a_page_has_kernels_with_their_nodes(compiled: Any, tmp_path: Path) -> None:
    record = compilation_of(compiled).record
    artifacts = artifacts_of(record.graphs[0].graph)
    assert artifacts is not None
    forward, backward = halves(artifacts)
    for half in (forward, backward):
        assert half.compiled
        nodes = {node.name: node.target for node in half.module.graph.nodes
                 if node.op == "call_function"}
        fused = {name for part in half.parts for step in part.steps for name in step.nodes}
        rest = [target for name, target in nodes.items() if name not in fused]
        assert fused <= set(nodes) and len(fused) >= 2
        assert all(target.is_view or target.name == "to_device" for target in rest)
    on_gpu = [part for part in forward.parts if "triton" in part.sources]
    assert len(forward.parts) > len(on_gpu) > 0
    for part in on_gpu:
        names = frozenset(step.name for step in part.steps)
        owners = {owner for owner, _ in by_kernel("triton", part.sources["triton"], names)}
        assert owners - {""} == names
        assert all("in tiles of" in step.loops for step in part.steps)
        assert {m.name for m in part.memory} == {b for step in part.steps for b in step.buffers}
    page = tmp_path / "page.html"
    gw.explain(mixed)(gw.ones(4, 4, device="cuda"), gw.ones(4, 4, device="cuda")).save(page)
    text = page.read_text()
    assert "tl.load(" in text and "Triton" in text and "define i32" in text


def test_logs_say_what_made_the_kernels(
    gpu: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_LOGS", "kernels,loops")
    gw.compile(lambda x: gw.softmax(x.cpu() + 1, 0).cuda() * 3)(gw.ones(4, device="cuda"))
    said = capsys.readouterr().err
    assert "kernels: 2 in the forward graph, by llvm and triton" in said
    assert "in tiles of" in said and "in vector(4)" in said


def test_profiles_have_graphs_of_the_gpu(compiled: Any) -> None:
    x, w = gw.randn(4, 4).cuda(), gw.randn(4, 4).cuda().requires_grad_()
    with gw.profiler.profile() as profile:
        compiled(x, w).backward()
    names = [event.key for event in profile.key_averages()]
    assert "compiled::mixed" in names and "aten::to_device" in names
    assert {name.split()[0] for name in names if name.startswith("graph::")} >= {
        "graph::forward", "graph::backward"}


def test_exported_programs_run_on_the_gpu_and_stay_out_of_files(
    gpu: Any, tmp_path: Path
) -> None:
    module, x = gw.nn.Linear(4, 3).cuda(), gw.randn(2, 4).cuda()
    program = gw.export.export(module, (x,))
    assert gw.equal(program.module()(x).cpu(), module(x).cpu())
    for write in (lambda: gw.export.save(program, io.BytesIO()),
                  lambda: package(program, tmp_path / "linear")):
        with pytest.raises(gw.export.ExportError, match=r"'p_weight' is on cuda:0, and .*\.cpu"):
            write()
    pytest.importorskip("onnx")
    with pytest.raises(gw.onnx.OnnxExporterError, match=r"'p_weight' is on cuda:0.*\.cpu"):
        gw.onnx.export(module, (x,), tmp_path / "linear.onnx")
    saved = io.BytesIO()
    gw.export.save(gw.export.export(module.cpu(), (x.cpu(),)), saved)
    assert gw.export.load(saved.getvalue()).module()(x.cpu()).shape == (2, 3)


@pytest.mark.parametrize("backend", ["eager", "c", "llvm"])
def test_backends(gpu: Any, backend: str) -> None:
    """The name chooses how code for the CPU is made."""
    x, w = gw.randn(4, 4), gw.randn(4, 4)
    compiled = gw.compile(mixed, backend=backend)
    gw.testing.assert_close(compiled(x.cuda(), w.cuda()).cpu(), mixed_on_cpu(x, w))


def mixed_on_cpu(x: Any, w: Any) -> Any:
    return (gw.softmax(x @ w, -1) + gw.tanh(x).sum()).sum()


def test_a_backend_of_the_user_s(gpu: Any) -> None:
    given: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        given.extend(value.device for value in inputs)
        return graph.forward

    x = gw.ones(3, device="cuda")
    assert gw.compile(lambda x: x * 2, backend=backend)(x).is_cuda
    assert given == [gw.device("cuda:0")]


def test_strict_graphs_round_as_eager_ops(gpu: Any) -> None:
    def f(x: Any) -> Any:
        return x * 1.1 + x * x * 3.3

    x = gw.from_numpy(np.random.default_rng(0).standard_normal(500).astype("f4"))
    strict = gw.compile(f, options={"strict": True})(x.cuda())
    assert gw.equal(strict.cpu(), f(x)) and gw.equal(f(x.cuda()).cpu(), f(x))
