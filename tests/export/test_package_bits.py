"""`options={"blas": False}`: compiled code runs the kernels of packages, for the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphwright_loader import Model

import graphwright as gw
from graphwright import nn
from graphwright.export import Dim, export, load, save
from graphwright.export.packaging import package

from .packaged import CC, model

pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")


def pair(
    function: Callable[..., Any], args: tuple[Any, ...], shapes: Any, folder: Path, threads: int,
) -> tuple[Model, Callable[..., Any]]:
    """A program packaged, and compiled with state of its own."""
    program = export(function, args, dynamic_shapes=shapes)
    save(program, folder / "program.gwx")
    packaged = model(package(program, folder / "program"), threads)
    module = load(folder / "program.gwx").module()
    return packaged, gw.compile(module, backend="c", fullgraph=True, dynamic=True,
                                options={"blas": False})


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Any:
    """How many run both."""
    before = gw.get_num_threads()
    gw.set_num_threads(request.param)
    yield request.param
    gw.set_num_threads(before)


class Encoder(nn.Module):
    """Convolution, attention and a layer norm: thin and large products, transposed ones too."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(6, 64, 3, padding=1)
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
        self.norm, self.head = nn.LayerNorm(64), nn.Linear(64, 7)

    def forward(self, x: Any) -> Any:
        h = self.conv(x.mT).mT
        h = self.norm(h + self.attention(h, h, h, need_weights=False)[0])
        return self.head(nn.functional.gelu(h)).softmax(-1)


def test_results_of_a_model(threads: int, tmp_path: Path) -> None:
    """For sizes from 2 on: compiled code has kernels of their own for sizes of 1."""
    encoder = Encoder().eval()
    shapes = ({0: Dim("n", max=64), 1: Dim("length", max=64)},)
    packaged, compiled = pair(encoder, (gw.rand(4, 9, 6),), shapes, tmp_path, threads)
    for size in ((4, 9), (2, 5), (3, 2), (3, 33), (64, 64)):
        x = gw.rand(*size, 6)
        with gw.no_grad():
            wanted = compiled(x)
        np.testing.assert_array_equal(packaged(x.numpy()), wanted.numpy())
        assert gw.allclose(wanted, encoder(x), atol=1e-5)


def test_a_training_step(threads: int, tmp_path: Path) -> None:
    """Loss by loss, and the weights that both have learnt."""
    net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Dropout(0.1), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
                        nn.Linear(512, 10))
    optimiser = gw.optim.Adam(net.parameters(), 3e-3)

    def step(x: Any, y: Any) -> Any:
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimiser.step()
        return loss

    def batch(n: int) -> tuple[Any, Any]:
        return gw.rand(n, 1, 8, 8), gw.randint(0, 10, (n,))

    step(*batch(32))
    rows = Dim("rows", min=2)
    packaged, compiled = pair(step, batch(32), ({0: rows}, {0: rows}), tmp_path, threads)
    batches = [batch(n) for n in (32, 32, 7, 50, 32)]
    gw.manual_seed(7)
    for x, y in batches:
        assert packaged(x.numpy(), y.numpy()) == compiled(x, y).item()
    packaged.save(tmp_path / "learnt")
    learnt = gw.load_file(tmp_path / "learnt")
    wanted = dict(compiled.state_dict())
    assert learnt.keys() == wanted.keys()
    for name, tensor in learnt.items():
        assert gw.equal(tensor, wanted[name]), name


def test_the_option_is_checked() -> None:
    with pytest.raises(ValueError, match="blas must be True or False, not 0"):
        gw.compile(lambda x: x, options={"blas": 0})
    with pytest.raises(ValueError, match='"blas" needs a named backend'):
        gw.compile(lambda x: x, options={"blas": False}, backend=lambda graph, inputs: graph)


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_gradients_of_a_compiled_module(backend: str) -> None:
    """Backward graphs have neither BLAS nor convolutions, and their gradients are eager ones."""
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)).double()
    compiled = gw.compile(net, backend=backend, options={"blas": False})
    x = gw.rand(2, 2, 6, 6, dtype=gw.float64)
    gradients = []
    for module in (compiled, net):
        net.zero_grad()
        (module(x) ** 2).sum().backward()
        gradients.append([parameter.grad.clone() for parameter in net.parameters()])
    for one, other in zip(*gradients, strict=True):
        assert gw.allclose(one, other, rtol=1e-12)
    dumped = gw.compiler.dump(compiled, stages=["loops"])["loops"]
    assert "gemm" in dumped and "conv" not in dumped
