"""Whole models: eager against compiled, forward, gradients and training, one graph each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn

BACKENDS = ("eager", "llvm", "c")


class MLP(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.3),
                                    nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 5))

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        return self.layers(x)


class CNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 12, 3, stride=2, bias=False)
        self.out = nn.Linear(12 * 3 * 3, 5)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        x = F.max_pool2d(F.relu(self.bn(self.conv1(x))), 2)
        return self.out(F.relu(self.conv2(x)).flatten(1))


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = (parts[:, :, i].transpose(1, 2) for i in range(3))
        scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        mask = gw.ones(length, length, dtype=gw.bool).tril()
        weights = gw.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(11, 16), nn.Embedding(12, 16)
        self.blocks = nn.ModuleList([Block(16, 4) for _ in range(2)])
        self.norm = nn.LayerNorm(16)
        self.out = nn.Linear(16, 11)

    def forward(self, ids: gw.Tensor) -> gw.Tensor:
        x = self.tokens(ids) + self.positions(gw.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x)).flatten(0, 1)


def floats(*shape: int) -> Callable[[], gw.Tensor]:
    return lambda: gw.randn(*shape)


MODELS = {
    "mlp": (MLP, floats(6, 20), 6, 5),
    "cnn": (CNN, floats(4, 3, 16, 16), 4, 5),
    "gpt": (GPT, lambda: gw.randint(0, 11, (3, 12)), 36, 11),
}


def loss_of(model: nn.Module, x: gw.Tensor, labels: gw.Tensor) -> gw.Tensor:
    return F.cross_entropy(model(x), labels)


def close(a: gw.Tensor, b: gw.Tensor) -> bool:
    return np.allclose(a.detach().numpy(), b.detach().numpy(), rtol=2e-4, atol=2e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
def test_training_agrees_with_eager_step_by_step(name: str, backend: str) -> None:
    kind, make, rows, classes = MODELS[name]
    gw.manual_seed(3)
    eager, copied = kind(), kind()
    copied.load_state_dict(eager.state_dict())
    batches = [(make(), gw.randint(0, classes, (rows,))) for _ in range(4)]
    compiled = gw.compile(loss_of, backend=backend, fullgraph=True)
    losses: list[list[float]] = []
    for model, loss_function in ((eager, loss_of), (copied, compiled)):
        gw.manual_seed(11)
        optimizer = gw.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        run = []
        for x, labels in batches:
            optimizer.zero_grad()
            loss = loss_function(model, x, labels)
            loss.backward()
            optimizer.step()
            run.append(loss.item())
        losses.append(run)
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    for (key, a), b in zip(eager.state_dict().items(), copied.state_dict().values(), strict=True):
        assert close(a, b), key
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.breaks, stats.recompiles) == (1, 0, 0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MODELS)
def test_inference_agrees_with_eager(name: str, backend: str) -> None:
    kind, make, _, _ = MODELS[name]
    gw.manual_seed(5)
    model = kind().eval()
    x = make()
    compiled = gw.compile(model, backend=backend, fullgraph=True)
    with gw.no_grad():
        assert close(compiled(x), model(x))


@pytest.mark.parametrize("backend", ("llvm", "c"))
def test_one_kernel_serves_every_batch_size_after_the_second(backend: str) -> None:
    gw.manual_seed(5)
    model = MLP().eval()
    compiled = gw.compile(model, backend=backend)
    with gw.no_grad():
        for size in (4, 7, 9, 64, 33, 2):
            x = gw.randn(size, 20)
            assert close(compiled(x), model(x)), size
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.recompiles) == (2, 1)


@pytest.mark.parametrize("backend", ("llvm", "c"))
def test_training_with_batches_of_changing_size(backend: str) -> None:
    gw.manual_seed(5)
    eager, copied = CNN(), CNN()
    copied.load_state_dict(eager.state_dict())
    compiled = gw.compile(loss_of, backend=backend)
    for size in (4, 6, 5, 9):
        x, labels = gw.randn(size, 3, 16, 16), gw.randint(0, 5, (size,))
        a, b = loss_of(eager, x, labels), compiled(copied, x, labels)
        a.backward()
        b.backward()
        assert b.item() == pytest.approx(a.item(), rel=1e-4)
        for p, q in zip(eager.parameters(), copied.parameters(), strict=True):
            assert close(p.grad, q.grad)
    assert gw.compiler.stats(compiled).graphs == 2
