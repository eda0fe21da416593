"""Packaged programs: what C gets, that it learns, and what bad callers get."""

from __future__ import annotations

import contextlib
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphwright_loader import ModelError

import graphwright as gw
from graphwright import nn
from graphwright.export import Dim, ExportError, export
from graphwright.export.packaging import package, source
from graphwright.runtime import _core

from .packaged import CC, library_of, model

pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")


def test_an_inference_program(tmp_path: Path) -> None:
    """One library of six functions that needs libc alone, for all sizes of the range."""
    net = nn.Sequential(nn.Linear(8, 40), nn.GELU(), nn.LayerNorm(40), nn.Linear(40, 5)).eval()
    program = export(net, (gw.rand(4, 8),), dynamic_shapes=({0: Dim("rows", max=300)},))
    made = package(program, tmp_path / "tiny")
    needs = subprocess.run(["ldd", str(made.library)], capture_output=True, text=True, check=True)
    assert [line.split()[0].rpartition("/")[2].partition(".")[0]
            for line in needs.stdout.splitlines()] == ["linux-vdso", "libc", "ld-linux-x86-64"]
    names = subprocess.run(["nm", "-D", "--defined-only", str(made.library)],
                           capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"T (\w+)", names)) == [
        f"tiny_{part}" for part in ("create", "error", "free", "load", "run", "save")]
    first = model(made)
    for threads in (1, 2, 4):
        packaged = model(made, threads)
        for rows in (1, 2, 7, 33, 300):
            x = gw.rand(rows, 8)
            found = packaged(x.numpy())
            np.testing.assert_allclose(found, net(x).detach().numpy(), atol=2e-6)
            np.testing.assert_array_equal(found, first(x.numpy()))
    for bad, message in (
        (gw.rand(301, 8), r"in \[1, 300\]"), (gw.rand(3, 9), "dim 1 of input 0 has to be 8"),
        (gw.rand(3), "1 dims, not 2"),
    ):
        with pytest.raises(ModelError, match=message):
            first(bad.numpy())


class Convolutions(nn.Module):
    """Strides, padding, dilation, groups, a transposed convolution, pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(2, 8, 3, stride=2, padding=1)
        self.b = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=4)
        self.norm = nn.BatchNorm2d(8)
        self.c = nn.ConvTranspose2d(8, 3, 4, stride=2, padding=1, output_padding=1)
        self.d = nn.Conv1d(3, 4, 5)

    def forward(self, x: Any) -> Any:
        x = nn.functional.max_pool2d(gw.relu(self.a(x)), 2, 1)
        x = self.c(self.norm(self.b(x)))
        return self.d(nn.functional.adaptive_avg_pool2d(x, (1, 9)).squeeze(2))


def test_convolutions_and_their_gradients(tmp_path: Path) -> None:
    net = Convolutions()
    optimiser = gw.optim.SGD(net.parameters(), 0.05, momentum=0.9)

    def step(x: Any) -> Any:
        optimiser.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimiser.step()
        return loss

    x = gw.rand(3, 2, 12, 11)
    step(x)
    packaged = model(package(export(step, (x,)), tmp_path / "step"), threads=2)
    for _ in range(4):
        x = gw.rand(3, 2, 12, 11)
        np.testing.assert_allclose(packaged(x.numpy()), step(x).item(), rtol=2e-4)
    packaged.save(tmp_path / "saved")
    saved = gw.load_file(tmp_path / "saved")
    for name, parameter in net.named_parameters():
        assert gw.allclose(saved[f"net.{name}"], parameter, atol=1e-5)
    packaged.load(tmp_path / "saved")


def test_results_are_in_row_major_order(tmp_path: Path) -> None:
    """Whatever order the program leaves them in; of fixed, of dynamic and of derived sizes."""
    def f(x: Any) -> Any:
        return (x * 2).mT, x.permute(2, 0, 1).relu(), x[..., ::2].sum(0), x.sum((0, 2)), x.sum()

    program = export(f, (gw.rand(4, 2, 5),), dynamic_shapes=({0: Dim("n"), 2: Dim("m")},))
    packaged = model(package(program, tmp_path / "turned"))
    x = gw.randn(3, 2, 7)
    for found, wanted in zip(packaged(x.numpy()), f(x), strict=True):
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-5)


def test_an_array_of_results_serves_for_several_runs(tmp_path: Path) -> None:
    """The model's memory grows where it is handed in again."""
    made = package(export(lambda x: x + 1, (gw.rand(4),), dynamic_shapes=({0: Dim("n")},)),
                   tmp_path / "grow")
    ffi, call = library_of(made)
    place = ffi.new("grow **")
    assert call("create", place, str(made.weights).encode(), 1, 0) == 0
    given, found = ffi.new("gw_tensor[1]"), ffi.new("gw_tensor[1]")
    for count in (4, 1_000_000, 8):
        x = np.arange(count, dtype=np.float32)
        sizes = ffi.new("int64_t[]", [count])
        given[0].data, given[0].sizes, given[0].rank = ffi.cast("void *", x.ctypes.data), sizes, 1
        assert call("run", place[0], given, found) == 0
        result = np.frombuffer(ffi.buffer(found[0].data, x.nbytes), np.float32)
        np.testing.assert_array_equal(result, x + 1)
    call("free", place[0])


def test_random_numbers_begin_with_the_seed(tmp_path: Path) -> None:
    made = package(export(lambda x: x + gw.rand(1000), (gw.zeros(1000),)), tmp_path / "noise")
    one, other = model(made), model(made, threads=2)
    zeros = np.zeros(1000, np.float32)
    first, second = one(zeros), one(zeros)
    np.testing.assert_array_equal(first, other(zeros))
    assert 0 <= first.min() < first.max() < 1 and abs(first.mean() - 0.5) < 0.05
    assert (first != second).any()


