"""GradScaler: losses scaled, gradients unscaled, steps with infinite gradients left out."""

from __future__ import annotations

import math
from typing import Any

import pytest

import graphwright as gw
from graphwright.amp import GradScaler


def made(lr: float = 0.5) -> tuple[Any, Any]:
    weight = gw.nn.Parameter(gw.tensor([1.0, 2.0]))
    return weight, gw.optim.SGD([weight], lr=lr)


def test_a_step_is_the_one_without_scaling() -> None:
    scaler = GradScaler("cpu", init_scale=8.0)
    weight, optimizer = made()
    loss = scaler.scale((weight * weight).sum())
    assert loss.item() == 8.0 * 5
    loss.backward()
    assert weight.grad.tolist() == [16.0, 32.0]
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.0, 0.0]
    assert weight.grad.tolist() == [2.0, 4.0]
    assert scaler.get_scale() == 8.0


def test_gradients_are_unscaled_once_for_clipping() -> None:
    scaler = GradScaler("cpu", init_scale=4.0)
    weight, optimizer = made()
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    assert weight.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    assert weight.tolist() == [0.5, 1.5]
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called since"):
        scaler.step(optimizer)
    scaler.update()


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_a_step_with_infinite_gradients_is_left_out(bad: float) -> None:
    scaler = GradScaler("cpu", init_scale=4.0)
    weight, optimizer = made()
    scaler.scale(weight * gw.tensor([bad, 1.0])).sum().backward()
    assert scaler.step(optimizer) is None
    scaler.update()
    assert weight.tolist() == [1.0, 2.0]
    assert scaler.get_scale() == 2.0


def test_the_scale_grows_after_good_steps_in_a_row() -> None:
    scaler = GradScaler("cpu", init_scale=4.0, growth_factor=3.0, growth_interval=2)
    weight, optimizer = made()
    scales = []
    for grad in (1.0, math.inf, 1.0, 1.0, 1.0):
        optimizer.zero_grad()
        scaler.scale(weight * grad).sum().backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [4.0, 2.0, 2.0, 6.0, 6.0]


def test_one_bad_optimizer_of_two() -> None:
    scaler = GradScaler("cpu", init_scale=4.0)
    (first, one), (second, two) = made(), made()
    scaler.scale(first + second * gw.tensor([math.nan, 1.0])).sum().backward()
    scaler.step(one)
    scaler.step(two)
    scaler.update()
    assert first.tolist() == [0.5, 1.5]
    assert second.tolist() == [1.0, 2.0]
    assert scaler.get_scale() == 2.0


def test_what_is_refused() -> None:
    scaler = GradScaler("cpu")
    weight, optimizer = made()
    for early, given in ((scaler.update, ()), (scaler.step, (optimizer,)),
                         (scaler.unscale_, (optimizer,))):  # fmt: skip
        with pytest.raises(AssertionError, match=r"did not use scaler\.scale"):
            early(*given)
    scaler.scale(gw.ones(1))
    with pytest.raises(AssertionError, match="No inf checks"):
        scaler.update()
    with pytest.raises(RuntimeError, match="Closure"):
        scaler.step(optimizer, closure=lambda: None)
    with pytest.raises(AssertionError, match="growth factor"):
        GradScaler("cpu", growth_factor=1.0)
    with pytest.raises(AssertionError, match="backoff factor"):
        GradScaler("cpu", backoff_factor=1.0)
    with pytest.raises(ValueError, match="Tensor or an iterable"):
        scaler.scale(3)
    half = gw.nn.Parameter(weight.detach().half())
    half.grad = gw.ones(2, dtype=gw.float16)
    with pytest.raises(ValueError, match="FP16"):
        scaler.unscale_(gw.optim.SGD([half], lr=1.0))


def test_lists_are_scaled_and_the_scale_is_set() -> None:
    scaler = GradScaler("cpu", init_scale=4.0)
    first, (second,) = scaler.scale([gw.ones(1), (gw.ones(1),)])
    assert (first.item(), second.item()) == (4.0, 4.0)
    scaler.update(16.0)
    assert scaler.get_scale() == 16.0


def test_switched_off() -> None:
    scaler = GradScaler("cpu", enabled=False)
    weight, optimizer = made()
    loss = weight.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.5, 1.5]
    assert (scaler.get_scale(), scaler.state_dict(), scaler.is_enabled()) == (1.0, {}, False)
    with pytest.warns(UserWarning, match="not available"):
        assert not GradScaler("cuda").is_enabled()


def test_state_is_taken_over() -> None:
    scaler = GradScaler("cpu", init_scale=4.0, growth_interval=2)
    weight, optimizer = made()
    scaler.scale(weight.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    other = GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    assert other.state_dict()["_growth_tracker"] == 1
    with pytest.raises(RuntimeError, match="empty"):
        other.load_state_dict({})


@pytest.mark.oracle
def test_scales_as_in_torch() -> None:
    torch = pytest.importorskip("torch")
    scales = []
    for lib in (gw, torch):
        weight = lib.nn.Parameter(lib.tensor([1.0, 2.0]))
        optimizer = lib.optim.SGD([weight], lr=0.1)
        scaler = lib.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
        scaler.scale(lib.ones(1))
        seen = []
        for grad in (1.0, 1.0, math.inf, 1.0, math.nan, 1.0, 1.0, 1.0):
            weight.grad = lib.full((2,), grad)
            scaler.step(optimizer)
            scaler.update()
            seen.append((scaler.get_scale(), weight.tolist()))
        scales.append(seen)
    assert [s for s, _ in scales[0]] == [s for s, _ in scales[1]]
    for (_, ours), (_, theirs) in zip(*scales, strict=True):
        assert ours == pytest.approx(theirs)


def test_a_step_without_gradients_is_refused() -> None:
    scaler = GradScaler("cpu")
    optimizer = gw.optim.SGD([gw.nn.Parameter(gw.ones(2))], lr=0.1)
    scaler.scale(gw.ones(1))
    with pytest.raises(AssertionError, match="No inf checks"):
        scaler.step(optimizer)
    with pytest.raises(AssertionError, match="one element"):
        scaler.update(gw.ones(2))
