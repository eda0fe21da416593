"""The loader: packages run from Python, without graphwright."""

from __future__ import annotations

import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graphwright_loader
import numpy as np
import pytest
from graphwright_loader import Argument, ModelError

import graphwright as gw
from graphwright import nn
from graphwright.codegen.target import CompilerMissing, find_compiler
from graphwright.export import Dim, export
from graphwright.export.packaging import package

LOADER = Path(__file__).resolve().parents[2] / "loader"

try:
    find_compiler()
except CompilerMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)


def several(x: Any, mask: Any) -> Any:
    return (x * 2).mT, mask.sum(), x.sum(0).half()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packages: `several` results, a module in two forms, and a training step."""
    made = tmp_path_factory.mktemp("packages")
    shapes = ({0: Dim("n", max=10)}, {})
    package(export(several, (gw.rand(4, 3), gw.ones(2).bool()), dynamic_shapes=shapes),
            made / "several")
    gw.manual_seed(0)
    linear = export(nn.Linear(3, 2), (gw.rand(4, 3),), dynamic_shapes=({0: Dim("n")},))
    package(linear, made / "linear")
    package(linear, made / "inside", embed_weights=True)
    package(export(lambda table, i: table.add_(i), (gw.zeros(3), gw.ones(3))), made / "add")
    package(export(nn.Embedding(5, 3), (gw.tensor([1, 2]),)), made / "lookup")
    return made


@pytest.fixture
def linear(folder: Path) -> Iterator[graphwright_loader.Model]:
    with graphwright_loader.load(folder / "linear.so", threads=2) as model:
        yield model


def test_arrays_in_and_out(folder: Path) -> None:
    """Of all sizes and memory orders; results are the caller's own."""
    model = graphwright_loader.load(folder / "several.so")
    s0 = model.inputs[0].shape[0]
    assert model.inputs == (Argument("x", np.dtype(np.float32), (s0, "3")),
                            Argument("mask", np.dtype(np.bool_), ("2",)))
    assert [one.dtype for one in model.outputs] == [np.float32, np.int64, np.float16]
    assert model.outputs[0].shape == ("3", s0) and model.outputs[1].shape == ()
    assert repr(model).startswith(f"<several(x: float32[{s0}, 3], mask: bool[2]) -> float32[3, ")
    mask, kept = np.array([True, False]), []
    for x in (np.random.rand(7, 3).astype(np.float32), np.random.rand(3, 2).astype(np.float32).T,
              np.ones((1, 6), np.float32)[:, ::2]):
        found = model(x, mask)
        for one, wanted in zip(found, (2 * x.T, 1, x.sum(0).astype(np.float16)), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-3)
        kept.append((found[0], 2 * x.T))
    for one, wanted in kept:
        np.testing.assert_array_equal(one, wanted)


def test_weights_of_a_file_of_another_and_of_the_library(folder: Path, tmp_path: Path) -> None:
    x = np.random.rand(5, 3).astype(np.float32)
    with (graphwright_loader.load(folder / "linear.so") as one,
          graphwright_loader.load(folder / "inside.so") as other):
        assert not one.embedded and other.embedded and not (folder / "inside.safetensors").exists()
        np.testing.assert_array_equal(one(x), other(x))
        gw.save_file({"weight": gw.zeros(2, 3), "bias": gw.tensor([1.0, 2.0])}, tmp_path / "w")
        third = graphwright_loader.load(folder / "inside.so", weights=tmp_path / "w")
        other.load(tmp_path / "w")
        assert third(x).tolist() == other(x).tolist() == [[1, 2]] * 5
        other.save(tmp_path / "saved")
        assert gw.load_file(tmp_path / "saved")["bias"].tolist() == [1, 2]


def test_an_input_that_the_program_writes(folder: Path) -> None:
    with graphwright_loader.load(folder / "add.so") as model:
        assert [one.written for one in model.inputs] == [True, False]
        table = np.zeros(3, np.float32)
        for _ in range(2):
            model(table, np.arange(3, dtype=np.float32))
        assert table.tolist() == [0, 2, 4]
        frozen = table.copy()
        frozen.flags.writeable = False
        for bad in (frozen, np.zeros(6, np.float32)[::2], [np.float32(0)] * 3):
            with pytest.raises((ValueError, TypeError), match="table"):
                model(bad, table)


