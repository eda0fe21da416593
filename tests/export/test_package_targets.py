"""Packages for other processors, by both linkers: run here, or under qemu-user."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.codegen.target import CompilerMissing, host
from graphwright.export import Dim, ExportedProgram, export
from graphwright.export.packaging import linking, package
from graphwright.export.packaging.targets import TARGETS, target_of

from .packaged import CC, EXAMPLES, done, model, written

SYSROOT = Path("/usr/aarch64-linux-gnu")
"""Where libc6-arm64-cross puts the C library."""
CALLER = Path(__file__).with_name("caller.c")
QEMU = shutil.which("qemu-aarch64")
no_zig = pytest.mark.skipif(find_spec("ziglang") is None, reason="ziglang is not installed")
no_qemu = pytest.mark.skipif(
    QEMU is None or not (SYSROOT / "lib" / "ld-linux-aarch64.so.1").exists(),
    reason="qemu-user and libc6-arm64-cross are not installed")
LINKERS = [pytest.param("cc", marks=pytest.mark.skipif(CC is None, reason="no C compiler")),
           pytest.param("zig", marks=no_zig)]


class Mixed(nn.Module):
    """A bit of everything that kernels do: products, windows, functions, reductions, half types,
    indices, random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(3, 16, 3, padding=1), nn.LayerNorm(16)
        self.up, self.table = nn.Linear(16, 70), nn.Embedding(70, 5)

    def forward(self, x: Any) -> Any:
        h = self.norm(nn.functional.gelu(self.conv(x)).mT)
        h = nn.functional.max_pool1d(h.mT, 2).mT.half().float()
        h = self.up(h).softmax(-1) + h.sin().mean(-1, keepdim=True).round(decimals=2)
        h = h + gw.sigmoid(h.double()).float() * (gw.rand_like(h) < 0.5)
        return gw.cat([self.table(h.argmax(-1)), h[..., ::7]], -1)


@cache
def mixed() -> tuple[Mixed, ExportedProgram]:
    gw.manual_seed(3)
    net = Mixed().eval()
    return net, export(net, (gw.rand(4, 3, 12),), dynamic_shapes=({0: Dim("n", max=99)},))


def expected(x: np.ndarray) -> np.ndarray:
    """Of the first call of a model with the seed 7."""
    gw.manual_seed(7)
    return mixed()[0](gw.from_numpy(x)).detach().numpy()


def inputs() -> np.ndarray:
    return np.random.default_rng(0).random((5, 3, 12), np.float32)


def needs(library: Path) -> set[str]:
    """The libraries that one is linked with."""
    lines = subprocess.run(["readelf", "-d", str(library)], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {line.partition("[")[2].rstrip("]") for line in lines if "(NEEDED)" in line}


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3", "x86-64-v4", "native"])
def test_a_target_of_this_machine(target: str, linker: str, tmp_path: Path) -> None:
    """Right results, from a library that needs libc alone."""
    machine = target_of(target).machine
    if machine.arch != host().arch or not machine.features <= host().features:
        pytest.skip(f"this machine does not run code for {target}")
    made = package(mixed()[1], tmp_path / "mixed", target=target, linker=linker)
    assert needs(made.library) <= {"libc.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0"}
    found = model(made, threads=2)(inputs())
    np.testing.assert_allclose(found, expected(inputs()), atol=1e-5)


@no_zig
@no_qemu
def test_aarch64(tmp_path: Path) -> None:
    """The same results on another processor, with weights in the library and beside it."""
    x = inputs()
    given = np.array([x.ndim, *x.shape], np.int64).tobytes() + x.tobytes()
    for embedded in (False, True):
        made = package(mixed()[1], tmp_path / "mixed", target="aarch64", embed_weights=embedded)
        assert needs(made.library) <= {"libc.so.6", "ld-linux-aarch64.so.1", "libpthread.so.0"}
        caller = for_aarch64(tmp_path, "caller", made.library, CALLER, "-DNAME=mixed",
                             '-DHEADER="mixed.h"')
        ran = subprocess.run([*emulated(caller), str(made.weights or "-"), "2"], input=given,
                             capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr
        rank = int.from_bytes(ran.stdout[:8], "little")
        sizes = np.frombuffer(ran.stdout, np.int64, rank, 8)
        found = np.frombuffer(ran.stdout, np.float32, offset=8 + 8 * rank).reshape(sizes)
        np.testing.assert_allclose(found, expected(x), atol=1e-5)


@no_zig
@no_qemu
def test_aarch64_learns(tmp_path: Path) -> None:
    folder = written(tmp_path, "aarch64")
    train, classify = (
        for_aarch64(folder, source, folder / f"{library}.so", EXAMPLES / f"{source}.c")
        for source, library in (("train", "learn"), ("classify", "classify")))
    done([*emulated(train), folder, 1])
    read = done([*emulated(classify), folder, folder / "trained.safetensors"])
    assert float(read) > 0.5


def for_aarch64(folder: Path, name: str, library: Path, source: Path, *flags: str) -> Path:
    """A C program for aarch64."""
    zig = linking.find_linker(TARGETS["aarch64"], "zig").command
    made = folder / f"{name}-aarch64"
    subprocess.run([*zig, "-O1", *flags, f"-I{folder}", str(source), str(library),
                    f"-Wl,-rpath,{folder}", "-o", str(made)], check=True)
    return made


def emulated(program: Path) -> list[str]:
    assert QEMU is not None
    return [QEMU, "-L", str(SYSROOT), str(program)]


def test_a_target_without_a_linker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Says what is missing and what to install, and writes nothing."""
    program = export(nn.ReLU(), (gw.rand(3),))
    other = "aarch64" if host().arch == "x86_64" else "x86-64"
    monkeypatch.setattr(linking, "find_spec", lambda name: None)
    for target, linker, message in (
        (other, "auto", r"not for .*: install ziglang \(pip install 'graphwright\[package\]'\)"),
        ("native", "zig", "the linker 'zig' is not installed: install ziglang"),
    ):
        with pytest.raises(CompilerMissing, match=message):
            package(program, tmp_path / "relu", target=target, linker=linker)
    monkeypatch.setenv("CC", "no-such-compiler")
    for linker in ("auto", "cc"):
        with pytest.raises(CompilerMissing, match=r"no C compiler was found .* install ziglang"):
            package(program, tmp_path / "relu", linker=linker)
    with pytest.raises(ValueError, match="'ld' is no linker: these are auto, cc, zig"):
        package(program, tmp_path / "relu", linker="ld")
    assert list(tmp_path.iterdir()) == []
