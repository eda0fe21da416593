"""Packaged programs: what C gets, that it learns, and what bad callers get."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.export import Dim, ExportError, export
from graphwright.export.packaging import package, source
from graphwright.runtime.record import replace

from .packaged import CC, Model

pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")


def test_an_inference_program(tmp_path: Path) -> None:
    """One library of six functions that needs libc alone, for all sizes of the range."""
    model = nn.Sequential(nn.Linear(8, 40), nn.GELU(), nn.LayerNorm(40), nn.Linear(40, 5)).eval()
    program = export(model, (gw.rand(4, 8),), dynamic_shapes=({0: Dim("rows", max=300)},))
    made = package(program, tmp_path / "tiny")
    needs = subprocess.run(["ldd", str(made.library)], capture_output=True, text=True, check=True)
    assert [line.split()[0].rpartition("/")[2].partition(".")[0]
            for line in needs.stdout.splitlines()] == ["linux-vdso", "libc", "ld-linux-x86-64"]
    names = subprocess.run(["nm", "-D", "--defined-only", str(made.library)],
                           capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"T (\w+)", names)) == [
        f"tiny_{part}" for part in ("create", "error", "free", "load", "run", "save")]
    first = Model(made)
    for threads in (1, 2, 4):
        packaged = Model(made, threads)
        assert not packaged.failed
        for rows in (1, 2, 7, 33, 300):
            x = gw.rand(rows, 8)
            (found,) = packaged.run(x.numpy())
            np.testing.assert_allclose(found, model(x).detach().numpy(), atol=2e-6)
            np.testing.assert_array_equal(found, first.run(x.numpy())[0])
        packaged.close()
    for bad, message in (
        (gw.rand(301, 8), r"in \[1, 300\]"), (gw.rand(3, 9), "dim 1 of input 0 has to be 8"),
        (gw.rand(3), "1 dims, not 2"),
    ):
        with pytest.raises(RuntimeError, match=message):
            first.run(bad.numpy())
    first.close()


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
    model = Convolutions()
    optimiser = gw.optim.SGD(model.parameters(), 0.05, momentum=0.9)

    def step(x: Any) -> Any:
        optimiser.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        optimiser.step()
        return loss

    x = gw.rand(3, 2, 12, 11)
    step(x)
    packaged = Model(package(export(step, (x,)), tmp_path / "step"), threads=2)
    for _ in range(4):
        x = gw.rand(3, 2, 12, 11)
        np.testing.assert_allclose(packaged.run(x.numpy())[0], step(x).item(), rtol=2e-4)
    path = tmp_path / "saved.safetensors"
    assert not packaged("save", packaged.model[0], str(path).encode())
    saved = gw.load_file(str(path))
    for name, parameter in model.named_parameters():
        assert gw.allclose(saved[f"model.{name}"], parameter, atol=1e-5)
    assert not packaged("load", packaged.model[0], str(path).encode())
    packaged.close()


def test_results_are_in_row_major_order(tmp_path: Path) -> None:
    """Whatever order the program leaves them in; of fixed, of dynamic and of derived sizes."""
    def f(x: Any) -> Any:
        return (x * 2).mT, x.permute(2, 0, 1).relu(), x[..., ::2].sum(0), x.sum((0, 2)), x.sum()

    program = export(f, (gw.rand(4, 2, 5),), dynamic_shapes=({0: Dim("n"), 2: Dim("m")},))
    model = Model(package(program, tmp_path / "turned"))
    x = gw.randn(3, 2, 7)
    for found, wanted in zip(model.run(x.numpy(), results=5), f(x), strict=True):
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-5)
    model.close()


def test_an_array_of_results_serves_for_several_runs(tmp_path: Path) -> None:
    """The model's memory grows where it is handed in again."""
    made = package(export(lambda x: x + 1, (gw.rand(4),), dynamic_shapes=({0: Dim("n")},)),
                   tmp_path / "grow")
    model = Model(made)
    given, found = model.ffi.new("gw_tensor[1]"), model.ffi.new("gw_tensor[1]")
    for count in (4, 1_000_000, 8):
        x = np.arange(count, dtype=np.float32)
        sizes = model.ffi.new("int64_t[]", [count])
        given[0].data, given[0].sizes, given[0].rank = (
            model.ffi.cast("void *", x.ctypes.data), sizes, 1)
        assert model("run", model.model[0], given, found) == 0
        result = np.frombuffer(model.ffi.buffer(found[0].data, x.nbytes), np.float32)
        np.testing.assert_array_equal(result, x + 1)
    model.close()


