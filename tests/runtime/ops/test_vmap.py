"""vmap: what it maps over, how it composes with the functions of `func`, and what it refuses.

Each program is a function of the library, ours or PyTorch, and of tensors; the reference is a loop
over the examples.
"""

from __future__ import annotations

import copy
import itertools
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core

func: Any = gw.func
Program = Callable[[Any, Any, Any], Any]


def _numbers(*shape: int) -> Any:
    return gw.tensor(np.random.default_rng(len(shape)).uniform(0.5, 1.5, shape))


ROWS, WEIGHT = _numbers(4, 3), _numbers(3, 3)


def _written(f: Any, r: Any, w: Any) -> Any:
    y = r.clone()
    y[0] = 5 * r[1]
    y.add_(w[0])
    y[1:] *= r[0]
    return (y * y).sum()


EXAMPLES: dict[str, Callable[..., Any]] = {
    "pointwise": lambda f, r, w: (r * 2 + 1).exp() - w[0],
    "a number of each": lambda f, r, w: r.sum() * w,
    "a product of matrices": lambda f, r, w: (r @ w).tanh() @ w.T,
    "views": lambda f, r, w: r.reshape(3, 1).expand(3, 2).T.flatten()[1:5].unfold(0, 2, 1),
    "picked by itself": lambda f, r, w: w[(r > 1).long()] + w.index_select(0, r.argsort()),
    "picked around a dim": lambda f, r, w: (w * r)[:, r.argsort(), None],
    "written in place": _written,
    "a gradient": lambda f, r, w: f.grad(lambda q: (q**3 @ w).sum())(r),
    "a gradient by what all share": lambda f, r, w: f.grad(lambda q: (r @ q).sin().sum())(w),
    "a gradient through a view": lambda f, r, w: f.grad(lambda q: _written(f, q, w))(r),
    "second derivatives": lambda f, r, w: f.grad(
        lambda q: f.grad(lambda s: (s**3).sum())(q)[0]
    )(r),
    "a Jacobian": lambda f, r, w: f.jacrev(lambda q: (q @ w).sin())(r),
    "a Hessian": lambda f, r, w: f.hessian(lambda q: (q @ w).sin().sum())(r),
    "a product with a Jacobian": lambda f, r, w: f.jvp(lambda q: (q @ w).sin(), (r,), (r * 2,))[1],
    "a product from the left": lambda f, r, w: f.vjp(lambda q: (q @ w).sin(), r)[1](r)[0],
    "a vmap within": lambda f, r, w: f.vmap(lambda a: (a * r).sum() + r)(w),
    "a vmap within, over both": lambda f, r, w: f.vmap(lambda a, b: a * b, (0, 1))(r, w),
}
"""Functions of a row that differs between examples and a matrix that all share."""


@pytest.fixture
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def _loop(example: Any, rows: Any, weight: Any) -> Any:
    return gw.stack([example(func, row, weight) for row in rows])


@pytest.mark.parametrize("name", EXAMPLES)
def test_vmap_gives_what_a_loop_gives(name: str) -> None:
    example = EXAMPLES[name]
    got = gw.vmap(lambda row, weight: example(func, row, weight), (0, None))(ROWS, WEIGHT)
    gw.testing.assert_close(got, _loop(example, ROWS, WEIGHT))
    assert not got.requires_grad


@pytest.mark.parametrize("name", EXAMPLES)
def test_gradients_go_through_vmap(name: str) -> None:
    example = EXAMPLES[name]

    def by(mapped: bool) -> Any:
        rows, weight = ROWS.clone().requires_grad_(), WEIGHT.clone().requires_grad_()
        if mapped:
            out = gw.vmap(lambda r, w: example(func, r, w), (0, None))(rows, weight)
        else:
            out = _loop(example, rows, weight)
        assert out.requires_grad
        return gw.autograd.grad(out.sin().sum(), (rows, weight), materialize_grads=True)

    for got, want in zip(by(True), by(False), strict=True):
        gw.testing.assert_close(got, want)


@pytest.mark.oracle
@pytest.mark.parametrize("name", EXAMPLES)
def test_vmap_gives_what_torch_gives(name: str) -> None:
    torch = pytest.importorskip("torch")
    example = EXAMPLES[name]
    rows, weight = torch.tensor(ROWS.numpy()), torch.tensor(WEIGHT.numpy())
    want = torch.func.vmap(lambda r, w: example(torch.func, r, w), (0, None))(rows, weight)
    got = gw.vmap(lambda r, w: example(func, r, w), (0, None))(ROWS, WEIGHT)
    assert tuple(got.shape) == tuple(want.shape)
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-9)


