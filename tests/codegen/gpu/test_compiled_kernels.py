"""Compiled GPU kernels: what they are found by in the cache, how they are compiled, and errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.codegen.cache import KernelCache, kernel_cache
from graphwright.codegen.triton import (
    CannotCompile,
    Request,
    TritonKernel,
    compile_kernel,
    compile_kernels,
    compile_launches,
    compiler,
    kernels,
    worker,
)
from graphwright.codegen.triton.canonical import canonical
from graphwright.runtime.record import replace

from .programs import program_of

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own."""
    pytest.importorskip("triton")
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


def adding(number: int) -> TritonKernel:
    """A small kernel, another one for each number."""
    (kernel,) = kernels(program_of(lambda x: x + number, gw.ones(64)))
    return kernel


def written(body: str, helper: str = "") -> TritonKernel:
    """A kernel with another body."""
    kernel = adding(1)
    head, _, rest = kernel.source.partition("@triton.jit\n")
    return replace(kernel, source=f"{head}{helper}@triton.jit\n{rest.splitlines()[0]}\n{body}")


def test_what_a_launcher_needs_to_know_is_kept(folder: Path) -> None:
    made = compile_kernel(adding(1), 80)
    assert made.cubin[:4] == b"\x7fELF" and ".target sm_80" in made.ptx
    assert f".visible .entry {made.name}(" in made.ptx
    assert made.signature == ("*fp32", "*fp32")
    assert made.registers in range(8, 64)
    assert (made.shared_bytes, made.scratch_bytes, made.spill_bytes) == (0, 0, 0)
    kernel_cache().__init__(folder)  # type: ignore[misc]
    assert compile_kernel(adding(1), 80) == made
    assert kernel_cache().counts.disk_hits == 1


def test_one_call_compiles_what_is_missing_once_in_the_order_asked_for() -> None:
    asked = [Request(adding(n), arch) for n in (3, 1, 3, 2) for arch in (80, 90)]
    made = compile_kernels(asked)
    assert kernel_cache().counts.misses == 6
    assert [kernel.key for kernel in made[:2]] == [kernel.key for kernel in made[4:6]]
    assert [".target sm_90" in kernel.ptx for kernel in made] == [False, True] * 4
    assert made == [compile_kernel(request.kernel, request.arch) for request in asked]
    assert kernel_cache().counts.misses == 6


def test_launches_of_a_program_are_compiled_together() -> None:
    program = program_of(lambda x, y: gw.softmax(x @ y, -1), gw.ones(16, 16), gw.ones(16, 16))
    launches = compile_launches(program, 80)
    assert len(launches) == len(program.steps) == kernel_cache().counts.misses == 2
    assert [f"k{n}{launch.kernel.name[1:]}" for n, launch in enumerate(launches)] == [
        step.name for step in program.steps]


WITHOUT_TRITON = """
import sys
sys.modules["triton"] = None
from tests.codegen.gpu.test_compiled_kernels import adding, compile_kernel, kernel_cache
print(compile_kernel(adding(1), 80).key, kernel_cache().counts.disk_hits)
print([name for name in sys.modules if name.startswith("triton.")],
      "graphwright.codegen.triton.pool" in sys.modules)
compile_kernel(adding(2), 80)
"""


def test_a_hit_needs_neither_triton_nor_another_process() -> None:
    made = compile_kernel(adding(1), 80)
    done = subprocess.run([sys.executable, "-c", WITHOUT_TRITON], capture_output=True, text=True,
                          cwd=ROOT, check=False)
    assert done.stdout.splitlines() == [f"{made.key} 1", "[] False"]
    assert "TritonMissing: Triton, which compiles kernels for GPUs, is not" in done.stderr
    assert "the cache has no k0_add" in done.stderr


def test_an_entry_of_another_triton_counts_where_none_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = compile_kernel(adding(1), 80)
    header, ptx, cubin = worker.unpack((folder / made.key).read_bytes()[:-32])
    assert header["triton"] == compiler.triton_version()
    KernelCache(folder).put(made.key, worker.pack({**header, "triton": "0.1"}, ptx, cubin))
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "triton", None)
        kernel_cache().__init__(folder)  # type: ignore[misc]
        assert compile_kernel(adding(1), 80) == replace(made, triton="0.1")
    kernel_cache().__init__(folder)  # type: ignore[misc]
    assert compile_kernel(adding(1), 80) == made
    assert (kernel_cache().counts.disk_hits, kernel_cache().counts.misses) == (0, 1)


def test_a_damaged_entry_is_compiled_again(folder: Path) -> None:
    made = compile_kernel(adding(1), 80)
    entry = folder / made.key
    entry.write_bytes(entry.read_bytes()[:-100])
    kernel_cache().__init__(folder)  # type: ignore[misc]
    assert compile_kernel(adding(1), 80) == made
    assert kernel_cache().counts.rebuilt == kernel_cache().counts.misses == 1


