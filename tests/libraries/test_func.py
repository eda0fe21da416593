"""func and testing: gradients of functions, and comparing tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import graphwright as gw
from graphwright import func
from graphwright.testing import assert_close


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


_OF_OTHERS: dict[str, Any] = {
    "jacrev": lambda f, x: func.jacrev(f)(x),
    "hessian": lambda f, x: func.hessian(f)(x),
    "vjp": lambda f, x: func.vjp(f, x)[1](gw.ones(()))[0],
    "value of vjp": lambda f, x: func.vjp(f, x)[0],
    "jvp": lambda f, x: func.jvp(f, (x,), (x,))[1],
    "jacrev of each": lambda f, x: func.vmap(func.jacrev(f))(x[:, None]),
}


@pytest.mark.parametrize("name", _OF_OTHERS)
@pytest.mark.parametrize("compiled", [False, True])
def test_derivatives_can_be_differentiated_by_what_the_function_closes_over(
    name: str, compiled: bool
) -> None:
    """As a penalty of a model's Jacobian is by its parameters; not where gradients are off."""
    w = gw.tensor(3.0, dtype=gw.float64, requires_grad=True)
    x = gw.tensor([1.0, 2.0], dtype=gw.float64)
    take = _OF_OTHERS[name]

    def total(x: gw.Tensor) -> gw.Tensor:
        return take(lambda t: (w * w * t**3).sum(), x).sum()

    found = (gw.compile(total, fullgraph=True) if compiled else total)(x)
    (slope,) = gw.autograd.grad(found, w)
    np.testing.assert_allclose(slope.item(), 2 * found.item() / 3.0)
    with gw.no_grad():
        assert not total(x).requires_grad


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


def test_jacobians_have_the_structure_of_arguments_and_results() -> None:
    x, y = gw.tensor([1.0, 2.0]), gw.tensor([3.0])
    both = gw.func.jacrev(lambda d: {"o": d["a"] * d["b"]})({"a": x, "b": y})
    assert both["o"]["a"].tolist() == [[3, 0], [0, 3]] and both["o"]["b"].tolist() == [[1], [2]]
    first, second = gw.func.jacfwd(lambda a, b: a * b, argnums=(0, 1))(x, y)
    assert first.shape == (2, 2) and second.shape == (2, 1)
    jacobian, more = gw.func.jacrev(lambda a: (a * a, a), has_aux=True)(x)
    assert jacobian.tolist() == [[2, 0], [0, 4]] and not more.requires_grad
    blocks = gw.func.hessian(lambda a, b: (a * a * b).sum(), argnums=(0, 1))(x, y)
    assert blocks[0][0].tolist() == [[6, 0], [0, 6]] and blocks[1][0].tolist() == [[2, 4]]
    with pytest.raises(RuntimeError, match="argnum=1"):
        gw.func.jacrev(gw.sin, argnums=1)(x)


def test_jacfwd_computes_columns() -> None:
    """Each pass through the function's derivative gives the column of one input."""
    passes = []

    class Noted(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            passes.append(tuple(grad.shape))
            return grad * 3

    tall = gw.arange(40.0).reshape(20, 2).sin()
    columns = gw.func.jacfwd(lambda x: Noted.apply(tall @ x).tanh())(gw.ones(2))
    assert passes == [(20,)]
    gw.testing.assert_close(columns, gw.func.jacrev(lambda x: (tall @ x * 3).tanh())(gw.ones(2)))


def test_jacfwd_of_several_outputs_and_nested() -> None:
    x, y = gw.arange(6.0).reshape(2, 3), gw.ones(3)

    def function(x: Any, y: Any) -> Any:
        return x.sin() * y, {"sum": (x * y).sum()}

    forward = gw.func.jacfwd(function, argnums=(0, 1))(x, y)
    reverse = gw.func.jacrev(function, argnums=(0, 1))(x, y)
    gw.testing.assert_close(forward[0], reverse[0])
    gw.testing.assert_close(forward[1]["sum"], reverse[1]["sum"])
    cubes = lambda v: (v**3).sum()  # noqa: E731
    for inner in (gw.func.jacfwd, gw.func.jacrev):
        for outer in (gw.func.jacfwd, gw.func.jacrev):
            assert outer(inner(cubes))(y).tolist() == (6 * gw.eye(3)).tolist()
    assert gw.func.jacfwd(lambda v: gw.ones(2))(y).tolist() == gw.zeros(2, 3).tolist()
    with pytest.raises(RuntimeError, match="tuples"):
        gw.func.jvp(cubes, (y,), y)
    with pytest.raises(RuntimeError, match="randomness"):
        gw.func.jacfwd(cubes, randomness="some")


def test_products_with_the_jacobian() -> None:
    x, t = gw.tensor([1.0, 2.0]), gw.tensor([1.0, 0.5])
    value, tangent = gw.func.jvp(lambda a, b: a * b, (x, x), (t, t))
    assert value.tolist() == [1, 4] and tangent.tolist() == [2, 2]
    _, _, more = gw.func.jvp(lambda a: (a, a + 1), (x,), (t,), has_aux=True)
    assert more.tolist() == [2, 3]
    value, product = gw.func.linearize(lambda a: a**2, x)
    assert value.tolist() == [1, 4] and product(t).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="shapes"):
        gw.func.jvp(gw.sin, (x,), (gw.ones(3),))


