"""Tensor code: attributes, assignment, out=, autograd and optimisers inside of a frame."""

from __future__ import annotations

import random

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.runtime import _core

from ..captured import Captured
from ..programs import Programs, outcome, sound, whole

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
program = Programs()


class Square(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


def run(function):
    whole(function, X)


@program
def python_types_as_dtypes(x):
    kinds = {"mask": bool, "index": int, "wide": float}
    mask = gw.zeros(2, 3, dtype=bool) | (x > 0)
    index = gw.arange(3, dtype=kinds["index"])
    total = x.sum(dtype=kinds["wide"]) + x.to(int).sum()
    return mask, index, total, x.type(gw.float64).to(complex), gw.tensor([1, 2], dtype=float)


@program
def constructors_by_type(x):
    two = gw.LongTensor([1, 0])
    zeros = gw.Tensor(2, 3).zero_(), gw.Tensor(x.shape).zero_(), gw.DoubleTensor(2).zero_()
    same = gw.Tensor(x)
    return x[two], x + gw.Tensor([1e10]), gw.FloatTensor([[1, 2]]), gw.IntTensor(), zeros, same * 2


@program
def operators_of_the_class(x):
    total = gw.Tensor.__iadd__(x.clone(), 1)
    gw.Tensor.__setitem__(total, 0, gw.Tensor.__radd__(x[0], 2))
    picked = gw.Tensor.__getitem__(x, slice(1, None)), gw.Tensor.__len__(x)
    return total, picked, gw.Tensor.__rsub__(x, 1), list(map(gw.Tensor.__neg__, [x, total]))


@program
def attributes(x):
    return (
        x + 1,
        x.shape,
        x.dtype,
        x.device,
        x.ndim,
        x.requires_grad,
        x.size(),
        x.size(0),
        x.dim(),
        x.numel(),
        x.stride(),
        x.is_contiguous(),
        x.T,
        x.shape[0] * 2,
        x.shape[1:],
        list(x.shape),
        len(x),
        x.element_size(),
        x.is_floating_point(),
        (*x.shape, 1),
        x.shape == (2, 3),
        isinstance(x, gw.Tensor),
        x.shape[-1],
        (*x.shape, 5),
    )


@program
def iteration(x):
    a, b = x
    rows = [row * i for i, row in enumerate(x)]
    first, *rest = x.unbind(1)
    backwards = reversed(x), reversed(x[0, 0]), [*reversed(x[0])]
    pairs = list(zip(x, x + 1, strict=True))
    return a, b, rows, first, rest, [v for v in x[0]], pairs, backwards


@program
def assignment(x):
    y = x.clone()
    y[0] = 1.0
    y[:, 1] += 5
    y[y > 3] = 0
    y[..., -1:] *= 2
    y[[0, 1], [0, 1]] = x[0, :2]
    y -= 1
    y.mul_(2).add_(1)
    return y, x[None, :, ::2], x[gw.tensor([1, 0])], x[x > 0].shape if False else 0


@program
def operators(x):
    return (
        x + 1,
        1 - x,
        x * x,
        x / 2,
        x // 2,
        x % 2,
        x**2,
        2**x,
        -x,
        abs(x),
        x @ x.T,
        x < 1,
        x == x,
        x != 0,
        x >= 2,
        (x > 0) & (x < 3),
        ~(x > 0),
        (x > 0) | (x < -1),
        divmod(7, 2),
        +x,
        (x > 0) ^ (x < 3),
    )


@program
def sizes_as_numbers(x):
    n, m = x.shape
    half = n // 2 + m % 2
    return (
        x.reshape(m, n),
        x.view(-1),
        gw.zeros(n, m + 1),
        gw.arange(n * m),
        x.expand(half, n, m),
        f"{n}x{m}",
    )


@program
def out_arguments(x):
    y = gw.empty(2, 3)
    result = gw.add(x, 1, out=y)
    return y, result is y


@program
def constants_read(x):
    return (
        x * gw.tensor(2.0),
        gw.tensor([1, 2]) + 1,
        gw.full((2,), 3),
        x.new_zeros(2),
        gw.ones_like(x),
    )


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_tensors(function):
    run(function)


def functions_of_autograd(x):
    return Square.apply(x) + 1


def gradients(x):
    w = gw.ones(3, requires_grad=True)
    loss = (x * w).sum()
    (grad,) = gw.autograd.grad(loss, [w])
    return grad


def backwards(x):
    w = gw.ones(3, requires_grad=True)
    (x * w).sum().backward()
    return w.grad


def numpy_values(x):
    return x * np.float32(2.0) + np.pi, x + float(np.float64(1.5))


def numpy_arrays(x):
    return x + gw.from_numpy(np.ones(3, dtype=np.float32))


def read_values(x):
    if x.sum().item() > 0:
        return x.tolist()
    return float(x[0, 0]), int(x[1, 0])


def constant_values(x):
    return x + gw.tensor(3.0).item(), gw.tensor([1, 2]).tolist()


def inference(x):
    with gw.inference_mode():
        y = x * 2
    return y.requires_grad, y + 1


def changed_requires_grad(x):
    y = x.clone()
    y.requires_grad_()
    return (y * 2).sum().requires_grad, y


SOUND = [
    functions_of_autograd,
    gradients,
    backwards,
    numpy_values,
    numpy_arrays,
    read_values,
    constant_values,
    inference,
    changed_requires_grad,
]


@pytest.mark.parametrize("function", SOUND, ids=lambda f: f.__name__)
def test_sound(function):
    sound(function, X)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_training_steps_in_the_frame(kind):
    def make():
        gw.manual_seed(1)
        model = nn.Linear(3, 2)
        return model, getattr(gw.optim, kind)(model.parameters(), lr=0.1)

    def step(model, optimiser, x):
        optimiser.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimiser.step()
        return loss.detach()

    plain, compiled = make(), make()
    captured = Captured(step)
    for _ in range(3):
        expected = step(*plain, X)
        actual = captured(*compiled, X)
        assert abs(float(expected) - float(actual)) < 1e-6
        for a, b in zip(plain[0].parameters(), compiled[0].parameters(), strict=True):
            assert bool(((a - b).abs() < 1e-6).all())


def test_generators_of_random_numbers_are_sound():
    def draw(x, generator):
        return x + gw.rand(2, 3, generator=generator)

    captured = Captured(draw)
    for _ in range(2):
        first = draw(X, gw.Generator().manual_seed(3))
        second = captured(X, gw.Generator().manual_seed(3))
        assert bool((first == second).all())


def test_python_random_numbers_are_sound():
    def draw(x, source):
        return x * source.random(), random.random()

    captured = Captured(draw)
    for seed in (1, 2, 2):
        random.seed(seed)
        expected = outcome(draw, (X, random.Random(seed)))
        random.seed(seed)
        assert outcome(captured, (X, random.Random(seed))) == expected


def test_subclasses_of_tensor_are_refused_with_a_reason():
    class Mine(gw.Tensor):
        pass

    captured = Captured(lambda x: x + 1)
    assert bool((captured(_core.detach(Mine, X)) == X + 1).all())
    assert "GB0014" in captured.breaks


def test_attributes_that_users_set():
    """They are read and guarded like those of other objects; tensors mostly have none."""
    def scaled(x):
        return x * x.scale if hasattr(x, "scale") else x + 1

    captured = Captured(scaled)
    x = gw.ones(2)
    assert captured.agrees(x)
    for scale in (3, 0.5, gw.tensor([5.0, 6.0])):
        x.scale = scale
        assert captured.agrees(x)
    del x.scale
    x.other = 1
    assert captured.agrees(x) and not captured.breaks