def key(kernel: TritonKernel, *args: Any) -> str:
    return compiler._key(Request(kernel, *args).job())


def test_the_key_has_all_that_decides_the_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel = adding(1)
    keys = [key(kernel), key(kernel, 80), key(kernel, 90, {kernel.buffers[0].name}),
            key(adding(2)), key(replace(kernel, num_warps=2)), key(replace(kernel, blocks={}))]
    tool = tmp_path / "ptxas"
    for text in ("one", "another one"):
        tool.write_text(text)
        tool.chmod(0o700)
        monkeypatch.setenv("TRITON_PTXAS_PATH", str(tool))
        keys.append(key(kernel))
    assert len(set(keys)) == len(keys)


def test_a_kernel_is_the_same_wherever_its_lines_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = adding(1)
    head, colon, body = kernel.source.partition("):\n")
    moved = replace(kernel, source=f"{head}{colon}    # model.py:7: return x + 1\n{body}")
    assert key(moved) == key(kernel)
    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")     # nothing that Triton is given
    assert key(moved) == key(kernel)


def test_kernels_that_differ_in_names_alone_are_one() -> None:
    def twice(first: Any, second: Any) -> Any:
        return gw.softmax(first @ first, -1) @ gw.softmax(second @ second, -1)

    program = program_of(twice, gw.ones(16, 16), gw.ones(16, 16))
    launches = compile_launches(program, 80)
    assert (len(launches), kernel_cache().counts.misses) == (5, 3)
    assert len({id(launch.kernel) for launch in launches}) == 3
    assert len({launch.arguments for launch in launches}) == 5


def test_names_in_strings_attributes_and_keywords_are_left() -> None:
    body = """    # model.py:7: f(axis)
    mask = tl.arange(0, BLOCK_i)
    ieee, axis = tl.reduce((mask, a_ptr), axis=0)
    for sum in range(0, 3):
        axis += a_ptr.sum(axis=sum, mask=mask) + float("ieee")
"""
    kernel = replace(adding(1), parameters=("a_ptr", "b_ptr"),
                     source=f"head\ndef k0_add(a_ptr, b_ptr, BLOCK_i):\n{body}")
    assert canonical(kernel).source == """head
def k_add(p0, p1, BLOCK_i):
    x2 = tl.arange(0, BLOCK_i)
    x3, x4 = tl.reduce((x2, p0), axis=0)
    for x5 in range(0, 3):
        x4 += p0.sum(axis=x5, mask=x2) + float("ieee")
"""


FAILURES = {
    "an unknown name": ("    tl.store(x_ptr, nope)\n", "", "nope is not defined.*tl.store"),
    "types that do not fit": (
        "    tl.store(x_ptr, gw_f(tl.load(x_ptr)))\n",
        "@triton.jit\ndef gw_f(a):\n    return tl.sqrt_rn(a.to(tl.float64))\n\n",
        "got fp64\nat: return tl.sqrt_rn"),
    "a conversion that LLVM does not have": (
        "    x = tl.load(x_ptr).to(tl.float64)\n"
        "    tl.store(x_ptr, x.to(tl.float8e4nv).to(tl.float32))\n",
        "", "PassManager::run failed\nUnsupported conversion from f64 to f8E4M3FN"),
    "an assembler that refuses": (
        '    tl.inline_asm_elementwise("nonsense $0, $1;", "=r,r", [1], tl.int32, False, 1)\n',
        "", "`ptxas` stderr:\nptxas.*nonsense"),
}
"""What is wrong with a kernel: its body, a function before it, and what is said."""


@pytest.mark.parametrize("wrong", FAILURES)
def test_a_kernel_that_does_not_compile_is_named_and_triton_quoted(
    wrong: str, capfd: pytest.CaptureFixture[str]
) -> None:
    body, helper, said = FAILURES[wrong]
    kernel = written(body.replace("x_ptr", adding(1).parameters[0]), helper)
    with pytest.raises(CannotCompile, match=f"(?s)k0_add cannot be compiled for sm_90 .*{said}"):
        compile_kernel(kernel)
    assert capfd.readouterr() == ("", "")


def test_one_that_fails_keeps_no_other_from_the_cache(folder: Path) -> None:
    asked = [written("    nope()\n"), adding(1), adding(2)]
    with pytest.raises(CannotCompile, match="nope"):
        compile_kernels([Request(kernel, 80) for kernel in asked])
    assert {path.name for path in folder.iterdir()} == {key(kernel, 80) for kernel in asked[1:]}