# -- arguments and results


def test_dims_have_the_structure_of_arguments_and_results() -> None:
    x, y = _numbers(2, 3), _numbers(3, 2)
    summed = gw.vmap(lambda pair, k: pair["a"] + pair["b"][0] + k, ({"a": 1, "b": [0]}, None), 1)
    assert gw.equal(summed({"a": x, "b": [y]}, 2), x + y.T + 2)
    apart = gw.vmap(lambda r: {"sum": r.sum(), "all": (r, r * 2)}, 0, {"sum": 0, "all": (1, -1)})
    parts = apart(x)
    assert gw.equal(parts["sum"], x.sum(1)) and gw.equal(parts["all"][1], x.T * 2)
    assert gw.equal(gw.vmap(lambda r: (r, y), out_dims=(0, None))(x)[1], y)
    assert gw.vmap(lambda r: y)(x).shape == (2, 3, 2)
    assert gw.vmap(lambda r, *, scale: r * scale)(x, scale=y[:, 0]).shape == (2, 3)


def test_chunks_give_what_the_whole_gives() -> None:
    x = _numbers(5, 3)
    for size in (1, 2, 5, 9):
        parts = gw.vmap(lambda r: (r.sum(), r * 2), out_dims=(0, 1), chunk_size=size)(x)
        assert gw.equal(parts[0], x.sum(1)) and gw.equal(parts[1], x.T * 2)
    jacobian = gw.func.jacrev(lambda v: v.sin(), chunk_size=2)(x[0])
    gw.testing.assert_close(jacobian, gw.diag(x[0].cos()))


def test_an_example_without_dimensions_counts_as_such_in_promotion() -> None:
    halves, wide = gw.ones(3, dtype=gw.float32), gw.ones(4, dtype=gw.float64)
    assert gw.vmap(lambda one: one + halves)(wide).dtype is gw.float32
    number = gw.ones((), dtype=gw.float64)
    assert gw.vmap(lambda one: one.float() + number)(wide).dtype is gw.float64
    assert gw.vmap(lambda one: one.float() * gw.arange(3))(wide).dtype is gw.float32
    assert gw.vmap(lambda one: one.int() * gw.arange(3, dtype=gw.int8))(wide).dtype is gw.int8


def test_an_empty_batch_is_mapped_by_rules() -> None:
    assert gw.vmap(lambda r: r.sum() * WEIGHT)(gw.zeros(0, 3)).shape == (0, 3, 3)


REFUSED: dict[str, Program] = {
    "no inputs": lambda f, x, y: f.vmap(lambda: x)(),
    "in_dims is none": lambda f, x, y: f.vmap(lambda r: r, None)(x),
    "in_dims is a float": lambda f, x, y: f.vmap(lambda r: r, 0.5)(x),
    "nothing is mapped": lambda f, x, y: f.vmap(lambda r: r, (None,))(x),
    "too many in_dims": lambda f, x, y: f.vmap(lambda r: r, (0, 0))(x),
    "a dim that is text": lambda f, x, y: f.vmap(lambda r: r, ("a",))(x),
    "a dim of a number": lambda f, x, y: f.vmap(lambda r, k: r)(x, 2),
    "a dim out of range": lambda f, x, y: f.vmap(lambda r: r, 2)(x),
    "a negative dim out of range": lambda f, x, y: f.vmap(lambda r: r, -3)(x),
    "sizes that differ": lambda f, x, y: f.vmap(lambda r, s: r)(x, y),
    "what is no tensor comes out": lambda f, x, y: f.vmap(lambda r: 2)(x),
    "none comes out": lambda f, x, y: f.vmap(lambda r: None)(x),
    "too many out_dims": lambda f, x, y: f.vmap(lambda r: (r, r), 0, (0, 0, 0))(x),
    "out_dims that is text": lambda f, x, y: f.vmap(lambda r: r, 0, "a")(x),
    "out_dim out of range": lambda f, x, y: f.vmap(lambda r: r, 0, 3)(x),
    "out_dim none for what differs": lambda f, x, y: f.vmap(lambda r: r, 0, None)(x),
    "randomness": lambda f, x, y: f.vmap(lambda r: r, randomness="all")(x),
    "chunk_size": lambda f, x, y: f.vmap(lambda r: r, chunk_size=0)(x),
    "item": lambda f, x, y: f.vmap(lambda r: r * r.sum().item())(x),
    "control flow": lambda f, x, y: f.vmap(lambda r: r if r.sum() > 0 else -r)(x),
    "a mask of each": lambda f, x, y: f.vmap(lambda r: r[r > 1])(x),
    "random numbers": lambda f, x, y: f.vmap(lambda r: r.bernoulli(0.5))(x),
    "backward": lambda f, x, y: f.vmap(lambda r: r.sum().backward())(x),
    "a deep copy": lambda f, x, y: f.vmap(copy.deepcopy)(x),
    "a pickle": lambda f, x, y: f.vmap(lambda r: pickle.dumps(r) and r)(x),
    "a number as text": lambda f, x, y: f.vmap(lambda r: f"{r.sum():.2f}" and r)(x),
    "assignment to data": lambda f, x, y: f.vmap(lambda r: setattr(r, "data", r) or r)(x),
    "what all share is written": lambda f, x, y: f.vmap(lambda r: y.t().add_(r))(x),
}
"""Calls with tensors of shapes [2, 3] and [3, 2]."""


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED)
def test_refusals_are_those_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    call = REFUSED[name]

    def refused(library: Any, x: Any, y: Any) -> Exception:
        with pytest.raises((ValueError, RuntimeError, IndexError)) as caught:
            call(library, x, y)
        return caught.value

    theirs = refused(torch.func, torch.ones(2, 3), torch.ones(3, 2))
    ours = refused(func, gw.ones(2, 3), gw.ones(3, 2))
    assert type(ours).__mro__[-4:] == type(theirs).__mro__[-4:]
    if str(theirs).startswith("vmap"):
        assert str(ours)[:30] == str(theirs)[:30]


