"""Steps that are recorded for autograd (`differentiable=True`), and complex parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import optim

OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("Adadelta", {}),
    ("Adagrad", {"lr_decay": 0.1}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1}),
    ("Adamax", {}),
    ("AdamW", {"weight_decay": 0.1}),
    ("ASGD", {}),
    ("NAdam", {}),
    ("RAdam", {"maximize": True}),
    ("RMSprop", {"momentum": 0.9, "centered": True}),
    ("Rprop", {}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
]
IDS = [f"{name}-{'-'.join(options)}" for name, options in OPTIONS]


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=IDS)
def test_gradients_flow_through_several_steps(name: str, options: dict[str, Any]) -> None:
    start = gw.tensor([[0.3, -0.7], [1.2, 0.4]], dtype=gw.float64, requires_grad=True)
    slope = gw.tensor([[0.5, 0.2], [-0.3, 0.8]], dtype=gw.float64, requires_grad=True)

    def stepped(start: gw.Tensor, slope: gw.Tensor) -> gw.Tensor:
        param = start.clone()
        optimizer = getattr(optim, name)([param], differentiable=True, **options)
        for _ in range(3):
            param.grad = slope * param.detach().cos()
            optimizer.step()
        return param

    moved = stepped(start, slope)
    assert not gw.equal(moved, start)
    for gradient in gw.autograd.grad(moved.sum(), (start, slope)):
        assert gradient.isfinite().all()


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=IDS)
def test_one_recorded_step_has_the_gradient_of_its_rule(
    name: str, options: dict[str, Any]
) -> None:
    slope = gw.tensor([0.5, -0.3], dtype=gw.float64, requires_grad=True)
    start = gw.tensor([0.3, 0.7], dtype=gw.float64, requires_grad=True)

    def stepped(start: gw.Tensor, slope: gw.Tensor) -> gw.Tensor:
        param = start.clone()
        optimizer = getattr(optim, name)([param], lr=0.1, differentiable=True, **options)
        param.grad = slope * 1
        optimizer.step()
        return param

    assert gw.autograd.gradcheck(stepped, (start, slope))


FOLLOWED: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"maximize": True}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {}),
]


@pytest.mark.parametrize(("name", "options"), FOLLOWED)
def test_rates_and_decays_that_are_tensors_have_gradients(
    name: str, options: dict[str, Any]
) -> None:
    lr = gw.tensor(0.1, dtype=gw.float64, requires_grad=True)
    decay = gw.tensor(0.2, dtype=gw.float64, requires_grad=True)
    slope = gw.tensor([0.5, -0.3], dtype=gw.float64, requires_grad=True)

    def stepped(lr: gw.Tensor, decay: gw.Tensor, slope: gw.Tensor) -> gw.Tensor:
        param = gw.tensor([0.3, 0.7], dtype=gw.float64)
        optimizer = getattr(optim, name)(
            [param], lr=lr, weight_decay=decay, differentiable=True, **options)
        for _ in range(2):
            param.grad = slope * 1
            optimizer.step()
        return param

    plain = getattr(optim, name)(
        [start := gw.tensor([0.3, 0.7], dtype=gw.float64)], lr=0.1, weight_decay=0.2, **options)
    for _ in range(2):
        start.grad = slope.detach()
        plain.step()
    gw.testing.assert_close(stepped(lr, decay, slope).detach(), start)
    assert gw.autograd.gradcheck(stepped, (lr, decay, slope))


def test_gradients_of_options_that_are_not_recorded_are_refused() -> None:
    lr, param = gw.tensor(0.1, requires_grad=True), gw.ones(2)
    optimizer = optim.RMSprop([param], lr=lr, differentiable=True)
    param.grad = gw.ones(2, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="must not require"):
        optimizer.step()
    unrecorded = optim.RMSprop([param], lr=lr)
    unrecorded.step()
    assert not param.requires_grad


def test_hints_that_exclude_each_other() -> None:
    weight = gw.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="does not support `differentiable`"):
        optim.Adam([weight], fused=True, differentiable=True)
    with pytest.raises(ValueError, match="non-leaf"):
        optim.Adam([weight * 2])


@pytest.mark.parametrize("name", [*dict(OPTIONS), "LBFGS"])
def test_a_complex_parameter_moves_as_its_two_parts_do(name: str) -> None:
    values = np.array([0.3 + 0.4j, -0.8 + 0.1j])
    whole = gw.tensor(values, requires_grad=True)
    parts = gw.view_as_real(gw.tensor(values)).clone().requires_grad_()

    def train(param: gw.Tensor, square: Any) -> None:
        optimizer = getattr(optim, name)([param])

        def closure() -> Any:
            optimizer.zero_grad()
            loss = square(param).sum() * 1.5
            loss.backward()
            return loss

        for _ in range(4):
            optimizer.step(closure)

    train(whole, lambda z: z.real**2 + 3 * z.imag**2)
    train(parts, lambda z: z[:, 0] ** 2 + 3 * z[:, 1] ** 2)
    np.testing.assert_allclose(gw.view_as_real(whole.detach()).numpy(), parts.detach().numpy())
