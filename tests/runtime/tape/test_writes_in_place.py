"""Gradients after writes in place: of every op, and through views of every kind.

What is written in place has the history of the value that is written, and of the old value only
what the view left. Where the value is not differentiable, the gradient of all operands is zero.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops.table import TABLE, Kind, NotDifferentiable

from ..layouts import LAYOUTS, as_float64, build, lay_out, numpy_type
from ..samples import ALL, Sample

INPLACE = [op for op in TABLE.values() if op.kind is Kind.INPLACE and op.functional.name in ALL]
CASES = [
    pytest.param(op, sample, id=f"{op.name}-{number}")
    for op in INPLACE for number, sample in enumerate(ALL[op.functional.name].samples)
]


def _cut(op: Any) -> bool:
    return isinstance(op.functional.vjp, NotDifferentiable)


def _arguments(op: Any, sample: Sample, layout: str) -> tuple[list[Any], list[Any], Any]:
    """The sample's arguments, leaves among them; those; and the sample's keyword arguments."""
    leaves: list[Any] = []

    def leaf(arr: Any, values: Any) -> Any:
        made = lay_out(values.astype(numpy_type(arr, gw.float64)), layout).detach()
        if arr.kind == "float" and arr.grad:
            leaves.append(made.requires_grad_())
        return made

    args, kwargs = build(sample, op.functional.name, leaf)
    return list(args), leaves, kwargs


def _written(op: Any, whole: bool, target: Any, args: list[Any], kwargs: Any) -> Any:
    """A copy of `target`, or what holds one as a view, after the op has written to it."""
    if whole:
        base = target * 1
        op(base, *args, **kwargs)
    else:
        base = gw.stack([target, target], -1) * 1
        op(base[..., 1], *args, **kwargs)
    return base


def _expected(op: Any, whole: bool, target: Any, args: list[Any], kwargs: Any) -> Any:
    """The same without a write; None where the op refuses the operands."""
    value = op.functional(target * 1, *args, **kwargs)
    if value.shape != target.shape or not gw.can_cast(value.dtype, target.dtype):
        return None
    value = value.to(target.dtype)
    return value if whole else gw.stack([target * 1, value], -1)


def _gradients(result: Any, leaves: list[Any]) -> list[Any] | str:
    """Of a weighted sum of the result: zeros where there is none; what was raised."""
    weights = gw.linspace(0.5, 1.5, result.numel(), dtype=gw.float64).reshape(result.shape)
    if not result.requires_grad:
        return [np.zeros(leaf.shape) for leaf in leaves]
    try:
        found = gw.autograd.grad((result * weights).sum(), leaves, allow_unused=True)
    except RuntimeError as error:
        return str(error)
    return [np.zeros(leaf.shape) if grad is None else as_float64(grad)
            for leaf, grad in zip(leaves, found, strict=True)]


def _compare(op: Any, sample: Sample, layout: str, whole: bool, run: Any) -> None:
    (target, *args), leaves, kwargs = _arguments(op, sample, layout)
    if not isinstance(target, gw.Tensor) or not target.dtype.is_floating_point:
        return
    want = _expected(op, whole, target, args, kwargs)
    if want is None or not leaves:
        return
    got = run(op, whole, target, args, kwargs)
    np.testing.assert_allclose(as_float64(got), as_float64(want), rtol=1e-12, atol=1e-14)
    assert got.requires_grad
    expected, found = _gradients(want, leaves), _gradients(got, leaves)
    if isinstance(expected, str):
        assert "derivative" in expected and isinstance(found, str)
        return
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("op", "sample"), CASES)
def test_gradients_are_those_of_the_functional_form(op: Any, sample: Sample) -> None:
    for layout in LAYOUTS[:3]:
        for whole in (True, False):
            _compare(op, sample, layout, whole, _written)


def _compiled(backend: str) -> Any:
    """`_written` of tensors, the other arguments being constants of the function."""
    def run(op: Any, whole: bool, target: Any, args: list[Any], kwargs: Any) -> Any:
        return gw.compile(lambda *given: _written(op, whole, given[0], list(given[1:]), kwargs),
                          backend=backend)(target, *args)

    return run


SEED = 5
CUT = [case for case in CASES if _cut(case.values[0]) and case.id.endswith("-0")]
SOME = random.Random(SEED).sample(CASES, 3) + random.Random(SEED).sample(CUT, 3)


@pytest.mark.parametrize(("op", "sample"), SOME)
def test_gradients_of_compiled_writes(op: Any, sample: Sample) -> None:
    for whole in (True, False):
        _compare(op, sample, "contiguous", whole, _compiled("llvm"))


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize(("op", "sample"), CASES)
def test_gradients_of_all_compiled_writes(op: Any, sample: Sample, backend: str) -> None:
    for layout in LAYOUTS[:3]:
        for whole in (True, False):
            _compare(op, sample, layout, whole, _compiled(backend))


def test_a_comparison_in_place_cuts_the_history() -> None:
    """1 where x < 2: the product has the gradient m, and m none. Another operand gets zeros."""
    x = gw.tensor([1.0, 2.0, 3.0], requires_grad=True)
    limit = gw.tensor([2.0, 2.0, 2.0], requires_grad=True)
    m = x * 1
    m.lt_(limit)
    assert m.grad_fn.name() == "LtBackward0"
    (m * x).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 0.0] and limit.grad.tolist() == [0.0, 0.0, 0.0]
    m = x * 1
    view = m[1:]
    m.logical_not_()
    (view * view).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 0.0]


# -- writes through views


def _key(rng: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Slices and positions, from either end; some are empty."""
    key: list[Any] = []
    for size in shape[: rng.randrange(len(shape) + 1)]:
        if rng.random() < 0.25:
            key.append(rng.randrange(-size, size))
        else:
            key.append(slice(rng.randrange(-size - 1, size + 3), rng.choice(
                [None, *range(-size, size + 3)]), rng.choice([None, 1, 2])))
    return tuple(key)