def test_the_places_where_a_condition_of_each_holds_are_refused() -> None:
    with pytest.raises(RuntimeError, match="dynamic shape"):
        func.vmap(lambda row: gw.where(row > 1))(gw.ones(2, 3))


def test_a_tensor_that_escapes_is_refused() -> None:
    kept: list[Any] = []
    gw.vmap(lambda r: kept.append(r) or r)(ROWS)
    with pytest.raises(RuntimeError, match="escaped"):
        kept[0] + 1


# -- random numbers


@pytest.mark.parametrize("draw", [
    lambda r: r + gw.rand(50), lambda r: gw.randn(50), lambda r: r + gw.randperm(50),
    lambda r: gw.nn.functional.dropout(gw.ones(50)) + r,
    lambda r: gw.zeros_like(r).expand(50).clone().normal_(),
    lambda r: gw.poisson(gw.full((50,), 20.0)),
])  # fmt: skip
def test_random_numbers_are_the_same_or_different(draw: Any) -> None:
    x = gw.zeros(2, 1)
    one, two = gw.vmap(draw, randomness="same")(x)
    assert gw.equal(one, two)
    one, two = gw.vmap(draw, randomness="different")(x)
    assert not gw.equal(one, two)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        gw.vmap(draw)(x)


def test_levels_within_one_another_draw_each_in_their_way() -> None:
    def noise(inner: str, outer: str) -> Any:
        row = gw.vmap(lambda one: one + gw.rand(()), randomness=inner)
        return gw.vmap(row, randomness=outer)(gw.zeros(2, 3))

    assert len(set(noise("different", "different").flatten().tolist())) == 6
    same = noise("same", "different")
    assert gw.equal(same[:, 0], same[:, 2]) and not gw.equal(same[0], same[1])
    same = noise("different", "same")
    assert gw.equal(same[0], same[1]) and len(set(same[0].tolist())) == 3


# -- gradients of many vectors at once


def _several(x: Any, y: Any) -> Any:
    return (x @ WEIGHT).sin() * y.sum(), x.sum() ** 2


@pytest.mark.parametrize("create_graph", [False, True])
def test_rows_of_a_jacobian_at_once_are_those_one_by_one(create_graph: bool) -> None:
    jacobian = gw.autograd.functional.jacobian
    given = ROWS[0], ROWS[1]
    at_once = jacobian(_several, given, create_graph, vectorize=True)
    for got, want in zip(at_once, jacobian(_several, given, create_graph), strict=True):
        for one, other in zip(got, want, strict=True):
            gw.testing.assert_close(one, other)
            assert one.requires_grad is other.requires_grad


def test_gradients_for_a_batch_of_vectors() -> None:
    x, y = ROWS.clone().requires_grad_(), WEIGHT.clone().requires_grad_()
    vectors = _numbers(5, 4, 3)
    found = gw.autograd.grad(x**2, (x, y), vectors, is_grads_batched=True, allow_unused=True)
    gw.testing.assert_close(found[0], 2 * ROWS * vectors)
    assert found[1] is None


