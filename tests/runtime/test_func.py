"""func and testing: gradients of functions, and comparing tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphwright.testing import assert_close

import graphwright as gw
from graphwright import func


def cube(x: gw.Tensor) -> gw.Tensor:
    return (x**3).sum()


def test_gradients_of_functions() -> None:
    x = gw.tensor([1.0, 2.0], dtype=gw.float64)
    assert func.grad(cube)(x).tolist() == [3.0, 12.0]
    grads, value = func.grad_and_value(cube)(x)
    assert value.item() == 9.0 and not grads.requires_grad and not value.requires_grad
    of_dict = func.grad(lambda a, b: (a * b["w"]).sum(), argnums=1)(x, {"w": x})
    assert of_dict["w"].tolist() == [1.0, 2.0]
    both = func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 1)
    assert [g.tolist() for g in both] == [[2.0, 3.0], [1.0, 2.0]]
    grads, aux = func.grad(lambda a: (cube(a), "more"), has_aux=True)(x)
    assert aux == "more" and grads.tolist() == [3.0, 12.0]
    with pytest.raises(RuntimeError, match="Expected the function to return a scalar"):
        func.grad(lambda a: a)(x)


def test_nested() -> None:
    x = gw.tensor(2.0)
    assert func.grad(func.grad(lambda t: t**3))(x).item() == 12.0
    assert func.grad(func.grad(func.grad(lambda t: t**3)))(x).item() == 6.0
    assert_close(func.hessian(cube)(gw.tensor([1.0, 2.0])), gw.diag(gw.tensor([6.0, 12.0])))
    jacobian = func.jacrev(lambda t: t * t)(gw.tensor([1.0, 2.0]))
    assert_close(jacobian, gw.diag(gw.tensor([2.0, 4.0])))


def test_gradients_reach_what_the_function_closes_over() -> None:
    w = gw.tensor(3.0, requires_grad=True)
    x = gw.tensor(2.0, requires_grad=True)
    func.grad(lambda t: w * t**2)(x).backward()
    assert w.grad is not None and w.grad.item() == 4.0
    assert x.grad is not None and x.grad.item() == 6.0


def test_vjp() -> None:
    x = gw.tensor([1.0, 2.0])
    value, pull_back = func.vjp(lambda t: t * t, x)
    assert value.tolist() == [1.0, 4.0]
    assert pull_back(gw.tensor([1.0, 10.0]))[0].tolist() == [2.0, 40.0]
    assert pull_back(gw.tensor([0.0, 1.0]))[0].tolist() == [0.0, 4.0]


def test_a_training_step_by_functions() -> None:
    model = gw.nn.Linear(2, 1)
    weights = {k: v.detach() for k, v in model.named_parameters()}

    def loss(weights: Any, x: gw.Tensor) -> gw.Tensor:
        return (func.functional_call(model, weights, (x,)) ** 2).mean()

    x = gw.randn(5, 2)
    grads, before = func.grad_and_value(loss)(weights, x)
    assert grads.keys() == weights.keys()
    stepped = {k: w - 0.1 * grads[k] for k, w in weights.items()}
    assert loss(stepped, x).item() < before.item()


def test_what_is_close_passes() -> None:
    assert_close(gw.ones(3), gw.ones(3) + 1e-7)
    assert_close([1.0, {"a": np.ones(2)}], [1.0, {"a": np.ones(2)}])
    assert_close(gw.tensor(float("nan")), gw.tensor(float("nan")), equal_nan=True)
    assert_close(gw.ones(2, dtype=gw.float64), gw.ones(2), check_dtype=False)


FAILURES = {
    "values": ((gw.ones(3), gw.tensor([1.0, 1.0, 1.5])), {}, r"Mismatched elements: 1 / 3"),
    "nan": ((gw.tensor(float("nan")), gw.tensor(float("nan"))), {}, "Scalars are not close"),
    "dtype": ((gw.ones(2), gw.ones(2, dtype=gw.float64)), {}, "'dtype' do not match"),
    "shape": ((gw.ones(2), gw.ones(3)), {}, "'shape' do not match"),
    "integers": ((gw.tensor([1]), gw.tensor([2])), {}, "not equal"),
    "item": (([gw.ones(1)], [gw.zeros(1)]), {}, r"occurred for item \[0\]"),
    "message": ((gw.ones(1), gw.zeros(1)), {"msg": "other"}, "^other$"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_is_not_close_fails(name: str) -> None:
    args, options, message = FAILURES[name]
    with pytest.raises(AssertionError, match=message):
        assert_close(*args, **options)


def test_print_options() -> None:
    x = gw.tensor([0.125, 1234.5])
    try:
        gw.set_printoptions(precision=2, sci_mode=False)
        assert repr(x) == "tensor([   0.12, 1234.50])"
        gw.set_printoptions(sci_mode=True)
        assert repr(x) == "tensor([1.25e-01, 1.23e+03])"
        gw.set_printoptions(profile="short", edgeitems=1, threshold=3)
        assert repr(gw.arange(9)) == "tensor([0,  ..., 8])"
        with pytest.raises(ValueError, match="profile must be one of"):
            gw.set_printoptions(profile="long")
    finally:
        gw.set_printoptions(profile="default")
    assert repr(x) == "tensor([1.2500e-01, 1.2345e+03])"
