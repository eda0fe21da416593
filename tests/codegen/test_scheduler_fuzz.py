"""Random graphs of primitives, fused and run, against eager ops."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from graphwright.runtime.ops import functions as ops

from .lowered import check

SHAPES = [(4, 6), (6, 4), (24,), (2, 3, 4), (3, 8), (1, 6), (4, 1), (40, 30), (5, 7, 3)]


class RandomGraph:
    """A function of `inputs` that applies the ops that `seed` picks."""

    def __init__(self, seed: int, length: int) -> None:
        self.seed, self.length = seed, length
        pick = random.Random(seed)
        arrays = np.random.default_rng(seed)
        count = pick.randint(1, 3)
        self.inputs = []
        for _ in range(count):
            x = arrays.standard_normal(pick.choice(SHAPES)).astype(np.float32)
            self.inputs.append(np.ascontiguousarray(x.T).T if pick.random() < 0.3 else x)

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        pick = random.Random(self.seed + 1)
        values = list(inputs)
        for _ in range(self.length):
            x = pick.choice(values[-6:])
            step = pick.choice(STEPS)
            values.append(step(pick, x, values))
        results = values[-1:] + pick.sample(values[len(inputs):], min(2, self.length))
        return tuple(ops.mul(r, 1.0) if any(r is i for i in inputs) else r for r in results)


def unary(pick: random.Random, x: Any, values: list[Any]) -> Any:
    name = pick.choice(["neg", "tanh", "sigmoid", "abs", "relu", "sin"])
    return getattr(ops, name)(x)


def binary(pick: random.Random, x: Any, values: list[Any]) -> Any:
    fitting = [y for y in values if broadcasts(x.shape, y.shape)]
    name = pick.choice(["add", "sub", "mul", "maximum"])
    return getattr(ops, name)(x, pick.choice(fitting))


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1], strict=False)) and (
        np.prod(np.broadcast_shapes(a, b), initial=1) < 20000)


def reduction(pick: random.Random, x: Any, values: list[Any]) -> Any:
    if not x.ndim:
        return ops.neg(x)
    dims = tuple(sorted(pick.sample(range(x.ndim), pick.randint(1, x.ndim))))
    name = pick.choice(["sum", "amax", "amin", "mean"])
    y = getattr(ops, name)(x, dims, pick.random() < 0.6)
    return ops.mul(y, 0.25) if name == "sum" else y


def softmax(pick: random.Random, x: Any, values: list[Any]) -> Any:
    return ops.softmax(x, pick.randrange(x.ndim)) if x.ndim else ops.tanh(x)


def permuted(pick: random.Random, x: Any, values: list[Any]) -> Any:
    dims = list(range(x.ndim))
    pick.shuffle(dims)
    return ops.permute(x, tuple(dims)) if x.ndim > 1 else ops.neg(x)


def reshaped(pick: random.Random, x: Any, values: list[Any]) -> Any:
    total = int(np.prod(x.shape, initial=1))
    first = pick.choice([d for d in range(1, total + 1) if total % d == 0][:6])
    return ops.reshape(x, (first, total // first))


def sliced(pick: random.Random, x: Any, values: list[Any]) -> Any:
    if not x.ndim:
        return ops.sin(x)
    dim = pick.randrange(x.ndim)
    start = pick.randrange(x.shape[dim])
    return ops.slice(x, dim, start, None, pick.choice([1, 1, 2]))


def joined(pick: random.Random, x: Any, values: list[Any]) -> Any:
    if not x.ndim or np.prod(x.shape) > 4000:
        return ops.tanh(x)
    dim = pick.randrange(x.ndim)
    fitting = [y for y in values if y.ndim == x.ndim and all(
        m == n or d == dim for d, (m, n) in enumerate(zip(x.shape, y.shape, strict=True)))]
    return ops.cat([x, pick.choice(fitting)], dim)


def padded(pick: random.Random, x: Any, values: list[Any]) -> Any:
    return ops.constant_pad(x, (pick.randint(0, 2), pick.randint(0, 2)), 0.5) if x.ndim else x


def product(pick: random.Random, x: Any, values: list[Any]) -> Any:
    if x.ndim != 2:
        return ops.sigmoid(x)
    return ops.mul(ops.mm(x, ops.transpose(x, 0, 1)), 0.1)


STEPS = [unary, unary, binary, binary, reduction, reduction, softmax, permuted, reshaped, sliced,
         joined, padded, product]


@pytest.mark.fuzz(40)
@pytest.mark.parametrize("dynamic", [False])
def test_random_graphs(seed: int, dynamic: bool) -> None:
    graph = RandomGraph(seed, 4 + seed % 12)
    check(graph, *graph.inputs, dynamic=dynamic, rtol=1e-3, atol=1e-3, strides=False)