# -- models


def _loss(model: Any, state: Any, x: Any, target: Any) -> Any:
    out = func.functional_call(model, state, (x[None],))
    return gw.nn.functional.cross_entropy(out, target[None])


@pytest.mark.parametrize("make", [
    lambda: gw.nn.Sequential(gw.nn.Linear(8, 5), gw.nn.Tanh(), gw.nn.Linear(5, 3)),
    lambda: gw.nn.Sequential(
        gw.nn.Unflatten(1, (2, 4)), gw.nn.Conv1d(2, 4, 3, padding=1), gw.nn.ReLU(),
        gw.nn.MaxPool1d(2), gw.nn.Flatten(), gw.nn.LayerNorm(8), gw.nn.Linear(8, 3),
    ),
    lambda: gw.nn.Sequential(
        gw.nn.Unflatten(1, (2, 2, 2)), gw.nn.Conv2d(2, 4, 2, groups=2), gw.nn.GroupNorm(2, 4),
        gw.nn.GELU(), gw.nn.AdaptiveAvgPool2d(1), gw.nn.Flatten(), gw.nn.Linear(4, 3),
    ),
])  # fmt: skip
def test_gradients_of_each_sample(make: Any) -> None:
    model = make().double()
    state = {name: p.detach() for name, p in model.named_parameters()}
    x, target = _numbers(4, 8), gw.tensor([0, 2, 1, 1])
    one = func.grad(lambda *given: _loss(model, *given))
    found = gw.vmap(one, (None, 0, 0))(state, x, target)
    for i in range(4):
        for name, want in one(state, x[i], target[i]).items():
            gw.testing.assert_close(found[name][i], want)


@pytest.mark.usefixtures("_without_warnings")
@pytest.mark.parametrize("cell", [gw.nn.RNN, gw.nn.LSTM, gw.nn.GRU])
def test_gradients_of_each_sequence(cell: Any) -> None:
    model = cell(3, 4, batch_first=True).double()
    state = {name: p.detach() for name, p in model.named_parameters()}
    x = _numbers(3, 2, 5, 3)
    one = func.grad(lambda state, x: func.functional_call(model, state, (x,))[0].sin().sum())
    found = gw.vmap(one, (None, 0))(state, x)
    for name in state:
        want = gw.stack([one(state, x[i])[name] for i in range(3)])
        gw.testing.assert_close(found[name], want)


def test_batch_normalisation_without_running_statistics() -> None:
    model = gw.nn.Sequential(gw.nn.Linear(3, 2), gw.nn.BatchNorm1d(2)).double()
    x = _numbers(4, 5, 3)
    with pytest.raises(RuntimeError, match="vmap"):
        gw.vmap(model)(x)
    assert func.replace_all_batch_norm_modules_(model) is model
    assert set(model.state_dict()) == {"0.weight", "0.bias", "1.weight", "1.bias"}
    for mode in (True, False):
        model.train(mode)
        gw.testing.assert_close(gw.vmap(model)(x), gw.stack([model(rows) for rows in x]))


def test_an_ensemble_of_models() -> None:
    models = [gw.nn.Sequential(gw.nn.Linear(3, 2), gw.nn.BatchNorm1d(2)).eval() for _ in range(3)]
    state = func.stack_module_state(models)
    x = _numbers(4, 3).float()
    call = gw.vmap(lambda p, b, x: func.functional_call(models[0], (p, b), (x,)), (0, 0, None))
    gw.testing.assert_close(call(*state, x), gw.stack([model(x) for model in models]))
    call(*state, x).sum().backward()
    assert state[0]["0.weight"].grad.shape == (3, 2, 3)


# -- autograd.Function


