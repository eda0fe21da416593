"""`graphwright warm`: kernels are compiled for a GPU, and then found."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.cli import warm
from graphwright.cli.loading import load_call
from graphwright.cli.main import main
from graphwright.codegen.cache import kernel_cache
from graphwright.codegen.triton import CannotCompile, compile_launches
from graphwright.face.api import Explained
from graphwright.face.stage_dumps import gpu_parts

MODEL = """
import graphwright as gw

class Net(gw.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = gw.nn.Parameter(gw.ones(8))

    def forward(self, x):
        return (x * self.scale).softmax(-1)

def scaled(x):
    return x * x.sum()

def length(text):
    return len(text)

def length_inputs():
    return ("abc",)

def example_inputs():
    return (gw.ones(4, 8),)
"""


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    pytest.importorskip("triton")
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "warm_model.py"
    path.write_text(MODEL)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[list[str], int, int, int]:
    """The graph of each kernel, and how many kernels there are, were compiled, were there."""
    main(["warm", "--target", "sm_80", *arguments])
    _, *rows, summary = capsys.readouterr().out.splitlines()
    numbers = re.match(r"(\d+) kernels? for sm_80: (\d+) compiled, (\d+) there already, [\d,]+ "
                       r"bytes, [\d.]+ s, in /.*/cache/kernels$", summary)
    assert numbers is not None, summary
    total, compiled, there = map(int, numbers.groups())
    return [row.split()[0] for row in rows], total, compiled, there


def mistake(capsys: pytest.CaptureFixture[str], *arguments: str, status: int) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(["warm", *arguments])
    assert stopped.value.code == status
    return capsys.readouterr().err


def test_forward_and_backward_are_compiled_once(
    capsys: pytest.CaptureFixture[str], model: str
) -> None:
    graphs, total, *done = run(capsys, f"{model}:Net")
    assert set(graphs) == {"forward", "backward"} and len(graphs) == total
    assert done == [total, 0]
    assert run(capsys, f"{model}:Net") == (graphs, total, 0, total)


def test_gradients_are_those_of_parameters_of_inputs_or_none(
    capsys: pytest.CaptureFixture[str], model: str
) -> None:
    assert set(run(capsys, f"{model}:Net", "--no-grad")[0]) == {"forward"}
    assert set(run(capsys, f"{model}:scaled")[0]) == {"forward"}
    assert set(run(capsys, f"{model}:scaled", "--train")[0]) == {"forward", "backward"}


def test_a_program_that_is_launched_finds_its_kernels(
    capsys: pytest.CaptureFixture[str], model: str
) -> None:
    total = run(capsys, f"{model}:scaled", "--input", "f32[4,8]")[1]
    explained = Explained(lambda x: x * x.sum())
    explained(gw.zeros(4, 8))
    before = kernel_cache().counts.misses
    launches = [launch for part in gpu_parts(explained.record)
                for launch in compile_launches(part.program, 80)]
    assert len(launches) == total and kernel_cache().counts.misses == before


def test_mistakes(
    capsys: pytest.CaptureFixture[str], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "invalid choice: 'sm_9'" in mistake(
        capsys, f"{model}:Net", "--target", "sm_9", status=2)
    assert "required: --target" in mistake(capsys, f"{model}:Net", status=2)
    assert "has no kernels" in mistake(capsys, f"{model}:length", "--target", "sm_80", status=3)
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", "here")
    assert "must be an absolute path" in mistake(
        capsys, f"{model}:Net", "--target", "sm_80", status=2)


def test_without_triton(
    capsys: pytest.CaptureFixture[str], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "triton", None)
    assert "pip install graphwright[cuda]" in mistake(
        capsys, f"{model}:Net", "--target", "sm_80", status=2)


def test_a_kernel_that_does_not_compile(
    capsys: pytest.CaptureFixture[str], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(requests: Any) -> Any:
        raise CannotCompile(f"{requests[0].kernel.name} cannot be compiled")

    monkeypatch.setattr(warm, "compile_kernels", refuse)
    assert "k0_sum_mul cannot be compiled" in mistake(
        capsys, f"{model}:scaled", "--target", "sm_80", status=1)


def test_a_run_on_the_gpu_finds_its_kernels(
    capsys: pytest.CaptureFixture[str], model: str, gpu: Any
) -> None:
    total = run(capsys, f"{model}:Net")[1]
    _, net, _ = load_call(f"{model}:Net", ())
    kernel_cache().__init__(kernel_cache().folder)  # type: ignore[misc]
    out = gw.compile(net.cuda())(gw.ones(4, 8).cuda())
    out.backward(gw.ones(4, 8).cuda())
    counts = kernel_cache().counts
    assert (counts.misses, counts.disk_hits) == (0, total)
    assert gw.allclose(out.cpu(), gw.full((4, 8), 0.125))
