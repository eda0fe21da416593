"""vmap in captured code is part of the graph: no break, the same numbers, all sizes of batches."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

from ..captured import Captured

func: Any = gw.func
ROWS, WEIGHT = gw.rand(5, 3) + 0.5, gw.rand(3, 4)


def _written(row: Any) -> Any:
    y = row.clone()
    y[0] = 5 * row[1]
    y.add_(1)
    y[1:] *= row[0]
    return y


@gw.compiler.disable
def _noise() -> Any:
    return gw.rand(3)


PROGRAMS: dict[str, Any] = {
    "pointwise and reductions": lambda x, w: gw.vmap(lambda r: (r * 2 + 1).sum() * r)(x),
    "what all share": lambda x, w: gw.vmap(lambda r: gw.softmax(r @ w, 0), 0, 1)(x),
    "arguments in a dict": lambda x, w: gw.vmap(lambda d: d["a"] @ w, ({"a": 0},))({"a": x}),
    "vmap of vmap": lambda x, w: gw.vmap(
        gw.vmap(lambda a, b: (a - b).norm(), (None, 0)), (0, None)
    )(x, w.T),
    "chunks": lambda x, w: gw.vmap(lambda r: r * 2, chunk_size=2)(x),
    "indices": lambda x, w: gw.vmap(lambda r: w[r.argmax()] * r.argsort().float().sum())(x),
    "written in place": lambda x, w: gw.vmap(_written)(x),
    "a gradient": lambda x, w: gw.vmap(func.grad(lambda r: (r @ w).sin().sum()))(x),
    "a Jacobian": lambda x, w: func.jacrev(lambda r: (r @ w).sin())(x[0]),
    "Jacobians": lambda x, w: gw.vmap(func.jacrev(lambda r: (r @ w).sin()))(x),
    "a Hessian": lambda x, w: func.hessian(lambda r: (r @ w).sin().sum())(x[0]),
    "a product with a Jacobian": lambda x, w: gw.vmap(
        lambda r: func.jvp(lambda q: (q @ w).sin(), (r,), (r * 2,))[1]
    )(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_vmap_is_part_of_the_one_graph(name: str) -> None:
    program = PROGRAMS[name]
    got = gw.compile(program, fullgraph=True)(ROWS, WEIGHT)
    gw.testing.assert_close(got, program(ROWS, WEIGHT))


def test_gradients_of_each_sample_of_a_model() -> None:
    model = gw.nn.Sequential(gw.nn.Linear(3, 8), gw.nn.Tanh(), gw.nn.Linear(8, 2))
    state = {name: p.detach() for name, p in model.named_parameters()}
    target = gw.tensor([0, 1, 0, 1, 1])

    def loss(state: Any, x: Any, target: Any) -> Any:
        out = func.functional_call(model, state, (x[None],))
        return gw.nn.functional.cross_entropy(out, target[None])

    def gradients(state: Any, x: Any, target: Any) -> Any:
        return gw.vmap(func.grad(loss), (None, 0, 0))(state, x, target)

    got = gw.compile(gradients, fullgraph=True)(state, ROWS, target)
    for name, want in gradients(state, ROWS, target).items():
        gw.testing.assert_close(got[name], want)


def test_gradients_go_through_vmap_in_compiled_code() -> None:
    def total(x: Any, w: Any) -> Any:
        return gw.vmap(lambda r: (r @ w).sin().sum())(x).sum()

    def gradients(function: Any) -> Any:
        leaves = ROWS.clone().requires_grad_(), WEIGHT.clone().requires_grad_()
        return gw.autograd.grad(function(*leaves), leaves)

    compiled = gradients(gw.compile(total, fullgraph=True))
    for got, want in zip(compiled, gradients(total), strict=True):
        gw.testing.assert_close(got, want)


def test_one_graph_serves_batches_of_all_sizes() -> None:
    compiled = gw.compile(PROGRAMS["a gradient"], fullgraph=True)
    for count in range(2, 8):
        x = gw.rand(count, 3)
        gw.testing.assert_close(compiled(x, WEIGHT), PROGRAMS["a gradient"](x, WEIGHT))
    assert gw.compiler.stats(compiled).graphs <= 2


def test_random_numbers_are_drawn_for_each_example_where_that_is_asked() -> None:
    def noise(x: Any, randomness: Any) -> Any:
        return gw.vmap(lambda r: r + gw.rand(()), randomness=randomness)(x)

    compiled = gw.compile(noise, fullgraph=True)
    assert len(set(compiled(gw.zeros(4), "different").tolist())) == 4
    assert len(set(compiled(gw.zeros(4), "same").tolist())) == 1


def test_a_compiled_function_is_mapped_like_any_other() -> None:
    compiled = gw.compile(lambda r: (r * 2).sin())
    for _ in range(2):
        gw.testing.assert_close(gw.vmap(compiled)(ROWS), (ROWS * 2).sin())
        gw.testing.assert_close(compiled(ROWS), (ROWS * 2).sin())
    gw.testing.assert_close(gw.vmap(func.grad(lambda r: compiled(r).sum()))(ROWS),
                            2 * (ROWS * 2).cos())  # fmt: skip


class Cube(gw.autograd.Function):
    """Its gradient is ten times that of x**3, so that one sees whose it is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 30 * ctx.saved_tensors[0] ** 2 * grad


