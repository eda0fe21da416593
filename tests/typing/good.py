"""A program as users write them: mypy --strict and pyright have nothing to say about it."""

from __future__ import annotations

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn, optim


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Linear(4, width)
        self.second = nn.Linear(width, 2)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        hidden = F.relu(self.first(x))
        out: gw.Tensor = self.second(hidden)
        return out


class Exp(gw.autograd.Function):
    @staticmethod
    def forward(ctx: gw.autograd.function.FunctionCtx, x: gw.Tensor) -> gw.Tensor:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: gw.autograd.function.FunctionCtx, grad: gw.Tensor) -> gw.Tensor:
        (y,) = ctx.saved_tensors
        return grad * y


@gw.compile
def scaled(x: gw.Tensor, factor: float = 2.0) -> gw.Tensor:
    return gw.tanh(x * factor) + x.sum(dim=-1, keepdim=True)


def train(steps: int) -> list[float]:
    net = Net(8)
    step = gw.compile(net)
    optimizer = optim.AdamW(net.parameters(), lr=1e-3)
    losses: list[float] = []
    for _ in range(steps):
        x = gw.randn(3, 4, dtype=gw.float32)
        loss = F.mse_loss(step(x), gw.zeros(3, 2))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.item()))
    return losses


def numbers(x: gw.Tensor) -> tuple[int, gw.Tensor]:
    values, places = x.max(1)
    highest = x.sort(descending=True).values
    first, *_ = gw.split(values, 1)
    same: bool = gw.equal(first, values)
    total = (1 - highest[..., 0]) @ values if not same else values.sum()
    with gw.no_grad():
        gw.linalg.svd(x).S.mul_(2)
    return places.shape[0], total.reshape(1, -1).to(gw.float64)