def test_gradients_see_what_the_function_closes_over() -> None:
    scale = gw.tensor([2.0], requires_grad=True)
    found = gw.func.grad(lambda a: (a * scale).sum())(gw.tensor([1.0]))
    assert found.tolist() == [2] and found.requires_grad
    assert gw.func.grad(lambda a: gw.tensor(1.0))(gw.ones(2)).tolist() == [0, 0]


def test_a_function_of_one_example_is_mapped_over_a_batch() -> None:
    x, w = gw.arange(6.0).reshape(3, 2), gw.tensor([1.0, 10.0])
    assert gw.vmap(gw.dot, in_dims=(0, None))(x, w).tolist() == [10, 32, 54]
    assert gw.func.vmap(lambda row: row * 2, in_dims=1, out_dims=1)(x).tolist() == (x * 2).tolist()
    grads = gw.func.vmap(gw.func.grad(lambda row: (row**2).sum()))(x)
    assert grads.tolist() == (2 * x).tolist()
    parts = gw.func.vmap(lambda d: {"sum": d["a"].sum(), "all": d["a"]})({"a": x})
    assert parts["sum"].tolist() == [1, 5, 9] and parts["all"].shape == (3, 2)
    leaf = x.clone().requires_grad_()
    gw.func.vmap(lambda row: row.sum() ** 2)(leaf).sum().backward()
    assert leaf.grad.tolist() == [[2, 2], [10, 10], [18, 18]]
    noise = gw.func.vmap(lambda row: row + gw.rand(2), randomness="same")(gw.zeros(2, 2))
    assert gw.equal(noise[0], noise[1])


@pytest.mark.parametrize(("in_dims", "args", "message"), [
    (2, (gw.ones(2),), "in_dim=2"), (0, (1.0,), "non-Tensor"), (None, (gw.ones(2),), "int or"),
    ((0, 0), (gw.ones(2), gw.ones(3)), "same size"), (0, (), "no inputs"),
    ((0, 0), (gw.ones(2),), "structure"),
])  # fmt: skip
def test_batches_that_do_not_fit(in_dims: Any, args: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gw.vmap(lambda *rows: gw.ones(1), in_dims=in_dims)(*args)


def test_states_of_several_models() -> None:
    models = [gw.nn.Linear(2, 1) for _ in range(3)]
    parameters, buffers = gw.func.stack_module_state(models)
    assert parameters["weight"].shape == (3, 1, 2) and parameters["weight"].is_leaf and not buffers
    out = gw.vmap(lambda p: gw.func.functional_call(models[0], p, gw.ones(2)))(parameters)
    gw.testing.assert_close(out, gw.stack([m(gw.ones(2)) for m in models]))
    with pytest.raises(RuntimeError, match="at least one"):
        gw.func.stack_module_state([])


class Pair(NamedTuple):
    first: gw.Tensor
    second: gw.Tensor


def test_jacobians_keep_named_tuples() -> None:
    x = gw.tensor([1.0, 2.0])
    for jacobian in (func.jacrev, func.jacfwd):
        found = jacobian(lambda t: Pair(t * 2, t.sum()))(x)
        assert isinstance(found, Pair) and found.second.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("error", "message", "call"), [
    (RuntimeError, "should be a tuple", lambda x: func.grad(cube, has_aux=True)(x)),
    (RuntimeError, "should be a tuple", lambda x: func.vjp(cube, x, has_aux=True)),
    (RuntimeError, "should be a tuple", lambda x: func.jacrev(cube, has_aux=True)(x)),
    (RuntimeError, "must be unique", lambda x: func.grad(cube, argnums=(0, -1))(x)),
    (RuntimeError, "argnums must be int", lambda x: func.grad(cube, argnums="0")(x)),
    (ValueError, "must be Tensor", lambda x: func.grad(lambda t: t["a"].sum())({"a": x, "n": 3})),
    (ValueError, "must be Tensor", lambda x: func.vjp(cube, 3.0)),
    (RuntimeError, "only tensors", lambda x: func.vjp(lambda t: (t, 1), x)),
    (RuntimeError, "only tensors", lambda x: func.jacrev(lambda t: 3.0)(x)),
    (RuntimeError, "structure of cotangents", lambda x: func.vjp(lambda t: (t, t), x)[1](x)),
    (RuntimeError, "independent", lambda x: func.jvp(gw.ones_like, (x,), (x,), strict=True)),
    (RuntimeError, "does not match", lambda x: func.linearize(cube, x)[1](x.double())),
    (RuntimeError, "does not match", lambda x: func.linearize(cube, x)[1](x[:1])),
    (RuntimeError, "same argspec", lambda x: func.linearize(cube, x)[1](x, x)),
    (RuntimeError, "remove=views", lambda x: func.functionalize(cube, remove="views")),
])  # fmt: skip
def test_what_transforms_refuse(error: type[Exception], message: str, call: Any) -> None:
    with pytest.raises(error, match=message):
        call(gw.tensor([1.0, 2.0]))


def test_strict_products_of_what_depends() -> None:
    x = gw.tensor([1.0, 2.0])
    value, product = func.jvp(cube, (x,), (gw.ones(2),), strict=True)
    assert value.item() == 9.0 and product.item() == 15.0