def _writes(seed: int) -> list[tuple[str, tuple[Any, ...], float]]:
    rng = random.Random(seed)
    return [(rng.choice(["mul_", "fill_", "add_", "lt_", "setitem"]), _key(rng, (4, 3, 2)),
             rng.choice([0.5, 2.0, 3.0])) for _ in range(rng.randrange(2, 7))]


def _apply(tensor: Any, writes: list[tuple[str, tuple[Any, ...], float]]) -> Any:
    result = tensor * 1
    for name, key, number in writes:
        if name == "setitem":
            result[key] = result[key] * number
        else:
            getattr(result[key], name)(number)
    return result


def _with_numpy(
    values: np.ndarray[Any, Any], writes: list[tuple[str, tuple[Any, ...], float]]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The values after the writes, and the derivative of each by the one that was there."""
    values, slopes = values.copy(), np.ones(values.shape)
    for name, key, number in writes:
        if name in ("mul_", "setitem"):
            values[key] *= number
            slopes[key] *= number
        elif name == "add_":
            values[key] += number
        else:
            values[key] = number if name == "fill_" else values[key] < number
            slopes[key] = 0
    return values, slopes


def _check_writes(seed: int, run: Any) -> None:
    writes = _writes(seed)
    start = np.random.default_rng(seed).uniform(0, 4, (4, 3, 2))
    x = gw.tensor(start, requires_grad=True)
    result = run(x, writes)
    weights = gw.arange(24.0, dtype=gw.float64).reshape(4, 3, 2) + 1
    (result * weights).sum().backward()
    values, slopes = _with_numpy(start, writes)
    np.testing.assert_allclose(result.detach().numpy(), values, rtol=1e-15)
    np.testing.assert_allclose(x.grad.numpy(), slopes * weights.numpy(), rtol=1e-15)


@pytest.mark.parametrize("seed", range(80))
def test_writes_through_random_views(seed: int) -> None:
    _check_writes(seed, _apply)


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("seed", range(3))
def test_compiled_writes_through_random_views(seed: int, backend: str) -> None:
    _check_writes(seed, lambda x, writes: gw.compile(
        lambda x: _apply(x, writes), backend=backend)(x))


def test_writes_through_an_empty_view_at_the_end() -> None:
    x = gw.ones(4, 3, requires_grad=True)
    y = x * 1
    for i in range(0, 6, 2):
        y[i : i + 2, -2:] *= 2
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 2.0, 2.0]] * 4


def test_a_write_to_an_empty_base() -> None:
    x = gw.ones(0, 3, requires_grad=True)
    y = x * 1
    y[:, 1:] *= 2
    y[0:0, :1] = 3.0
    y.sum().backward()
    assert x.grad.shape == (0, 3)