def test_functions_with_their_own_gradients_keep_them_under_vmap() -> None:
    def program(x: Any) -> Any:
        return gw.vmap(lambda r: Cube.apply(r).sum())(x * 1).sum()

    x = ROWS.clone().requires_grad_()
    gw.compile(program)(x).backward()
    gw.testing.assert_close(x.grad, 30 * ROWS**2)
    inner = gw.compile(lambda x: gw.vmap(func.grad(lambda r: Cube.apply(r).sum()))(x))
    gw.testing.assert_close(inner(ROWS), 30 * ROWS**2)


def test_what_cannot_be_captured_runs_vmap_as_plain_python() -> None:
    def program(x: Any) -> Any:
        return gw.vmap(lambda r: r + _noise() * 0)(x + 1) * 2

    with pytest.raises(RuntimeError, match="randomness error mode"):
        gw.compile(program)(ROWS)
    assert gw.rand(2).shape == (2,)

    def reads(x: Any) -> Any:
        try:
            return gw.vmap(lambda r: r * r.sum().item())(x + 1)
        except RuntimeError as error:
            return str(error)[:4]

    assert gw.compile(reads)(ROWS) == "vmap"


def test_an_example_kept_beyond_vmap_means_as_little_as_in_plain_python() -> None:
    kept: list[Any] = []

    def keeps(x: Any) -> Any:
        return gw.vmap(lambda r: kept.append(r) or r * 2)(x + 1)

    gw.testing.assert_close(gw.compile(keeps)(ROWS), (ROWS + 1) * 2)

    def gives(x: Any) -> Any:
        found: list[Any] = []
        out = gw.vmap(lambda r: found.append(r * 3) or r * 2)(x + 1)
        return out, found[0]

    kept.append(gw.compile(gives)(ROWS)[1])
    for example in kept:
        assert example.shape == (3,)
        with pytest.raises(RuntimeError, match="escaped"):
            example + 1


def test_backward_within_vmap_is_refused_as_in_plain_python() -> None:
    def gradient(row: Any) -> Any:
        leaf = row.detach().requires_grad_()
        (leaf * leaf).sum().backward()
        return leaf.grad

    with pytest.raises(RuntimeError, match="inside a function being vmapped"):
        gw.compile(lambda x: gw.vmap(gradient)(x + 1))(ROWS)


def test_the_block_in_which_libraries_map_masks_is_followed() -> None:
    def masks(x: Any) -> Any:
        with TransformGetItemToIndex():
            return gw.vmap(lambda row: x[row] >= x)(gw.arange(3))

    captured = Captured(masks)
    assert captured.agrees(gw.tensor([2.0, 0.0, 1.0]))
    assert captured.breaks == []
