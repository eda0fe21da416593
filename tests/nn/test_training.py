"""Eager training from end to end on small synthetic tasks; dropout and batch norm's state."""

from __future__ import annotations

import math

import numpy as np
import pytest

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn, optim


def _spirals(count: int) -> tuple[gw.Tensor, gw.Tensor]:
    """Two interleaved spirals: not separable without hidden layers."""
    rng = np.random.default_rng(1)
    label = np.arange(count) % 2
    angle = rng.random(count) * 3 * math.pi
    radius = angle / (3 * math.pi) * (1 - 2 * label)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return gw.tensor(points.astype(np.float32)), gw.tensor(label)


def test_an_mlp_learns_spirals() -> None:
    gw.manual_seed(0)
    x, y = _spirals(256)
    hidden = (nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.GELU())
    net = nn.Sequential(*hidden, nn.Linear(64, 2))
    optimizer = optim.AdamW(net.parameters(), lr=0.01)
    for _ in range(250):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    accuracy = (net(x).argmax(1) == y).float().mean().item()
    assert loss.item() < 0.1 and accuracy > 0.97


class Stripes(nn.Module):
    """A small CNN with all the usual parts."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(2)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(8 * 4 * 4, 2)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        x = self.pool(F.relu(self.norm(self.conv(x))))
        return self.head(self.drop(x.flatten(1)))


def test_a_cnn_tells_horizontal_from_vertical_stripes() -> None:
    gw.manual_seed(0)
    rng = np.random.default_rng(2)
    label = rng.integers(0, 2, 128)
    wave = np.sin(np.arange(8) * 2 + rng.random((128, 1)) * 6)
    image = np.where(label[:, None, None], wave[:, None, :], wave[:, :, None])
    image = image + rng.standard_normal(image.shape) * 0.3
    x, y = gw.tensor(image[:, None].astype(np.float32)), gw.tensor(label)
    net = Stripes()
    optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for step in range(40):
        batch = slice(step % 4 * 32, step % 4 * 32 + 32)
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    net.eval()
    with gw.no_grad():
        assert (net(x).argmax(1) == y).float().mean().item() > 0.95


def test_dropout_is_reproducible_and_unbiased() -> None:
    x = gw.ones(1000, 10).requires_grad_()
    gw.manual_seed(7)
    first = F.dropout(x, 0.3)
    gw.manual_seed(7)
    again = F.dropout(x, 0.3)
    assert np.array_equal(first.detach().numpy(), again.detach().numpy())
    assert not np.array_equal(F.dropout(x, 0.3).detach().numpy(), first.detach().numpy())
    kept = (first.detach().numpy() != 0).mean()
    assert abs(kept - 0.7) < 0.02
    np.testing.assert_allclose(first.detach().numpy().max(), 1 / 0.7, rtol=1e-6)
    first.sum().backward()
    assert np.array_equal(x.grad.numpy(), first.detach().numpy())
    assert F.dropout(x, 0.5, training=False) is x
    assert not F.dropout(x, 1.0).detach().numpy().any()
    assert not F.dropout(gw.ones(0, 3), 0.5).numpy().any()


@pytest.mark.parametrize("backend", [None, "llvm"])
@pytest.mark.parametrize("name", [
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"])
def test_dropout_in_place_of_nothing_writes_nothing(name: str, backend: str | None) -> None:
    """In evaluation and with p = 0: what saved the input still finds it."""
    shape = {"dropout1d": (2, 3, 4), "dropout3d": (2, 3, 2, 2, 1)}.get(name, (2, 3, 2, 2))
    for p, training in ((0.5, False), (0.0, True)):
        def step(x: gw.Tensor, p: float = p, training: bool = training) -> gw.Tensor:
            saved = F.softmax(x, 0)
            dropped = getattr(F, name)(saved, p, training, True)
            return (dropped * saved).sum()

        x = gw.rand(*shape, dtype=gw.float64, requires_grad=True)
        run = step if backend is None else gw.compile(step, backend=backend, fullgraph=True)
        (grad,) = gw.autograd.grad(run(x), x)
        (want,) = gw.autograd.grad((F.softmax(x, 0) ** 2).sum(), x)
        assert gw.allclose(grad, want)
    leaf = gw.ones(shape, requires_grad=True)
    assert getattr(F, name)(leaf, 0.5, False, True) is leaf and leaf._version == 0
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        getattr(F, name)(leaf, 0.5, True, True)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_batch_norm_tracks_statistics(momentum: float | None) -> None:
    norm = nn.BatchNorm2d(3, momentum=momentum)
    rng = np.random.default_rng(0)
    mean, variance = np.zeros(3), np.ones(3)
    for step in range(1, 4):
        x = rng.standard_normal((4, 3, 5, 5)) * 2 + 1
        norm(gw.tensor(x.astype(np.float32)))
        factor = 1 / step if momentum is None else momentum
        mean += factor * (x.mean((0, 2, 3)) - mean)
        variance += factor * (x.var((0, 2, 3), ddof=1) - variance)
    np.testing.assert_allclose(norm.running_mean.numpy(), mean, rtol=1e-5)
    np.testing.assert_allclose(norm.running_var.numpy(), variance, rtol=1e-5)
    assert norm.num_batches_tracked.item() == 3
    before = norm.running_mean.numpy().copy()
    x = gw.randn(2, 3, 5, 5)
    out = norm.eval()(x)
    expected = (x.numpy() - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    assert np.array_equal(norm.running_mean.numpy(), before)


def test_running_statistics_carry_no_history() -> None:
    norm = nn.BatchNorm1d(2)
    for _ in range(3):
        norm(gw.randn(4, 2)).sum().backward()
    assert norm.running_mean.grad_fn is None and not norm.running_mean.requires_grad


SMOOTH = [
    "conv2d", "max_pool2d", "layer_norm", "batch_norm", "rms_norm", "softmax", "gelu", "nll",
]  # fmt: skip


@pytest.mark.parametrize("name", SMOOTH)
def test_double_backward(name: str) -> None:
    calls = {
        "conv2d": lambda x: F.conv2d(x, x[:, :, :2, :2].contiguous() * 1.0),
        "max_pool2d": lambda x: F.max_pool2d(x * x, 2),
        "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
        "rms_norm": lambda x: F.rms_norm(x, (4,)),
        "nll": lambda x: F.cross_entropy(x, gw.tensor(np.zeros((2, 4, 4), np.int64))),
        "layer_norm": lambda x: F.layer_norm(x, (4,)),
        "softmax": lambda x: F.softmax(x, -1),
        "gelu": lambda x: F.gelu(x),
    }
    rng = np.random.default_rng(0)
    start = rng.standard_normal((2, 2, 4, 4))
    weights = gw.tensor(rng.standard_normal(start.shape))

    def first_order(values: np.ndarray, create_graph: bool) -> tuple[gw.Tensor, gw.Tensor]:
        x = gw.tensor(values).requires_grad_()
        out = (calls[name](x) ** 3).sum()
        (grad,) = gw.autograd.grad(out, [x], create_graph=create_graph)
        return x, (grad * weights).sum()

    x, total = first_order(start, True)
    (second,) = gw.autograd.grad(total, [x])
    step = 1e-6
    for index in [(0, 0, 0, 0), (1, 1, 2, 3), (0, 1, 1, 1)]:
        up, down = start.copy(), start.copy()
        up[index] += step
        down[index] -= step
        difference = first_order(up, False)[1].item() - first_order(down, False)[1].item()
        np.testing.assert_allclose(
            second.numpy()[index], difference / (2 * step), rtol=1e-4, atol=1e-5
        )
