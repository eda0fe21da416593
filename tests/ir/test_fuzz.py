"""Random programs of views, in-place writes and pointwise ops, lowered and run as in eager."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

from .lowering import captured, check, tensor

Step = Callable[[list[Any]], None]


class Program:
    """A random function of two 4x6 arguments; the same seed gives the same function."""

    def __init__(self, seed: int, writes_to_arguments: bool) -> None:
        self.seed = seed
        self.first = 0 if writes_to_arguments else 2

    def __call__(self, x: Any, w: Any) -> tuple[Any, ...]:
        rng = random.Random(self.seed)
        values = [x, w, x * 1.5, w + 0.5]
        for _ in range(rng.randint(3, 10)):
            rng.choice((self.view, self.view, self.write, self.write, self.pointwise))(rng, values)
        count = rng.randint(1, 3)
        return tuple(rng.choice(values) for _ in range(count))

    def pick(self, rng: random.Random, values: list[Any]) -> Any:
        return rng.choice(values)

    def view(self, rng: random.Random, values: list[Any]) -> None:
        source = self.pick(rng, values)
        if source.ndim == 0:
            return
        dim = rng.randrange(source.ndim)
        size = source.shape[dim]
        start = rng.randrange(size)
        views: list[Callable[[], Any]] = [
            lambda: source.transpose(0, source.ndim - 1),
            lambda: source.select(dim, start),
            lambda: source.unsqueeze(dim),
            lambda: gw.narrow(source, dim, start, rng.randint(1, size - start)),
            lambda: source.reshape(-1),
            lambda: source[::2],
            lambda: source.diagonal() if source.ndim == 2 else source,
            lambda: source.expand(2, *source.shape),
        ]
        values.append(rng.choice(views)())

    def write(self, rng: random.Random, values: list[Any]) -> None:
        targets = [v for v in values[self.first:]
                   if 0 not in v.stride() or v.numel() == 1]
        if not targets:
            return
        target = rng.choice(targets)
        scale = rng.choice([0.5, 2.0, -1.0])
        writes: list[Callable[[], Any]] = [
            lambda: target.mul_(scale),
            lambda: target.add_(self.number(rng, values), alpha=scale),
            lambda: target.fill_(scale),
            lambda: target.copy_(self.number(rng, values)),
        ]
        rng.choice(writes)()

    def number(self, rng: random.Random, values: list[Any]) -> Any:
        """A 0-d tensor made from one of the values; it broadcasts to anything."""
        return self.pick(rng, values).mean()

    def pointwise(self, rng: random.Random, values: list[Any]) -> None:
        source = self.pick(rng, values)
        values.append(rng.choice([gw.tanh, gw.relu, gw.neg, gw.clone])(source) * 2)


def arguments(seed: int, grad: bool) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [tensor(rng.standard_normal((4, 6)), grad) for _ in range(2)]


def is_valid(program: Program, inputs: list[Any]) -> bool:
    """Whether eager execution takes it: gradients through overwritten values are refused."""
    try:
        outputs = [out for out in program(*inputs) if out.requires_grad]
        if outputs:
            gw.autograd.grad(outputs, inputs, [gw.ones_like(o) for o in outputs],
                             allow_unused=True)
    except RuntimeError:
        return False
    return True


@pytest.mark.fuzz(150)
@pytest.mark.parametrize("grad", [False, True])
def test_views_and_writes(seed: int, grad: bool) -> None:
    program = Program(seed, writes_to_arguments=not grad)
    if not is_valid(program, arguments(seed, grad)):
        return
    inputs = arguments(seed, grad)
    print(f"seed {seed}", captured(program, inputs)[0].code)
    check(program, *inputs, tolerance=1e-9)