class Cube(gw.autograd.Function):
    """Its gradient is ten times that of x**3, so that one sees whose it is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3, 3 * x**2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], output[1])

    @staticmethod
    def backward(ctx: Any, grad: Any, other: Any) -> Any:
        x, slope = ctx.saved_tensors
        return 10 * grad * slope + other * 6 * x


class Product(gw.autograd.Function):
    """With a rule of its own, and twice the gradient."""

    @staticmethod
    def forward(x: Any, w: Any) -> Any:
        return x * w

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        x, w = ctx.saved_tensors
        return 2 * grad * w, 2 * grad * x

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, w: Any) -> Any:
        assert info.batch_size == 4 and in_dims == (0, None)
        return Product.apply(x, w), 0


@pytest.mark.parametrize("example", [
    lambda f, r, w: Cube.apply(r * w[0])[0].sum(),
    lambda f, r, w: Product.apply(r, w[0]).sum(),
    lambda f, r, w: f.grad(lambda q: Cube.apply(q * w[0])[0].sum())(r),
    lambda f, r, w: f.grad(lambda q: Product.apply(q, w[0]).sum())(r),
])  # fmt: skip
def test_functions_with_their_own_gradients(example: Any) -> None:
    def by(mapped: bool) -> Any:
        rows, weight = ROWS.clone().requires_grad_(), WEIGHT.clone().requires_grad_()
        run = gw.vmap(lambda r, w: example(func, r, w), (0, None)) if mapped else None
        out = run(rows, weight) if run is not None else _loop(example, rows, weight)
        wanted = gw.autograd.grad(out.sum(), (rows, weight), materialize_grads=True)
        return out, *wanted

    for got, want in zip(by(True), by(False), strict=True):
        gw.testing.assert_close(got, want)


def test_functions_that_are_not_written_for_vmap_are_refused() -> None:
    class Neither(Product):
        vmap = gw.autograd.Function.vmap

    class Both(Product):
        generate_vmap_rule = True

    for function, message in ((Neither, "does not have vmap support"), (Both, "has both")):
        with pytest.raises(RuntimeError, match=message):
            gw.vmap(function.apply, (0, None))(ROWS, WEIGHT[0])


# -- how it runs


def test_the_function_is_called_once() -> None:
    calls = []
    gw.vmap(lambda r: calls.append(r.shape) or r * 2)(ROWS)
    assert calls == [(3,)]


def test_ops_without_a_rule_are_looped_over_and_say_so() -> None:
    with pytest.warns(UserWarning, match="performance drop.*isin"):
        found = gw.vmap(lambda r: gw.isin(r, r[1:]))(ROWS)
    assert gw.equal(found, gw.stack([gw.isin(row, row[1:]) for row in ROWS]))


@pytest.mark.usefixtures("_without_warnings")
@pytest.mark.parametrize("name", [n for n in EXAMPLES if "view" not in n])
def test_nothing_usual_is_looped_over(name: str) -> None:
    example = EXAMPLES[name]
    gw.vmap(lambda r, w: example(func, r, w), (0, None))(ROWS, WEIGHT)


def test_modes_are_as_before_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError):
        gw.vmap(lambda r: r * (1 / 0))(ROWS)
    assert gw.rand(2).shape == (2,) and gw.is_grad_enabled()


def _interrupted(call: Callable[[], Any], moment: int) -> bool:
    """Whether `call` begins so many functions in Python; the next one is interrupted."""
    begun = itertools.count()

    def interrupt(frame: Any, event: str, arg: Any) -> None:
        if next(begun) == moment:
            raise KeyboardInterrupt

    before = sys.gettrace()
    try:
        sys.settrace(interrupt)
        call()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return next(begun) > moment


def test_no_level_is_left_wherever_a_signal_comes() -> None:
    """Where a function in Python begins, Python looks for signals."""
    gradients = gw.vmap(func.grad(lambda r: (r * 2).sum()))
    gradients(ROWS)     # which imports what it needs
    moments = itertools.count()
    while _interrupted(lambda: gradients(ROWS), next(moments)):
        assert not _core.levels()
    assert next(moments) > 100


def test_methods_that_are_no_ops_work_on_examples() -> None:
    def example(row: Any) -> Any:
        y = row.clone()
        y.unsqueeze_(0).t_()
        made = row.new_zeros(3, 1)
        made[1] = y[1] + row.data[0]
        return made * row.new_full((3, 1), 2)

    gw.testing.assert_close(gw.vmap(example)(ROWS), gw.stack([example(row) for row in ROWS]))


def test_no_grad_within_holds_for_all_gradients() -> None:
    rows = ROWS.clone().requires_grad_()

    def example(row: Any) -> Any:
        with gw.no_grad():
            scale = row.sum()
        return row * scale

    gw.vmap(example)(rows).sum().backward()
    gw.testing.assert_close(rows.grad, ROWS.sum(1, keepdim=True).expand(4, 3))


def test_autocast_within_casts_as_it_does_without() -> None:
    rows, weight = ROWS.float(), WEIGHT.float()
    with gw.autocast("cpu", dtype=gw.bfloat16):
        got = gw.vmap(lambda r: r @ weight)(rows)
        want = rows @ weight
    assert got.dtype is want.dtype is gw.bfloat16
    gw.testing.assert_close(got, want)
