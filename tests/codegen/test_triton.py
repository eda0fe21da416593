"""Triton kernels: their text, their values in Triton's interpreter, and cubins without a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphwright.codegen import triton as emitter
from graphwright.codegen.loops import For, LoopKind, Store
from graphwright.codegen.program import NativeProgram
from graphwright.runtime.tensor.dtypes import float32

from .lowered import program_of, tensor
from .native_support import axis, buffer, load, op, program
from .triton_cases import CASES

ROOT = Path(__file__).parents[2]


def program_for(case: str) -> NativeProgram:
    function, arrays, _ = CASES[case]
    return program_of(function, [tensor(a) for a in arrays])[0]


@pytest.mark.parametrize("case", list(CASES))
def test_interpreter_agrees_with_eager(case: str) -> None:
    pytest.importorskip("triton")
    done = subprocess.run(
        [sys.executable, "-m", "tests.codegen.triton_runner", case], cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.endswith("OK\n"), done.stderr[-3000:]


@pytest.mark.parametrize("case", ["gelu", "softmax", "bfloat16"])
def test_compiles_for_hopper_without_a_gpu(case: str) -> None:
    pytest.importorskip("triton")
    for kernel in emitter.kernels(program_for(case)):
        done = emitter.compile_kernel(kernel, arch=90)
        assert ".target sm_90a" in done.ptx
        assert kernel.name in done.ptx
        assert done.cubin[:4] == b"\x7fELF"


def test_softmax_is_one_kernel_that_reads_its_row_once() -> None:
    listing = emitter.emit(program_for("softmax"))
    assert len(listing) == 1
    name, source = listing[0]
    assert f"def {name}(" in source
    assert source.count("tl.load(") == 1
    assert source.count("tl.store(") == 1


def test_source_of_a_pointwise_kernel() -> None:
    x, y = buffer("x", float32, 3000), buffer("y", float32, 3000, "output")
    i = axis("i", 3000)
    body = For(i, LoopKind.VECTOR, (Store(y, i.symbol, op("exp", load(x, i.symbol))),))
    assert emitter.emit(program([body], [x], [y])) == [("kernel", """\
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, BLOCK_i: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK_i + tl.arange(0, BLOCK_i)
    mask_i = i < 3000
    v1 = tl.load(x_ptr + i, mask=mask_i, other=0)
    v2 = tl.exp(v1)
    tl.store(y_ptr + i, v2, mask=mask_i)
""")]


def test_a_nest_without_a_triton_form_says_why() -> None:
    x, y = buffer("x", float32, 10), buffer("y", float32, 1, "output")
    i = axis("i", 10)
    body = For(i, LoopKind.SERIAL, (Store(y, i.symbol * 0, load(x, i.symbol)),))
    ((_, source),) = emitter.emit(program([body], [x], [y]))
    assert source == "# kernel has no Triton kernel: a serial loop\n"