def test_what_is_refused(folder: Path, linear: graphwright_loader.Model, tmp_path: Path) -> None:
    """Errors say why, and the model goes on."""
    x = np.ones((2, 3), np.float32)
    for bad, error, message in (
        ((), TypeError, "takes 1 arrays, not 0"),
        ((x.astype(np.float64),), TypeError, "array of float32, not of float64"),
        ((x.astype(">f4"),), TypeError, "array of float32, not of >f4"),
        ((x[0],), ModelError, "has 1 dims, not 2"), ((x.T,), ModelError, "has to be 3"),
    ):
        with pytest.raises(error, match=message):
            linear(*bad)
    for path, message in (
        (folder / "several.safetensors", "no entry of this dtype and shape"),
        (tmp_path, "no safetensors file"), (tmp_path / "none", "No such file"),
    ):
        with pytest.raises(ModelError, match=message):
            linear.load(path)
    with pytest.raises(ModelError, match="No such file"):
        linear.save(tmp_path / "none" / "w")
    assert linear(x).shape == (2, 2)
    with (graphwright_loader.load(folder / "lookup.so") as lookup,
          pytest.raises(ModelError, match="bound of 5")):
        lookup(np.array([1, 7]))
    with pytest.raises(FileNotFoundError, match=r"none\.h is not there"):
        graphwright_loader.load(folder / "none.so")
    with pytest.raises(FileNotFoundError, match="none is not there"):
        graphwright_loader.load(folder / "linear.so", weights=tmp_path / "none")
    with pytest.raises(ModelError, match="no entry"):
        graphwright_loader.load(folder / "linear.so", weights=folder / "several.safetensors")
    (tmp_path / "other.h").write_text("int main(void);")
    with pytest.raises(ModelError, match=r"other\.h is no header of a package"):
        graphwright_loader.load(tmp_path / "other.so")
    linear.close()
    linear.close()
    with pytest.raises(ModelError, match="closed"):
        linear(x)


def test_a_training_step_learns_and_is_saved(tmp_path: Path) -> None:
    net = nn.Linear(4, 1)
    optimiser = gw.optim.Adam(net.parameters(), 0.05)

    def step(x: Any, y: Any) -> Any:
        optimiser.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimiser.step()
        return loss

    x, y = gw.rand(32, 4), gw.rand(32, 1)
    step(x, y)
    package(export(step, (x, y)), tmp_path / "step", embed_weights=True)
    with (graphwright_loader.load(tmp_path / "step.so") as model,
          graphwright_loader.load(tmp_path / "step.so") as other):
        losses = [float(model(x.numpy(), y.numpy())) for _ in range(50)]
        assert losses[-1] < losses[0] / 2
        assert float(other(x.numpy(), y.numpy())) == losses[0]
        model.save(tmp_path / "learnt")
        other.load(tmp_path / "learnt")
        assert float(other(x.numpy(), y.numpy())) == float(model(x.numpy(), y.numpy()))
    assert gw.load_file(tmp_path / "learnt")["net.weight"].shape == (1, 4)


def test_threads_take_turns(linear: graphwright_loader.Model, folder: Path) -> None:
    """At one model, and run models of their own beside each other."""
    wrong = []

    def use(value: float) -> None:
        x = np.full((50, 3), value, np.float32)
        with graphwright_loader.load(folder / "linear.so", threads=2) as own:
            wanted = own(x)
            for _ in range(100):
                wrong.extend(not np.array_equal(model(x), wanted) for model in (linear, own))

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 800 and not any(wrong)


def test_it_is_small_and_needs_numpy_and_cffi_alone() -> None:
    """At most 1 MB, and no other library is imported with it."""
    project = tomllib.loads((LOADER / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == ["numpy>=2.0", "cffi>=1.16"]
    files = [path for path in (LOADER / "src").rglob("*") if path.suffix in (".py", ".typed")]
    assert sum(path.stat().st_size for path in files) < 1 << 20
    code = (f"import sys, cffi, numpy; sys.path.insert(0, {str(LOADER / 'src')!r})\n"
            "before = set(sys.modules); import graphwright_loader\n"
            "roots = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
            "print(*roots - sys.stdlib_module_names)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "graphwright_loader\n"
