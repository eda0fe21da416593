"""GRAPHWRIGHT_CPU: kernels for less than the processor has, with the same results."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from graphwright.codegen import target
from graphwright.codegen.emit import c_object

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="names of x86-64")

PROGRAM = """
import graphwright as gw

@gw.compile(backend="llvm")
def f(x):
    return (gw.exp(x) * x.tanh() + x.half().float().floor()).sum(-1)

gw.manual_seed(0)
x = gw.randn(64, 300)
expected = (gw.exp(x) * x.tanh() + x.half().float().floor()).sum(-1)
gw.testing.assert_close(f(x), expected)
text = gw.compiler.dump(f, ["asm"])["asm"]
print(*[name for name in ("xmm", "ymm", "zmm", "vfmadd", "vcvtps2ph") if name in text])
"""


@pytest.mark.parametrize(("cpu", "lacks"), [
    ("avx2", {"zmm"}), ("x86-64", {"ymm", "zmm", "vfmadd", "vcvtps2ph"})])
def test_kernels_keep_to_the_instructions_that_are_allowed(
    tmp_path: Path, cpu: str, lacks: set[str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False,
        env={**os.environ, "GRAPHWRIGHT_CPU": cpu, "GRAPHWRIGHT_CACHE_DIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    found = set(done.stdout.split())
    assert "xmm" in found and found.isdisjoint(lacks)


def test_the_c_compiler_is_told_as_well() -> None:
    for bits, features in target.LIMITS.values():
        flags = c_object.flags(target.Machine("x86_64", features, bits))
        assert "-march=native" not in flags and "-mavx512f" not in flags
        assert ("-mavx2" in flags) is (bits == 256)


def test_other_names_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_CPU", "sse9")
    assert target.host.__wrapped__() == target.detected()
    monkeypatch.setenv("GRAPHWRIGHT_CPU", "x86-64")
    limited = target.host.__wrapped__()
    assert limited.vector_bits == 128 and not limited.features