def test_random_numbers_begin_with_the_seed(tmp_path: Path) -> None:
    made = package(export(lambda x: x + gw.rand(1000), (gw.zeros(1000),)), tmp_path / "noise")
    one, other = Model(made), Model(made, threads=2)
    zeros = np.zeros(1000, np.float32)
    first, second = one.run(zeros)[0], one.run(zeros)[0]
    np.testing.assert_array_equal(first, other.run(zeros)[0])
    assert 0 <= first.min() < first.max() < 1 and abs(first.mean() - 0.5) < 0.05
    assert (first != second).any()
    one.close(), other.close()


def test_bad_callers(tmp_path: Path) -> None:
    """Null pointers, files that are none, indices out of range: an error, and the model lives."""
    table = nn.Embedding(5, 3)
    made = package(export(table, (gw.tensor([1, 2]),)), tmp_path / "lookup")
    model = Model(made)
    null = model.ffi.NULL
    assert model("run", null, null, null) == model("load", null, null) == 1
    assert model("run", model.model[0], null, null) == 1 and "arrays" in model.error()
    with pytest.raises(RuntimeError, match="no data"):
        given, found = model.ffi.new("gw_tensor[1]"), model.ffi.new("gw_tensor[1]")
        if model("run", model.model[0], given, found):
            raise RuntimeError(model.error())
    raw = np.zeros(32, np.uint8)[1:17]
    sizes = model.ffi.new("int64_t[]", [2])
    given[0].data, given[0].sizes, given[0].rank = (
        model.ffi.cast("void *", raw.ctypes.data), sizes, 1)
    assert model("run", model.model[0], given, found) == 1 and "not aligned" in model.error()
    with pytest.raises(RuntimeError, match="bound"):
        model.run(np.array([1, 5]))
    np.testing.assert_array_equal(
        model.run(np.array([1, 4]))[0], table(gw.tensor([1, 4])).detach().numpy())
    other = tmp_path / "other.safetensors"
    gw.save_file({"weight": gw.ones(4, 3)}, other)
    for path, message in ((other, "no entry of this dtype and shape, written without spaces"),
                          (made.library, "no safetensors file"), (tmp_path, "no safetensors"),
                          (tmp_path / "none", "No such file")):
        assert model("load", model.model[0], str(path).encode()) == 1 and message in model.error()
        assert Model(made, weights=str(path)).failed
    assert model("save", model.model[0], b"/no/such/folder/x") == 1
    assert model.run(np.array([1, 4]))[0].shape == (2, 3)
    model("free", null)
    model.close()


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
    one, other = Model(made), Model(made)
    (first,) = one.run(x)
    np.testing.assert_allclose(one.run(x)[0], first + 6, rtol=1e-6)
    np.testing.assert_array_equal(other.run(x)[0], first)
    saved = str(tmp_path / "saved").encode()
    assert not one("save", one.model[0], saved) and not other("load", other.model[0], saved)
    np.testing.assert_array_equal(other.run(x)[0], one.run(x)[0])
    one.close(), other.close()
    beside = Model(replace(package(program, tmp_path / "beside"), weights=None))
    assert beside.failed and beside.error() == "no path of weights is given"
    beside.close()
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
        model = Model(made, weights=str(damaged))
        assert model.failed and model.error()
        model.close()
    for _ in range(200):
        changed = bytearray(content)
        changed[draw.integers(8 + 100)] ^= 1 << draw.integers(8)
        damaged.write_bytes(changed)
        model = Model(made, weights=str(damaged))
        if not model.failed:
            model.run(np.ones((4, 3), np.float32))
        model.close()


def test_weights_at_odd_places(tmp_path: Path) -> None:
    """Are copied: code may rely on aligned elements."""
    linear = nn.Linear(3, 2)
    made = package(export(linear, (gw.rand(4, 3),)), tmp_path / "linear")
    odd = {"flag": gw.ones(1).bool(), **linear.state_dict()}
    gw.save_file(odd, tmp_path / "odd.safetensors")
    one, other = Model(made), Model(made, weights=str(tmp_path / "odd.safetensors"))
    x = np.ones((4, 3), np.float32)
    np.testing.assert_array_equal(one.run(x)[0], other.run(x)[0])
    assert not other("save", other.model[0], str(tmp_path / "again").encode())
    assert gw.equal(gw.load_file(tmp_path / "again")["weight"], linear.weight)
    one.close(), other.close()


def test_programs_that_cannot_be_packaged(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="Python only"):
        package(export(lambda x: gw.linalg.svd(x)[1], (gw.rand(3, 3),)), tmp_path / "svd")
    with pytest.raises(ExportError, match="no products of bfloat16"):
        package(export(nn.Linear(4, 4).bfloat16(), (gw.rand(2, 4).bfloat16(),)), tmp_path / "half")
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
    found = Model(same).run(x, results=3)
    for one, wanted in zip(found, (x, x[1:], x * 2), strict=True):
        np.testing.assert_array_equal(one, wanted)
