"""Kernels compile to cubins whatever names, constants and dtypes they have, with wide accesses and
without spills. Nothing runs: Triton and its assembler need no GPU for that."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.codegen.gpu.build import gpu_segments
from graphwright.codegen.triton import CompiledKernel, compile_kernel, kernels, list_ptx
from graphwright.ir.lowered_graph import CannotLower
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.ops import functions as ops

from ...ir.test_every_op import CASES as EVERY_SAMPLE
from ...ir.test_every_op import split_arguments
from .programs import graph_of, program_of
from .test_triton_source import NAMES

F = gw.nn.functional
SAMPLED = 6
ARCHITECTURES = (80, 90)


@pytest.fixture(autouse=True)
def needs_triton() -> None:
    pytest.importorskip("triton")


def compiled(fn: Callable[..., Any], *inputs: gw.Tensor, arch: int = 90) -> list[CompiledKernel]:
    """The kernels of `fn`, each compiled to a cubin."""
    made = [compile_kernel(kernel, arch) for kernel in kernels(program_of(fn, *inputs))]
    assert all(kernel.cubin[:4] == b"\x7fELF" for kernel in made)
    return made


def test_inputs_may_have_any_name() -> None:
    called: dict[str, Any] = {}
    exec(f"def fn({', '.join(NAMES)}):\n    return (({' + '.join(NAMES)}).relu().sum(-1),)",
         called)
    function = gw.compile(called["fn"], backend="llvm")
    function(*(gw.ones(8, 40) for _ in NAMES))
    text = gw.compiler.dump(function, ["ptx"])["ptx"]
    assert text.count(".visible .entry") == 1
    assert text.count("ld.global") >= len(NAMES)


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
def test_square_roots_of_both_widths(dtype: Any) -> None:
    (kernel,) = compiled(lambda x: x.sqrt() + x.rsqrt(), gw.ones(100, dtype=dtype))
    assert ("sqrt.rn.f32" in kernel.ptx) == (dtype is gw.float32)


def test_arithmetic_of_constants_is_tritons() -> None:
    compiled(lambda x, y: F.nll_loss(x, y), gw.ones(0, 3), gw.ones(0, dtype=gw.int64))


@pytest.mark.parametrize("dtype", [gw.float32, gw.int64])
def test_constants_are_cast_and_stored_as_bools(dtype: Any) -> None:
    compiled(lambda x: gw.isreal(x), gw.ones(5, dtype=dtype))


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_what_is_compiled_says_how_it_is_launched(arch: int) -> None:
    (kernel,) = compiled(lambda x, i: gw.gather(x, 1, i), gw.ones(9, 30),
                         gw.zeros(9, 7, dtype=gw.int64), arch=arch)
    assert f".target sm_{arch}" in kernel.ptx and f".visible .entry {kernel.name}(" in kernel.ptx
    assert kernel.signature == ("*i64", "*fp32", "*fp32", "*i64")
    assert len(re.findall(r"\.param ", kernel.ptx.partition(")\n")[0])) == 6


WIDE: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]], Any, str]] = {
    "pointwise": (lambda x, y: x * y + 1, [(256, 1024), (256, 1024)], gw.float32, "v4.b32"),
    "half pointwise": (lambda x: x * 2, [(256, 1024)], gw.bfloat16, "v4.b32"),
    "short rows": (lambda x: gw.softmax(x, -1), [(4096, 128)], gw.float32, "v4.b32"),
    "half rows": (lambda x: gw.softmax(x, -1), [(4096, 256)], gw.bfloat16, "v4.b32"),
    "rows": (lambda x, w, b: F.layer_norm(x, (1024,), w, b),
             [(4096, 1024), (1024,), (1024,)], gw.float32, "v4.b32"),
    "columns": (lambda x: x.sum(0), [(4096, 4096)], gw.float32, "v4.b32"),
    "long rows": (lambda x: x.sum(-1), [(1000, 32768)], gw.float32, "v4.b32"),
    "all": (lambda x: x.sum(), [(1024, 1024)], gw.float32, "v4.b32"),
}


@pytest.mark.parametrize("name", list(WIDE))
def test_accesses_have_16_bytes(name: str) -> None:
    function, shapes, dtype, width = WIDE[name]
    first = compiled(function, *(gw.zeros(s, dtype=dtype) for s in shapes))[0]
    loads = re.findall(r"ld\.global\.(\S+)", first.ptx)
    wide = [load for load in loads if width in load]
    assert len(wide) * 2 > len(loads), loads


@pytest.mark.parametrize("dtype", [gw.bfloat16, gw.float16])
def test_products_of_half_types_use_tensor_cores(dtype: Any) -> None:
    x, y = gw.zeros(512, 256, dtype=dtype), gw.zeros(256, 512, dtype=dtype)
    for arch, instruction in zip(ARCHITECTURES, ("mma.sync", "wgmma.mma_async"), strict=True):
        (kernel,) = compiled(lambda x, y: F.gelu(x @ y), x, y, arch=arch)
        assert instruction in kernel.ptx
        assert kernel.shared_bytes <= 163 * 1024
        assert ".local" not in kernel.ptx


def attention(q: Any, k: Any, v: Any) -> Any:
    return ops.fused_attention(q, k, v, None, True, 0.125)[0]


RESOURCES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]], Any]] = {
    "product": (lambda x, y: F.gelu(x @ y), [(4096, 4096)] * 2, gw.bfloat16),
    "float32 product": (lambda x, y: x @ y, [(1024, 1024)] * 2, gw.float32),
    "float64 product": (lambda x, y: x @ y, [(1024, 1024)] * 2, gw.float64),
    "long rows": (lambda x: gw.softmax(x, -1), [(4096, 16384)], gw.float32),
    "chain": (lambda x, y: gw.sigmoid(gw.tanh(gw.exp(x) + y) - x), [(4096, 1024)] * 2,
              gw.bfloat16),
    **{f"attention of {depth}": (attention, [(8, 1024, depth)] * 3, gw.bfloat16)
       for depth in (64, 128, 256)},
    **{f"float32 attention of {depth}": (attention, [(8, 1024, depth)] * 3, gw.float32)
       for depth in (64, 128, 256)},
}
QUICK = ("product", "attention of 128", "float32 attention of 64")


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RESOURCES])
def test_registers_and_shared_memory_suffice(name: str, arch: int, tmp_path: Path) -> None:
    """Nothing is spilled, and blocks fit: 163 KiB of shared memory on sm_80, 227 on sm_90."""
    import triton

    function, shapes, dtype = RESOURCES[name]
    tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    for kernel in compiled(function, *(gw.zeros(s, dtype=dtype) for s in shapes), arch=arch):
        cubin = tmp_path / "kernel.cubin"
        cubin.write_bytes(kernel.cubin)
        shown = subprocess.run([tools / "cuobjdump", "--dump-resource-usage", cubin],
                               capture_output=True, text=True, check=True).stdout
        stack, local = re.search(r"STACK:(\d+) .*LOCAL:(\d+)", shown).groups()
        assert (stack, local) == ("0", "0"), shown
        assert kernel.shared_bytes <= (163 if arch == 80 else 227) * 1024


def test_a_graph_with_eager_ops_is_cut_at_them() -> None:
    module, fakes = graph_of(lambda x: gw.linalg.det(x + 1) * 2, [gw.ones(3, 3)])
    programs = gpu_segments(module, fakes)
    assert len(programs) == 2
    assert all("// Generated by LLVM" in text for p in programs for _, text in list_ptx(p))


def cases() -> list[Any]:
    return [pytest.param(*param.values, dtype, arch, id=f"{param.id}-{dtype}-sm{arch}")
            for param in EVERY_SAMPLE for dtype in (gw.float32, gw.float64)
            for arch in ARCHITECTURES]


def compile_sample(entry: Any, sample: Any, dtype: Any, arch: int) -> int:
    """How many kernels an op's sample has, each compiled."""
    inputs, fn = split_arguments(entry, sample, "contiguous", dtype)
    try:
        module, fakes = graph_of(fn, [x.detach() for x in inputs])
    except (CannotLower, DataDependent):
        return 0
    made = [kernel for program in gpu_segments(module, fakes) for kernel in kernels(program)]
    for kernel in made:
        assert compile_kernel(kernel, arch).cubin[:4] == b"\x7fELF"
    return len(made)


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "sample", "dtype", "arch"), cases())
def test_every_op_that_is_emitted_compiles(
    entry: Any, sample: Any, dtype: Any, arch: int
) -> None:
    compile_sample(entry, sample, dtype, arch)


def test_ops_that_are_emitted_compile() -> None:
    seed = random.randrange(1 << 30)
    print("seed", seed)
    drawn = random.Random(seed).sample(cases(), k=len(cases()))
    made = 0
    while made < SAMPLED:
        made += compile_sample(*drawn.pop().values)