def test_bad_callers(tmp_path: Path) -> None:
    """Null pointers, no data, data that is not aligned: an error, and the model lives."""
    table = nn.Embedding(5, 3)
    made = package(export(table, (gw.tensor([1, 2]),)), tmp_path / "lookup")
    ffi, call = library_of(made)
    null, place, indices = ffi.NULL, ffi.new("lookup **"), np.array([1, 4])
    assert call("create", place, null, 1, 0) == 1
    assert ffi.string(call("error", place[0])) == b"no path of weights is given"
    call("free", place[0])
    assert call("create", place, str(made.weights).encode(), 1, 0) == 0
    given, found = ffi.new("gw_tensor[1]"), ffi.new("gw_tensor[1]")
    sizes = ffi.new("int64_t[]", [2])

    def refused(message: str, part: str, *args: Any) -> None:
        assert call(part, place[0], *args) == 1
        assert message in ffi.string(call("error", place[0])).decode()

    assert call("run", null, null, null) == call("load", null, null) == 1
    refused("arrays", "run", null, null)
    refused("no data", "run", given, found)
    raw = np.zeros(32, np.uint8)[1:17]
    given[0].data, given[0].sizes, given[0].rank = ffi.cast("void *", raw.ctypes.data), sizes, 1
    refused("not aligned", "run", given, found)
    refused("no path", "load", null)
    refused("No such file", "save", b"/no/such/folder/x")
    given[0].data = ffi.cast("void *", indices.ctypes.data)
    assert call("run", place[0], given, found) == 0
    rows = np.frombuffer(ffi.buffer(found[0].data, 24), np.float32).reshape(2, 3)
    np.testing.assert_array_equal(rows, table(gw.from_numpy(indices)).detach().numpy())
    call("free", null), call("free", place[0])


def test_weights_in_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models learn apart from the same pages; a file's weights replace them."""
    net = nn.Linear(3, 2)

    def step(x: Any) -> Any:
        with gw.no_grad():
            net.weight.add_(x)
            return net.weight.sum() + net.bias.sum()

    program = export(step, (gw.rand(2, 3),))
    made = package(program, tmp_path / "inside", embed_weights=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inside.h", "inside.so"]
    x = np.ones((2, 3), np.float32)
    one, other = model(made), model(made)
    first = one(x)
    np.testing.assert_allclose(one(x), first + 6, rtol=1e-6)
    np.testing.assert_array_equal(other(x), first)
    one.save(tmp_path / "saved")
    other.load(tmp_path / "saved")
    np.testing.assert_array_equal(other(x), one(x))
    monkeypatch.setattr(source, "_MOST_EMBEDDED", 100)
    with pytest.raises(ExportError, match="bytes of weights cannot be embedded, 100 can"):
        package(program, tmp_path / "large", embed_weights=True)


def test_damaged_weights(tmp_path: Path) -> None:
    made = package(export(nn.Linear(3, 2), (gw.rand(4, 3),)), tmp_path / "linear")
    content = made.weights.read_bytes()
    damaged = tmp_path / "damaged.safetensors"
    draw = np.random.default_rng(0)
    for length in (0, 3, 8, 40, len(content) - 1):
        damaged.write_bytes(content[:length])
        with pytest.raises(ModelError, match="damaged"):
            model(made, weights=damaged)
    for _ in range(200):
        changed = bytearray(content)
        changed[draw.integers(8 + 100)] ^= 1 << draw.integers(8)
        damaged.write_bytes(changed)
        with contextlib.suppress(ModelError):
            model(made, weights=damaged)(np.ones((4, 3), np.float32))


def test_weights_at_odd_places(tmp_path: Path) -> None:
    """Are copied: code may rely on aligned elements."""
    linear = nn.Linear(3, 2)
    made = package(export(linear, (gw.rand(4, 3),)), tmp_path / "linear")
    odd = {"flag": gw.ones(1).bool(), **linear.state_dict()}
    gw.save_file(odd, tmp_path / "odd.safetensors")
    one, other = model(made), model(made, weights=tmp_path / "odd.safetensors")
    x = np.ones((4, 3), np.float32)
    np.testing.assert_array_equal(one(x), other(x))
    other.save(tmp_path / "again")
    assert gw.equal(gw.load_file(tmp_path / "again")["weight"], linear.weight)


def test_programs_that_cannot_be_packaged(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="Python only"):
        package(export(lambda x: gw.linalg.svd(x)[1], (gw.rand(3, 3),)), tmp_path / "svd")
    if _core.has_bfloat16_products():       # they are the CPU's own; others go by float32
        half = export(nn.Linear(4, 4).bfloat16(), (gw.rand(2, 4).bfloat16(),))
        with pytest.raises(ExportError, match="no products of bfloat16"):
            package(half, tmp_path / "half")
    for name in ("no-name", "int", "1x"):
        with pytest.raises(ValueError, match="names of C functions"):
            package(export(nn.ReLU(), (gw.rand(3),)), tmp_path / name)
    with pytest.raises(TypeError, match="takes an ExportedProgram"):
        package(nn.ReLU(), tmp_path / "relu")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'vax' is no target"):
        package(export(nn.ReLU(), (gw.rand(3),)), tmp_path / "relu", target="vax")
    assert list(tmp_path.iterdir()) == []
    same = package(export(lambda x: (x, x[1:], x * 2), (gw.rand(3),)), tmp_path / "same")
    x = np.arange(3, dtype=np.float32)
    for one, wanted in zip(model(same)(x), (x, x[1:], x * 2), strict=True):
        np.testing.assert_array_equal(one, wanted)
