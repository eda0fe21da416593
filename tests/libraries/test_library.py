"""`gw.library.custom_op`: ops of the user's own, eager, differentiated and as nodes of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import Tensor


def _sine() -> Any:
    """sin(n x) by NumPy, with a fake implementation and a gradient."""
    def sine(x: Tensor, n: int = 1) -> Tensor:
        return gw.from_numpy(np.sin(x.numpy() * n))

    def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        x, ctx.n = inputs
        ctx.save_for_backward(x)

    def backward(ctx: Any, grad: Any) -> tuple[Any, None]:
        (x,) = ctx.saved_tensors
        return grad * gw.cos(x * ctx.n) * ctx.n, None

    op = gw.library.custom_op("tests::sine", sine, mutates_args=())
    op.register_fake(lambda x, n=1: gw.empty_like(x))
    op.register_autograd(backward, setup_context=keep)
    return op


def test_a_fake_implementation_may_make_tensors_of_symbolic_sizes() -> None:
    @gw.library.custom_op("tests::pairs", mutates_args=())
    def pairs(x: Tensor) -> Tensor:
        return x.repeat(2)

    pairs.register_fake(lambda x: gw.empty(x.shape[0] * 2, dtype=x.dtype, device=x.device))
    compiled = gw.compile(lambda x: pairs(x * 2) + 1, fullgraph=True, dynamic=True)
    for size in (3, 4, 5):
        x = gw.rand(size)
        np.testing.assert_array_equal(compiled(x).numpy(), (x * 2).repeat(2).numpy() + 1)
    assert gw.compiler.stats(compiled).recompiles == 0


def test_it_is_called_and_differentiated() -> None:
    sine = _sine()
    x = gw.rand(3, dtype=gw.float64, requires_grad=True)
    np.testing.assert_allclose(sine(x, n=2).detach().numpy(), np.sin(2 * x.detach().numpy()))
    assert gw.autograd.gradcheck(lambda x: sine(x, 2), (x,))
    assert gw.autograd.gradgradcheck(lambda x: sine(x, 2), (x,))


@pytest.mark.parametrize("dynamic", [False, True])
def test_it_is_a_node_of_one_graph(dynamic: bool) -> None:
    """Forward and backward agree with eager calls; NumPy is never captured."""
    sine = _sine()
    graphs = []

    def backend(module: Any, inputs: Any) -> Any:
        graphs.append(module)
        return module

    def loss(x: Any) -> Any:
        return (sine(x * 2, 3) + 1).square().sum()

    gw.compile(loss, backend=backend, fullgraph=True)(gw.ones(4))
    assert [node.target for node in graphs[0].graph.nodes].count(sine) == 1
    compiled = gw.compile(loss, fullgraph=True, dynamic=dynamic)
    for size in (4, 7):
        x = gw.rand(size, requires_grad=True)
        got, want = compiled(x), loss(x)
        np.testing.assert_allclose(got.item(), want.item(), rtol=1e-5)
        grads = [gw.autograd.grad(out, x)[0].numpy() for out in (got, want)]
        np.testing.assert_allclose(grads[0], grads[1], rtol=1e-4)


def test_it_is_found_by_namespace_and_name() -> None:
    """As `gw.ops.namespace.name`, with `.default` for its overload; one node of a graph."""
    sine = _sine()
    assert gw.ops.tests.sine is sine
    assert gw.ops.tests.sine.default is sine
    compiled = gw.compile(lambda x: gw.ops.tests.sine.default(x * 2, 3) + 1, fullgraph=True)
    np.testing.assert_allclose(compiled(gw.ones(4)).numpy(), np.sin(6.0) + 1, rtol=1e-6)
    later = _sine()
    assert gw.ops.tests.sine is later
    assert not hasattr(gw.ops.tests, "cosine")
    with pytest.raises(AttributeError, match=r"nothing_yet.*has no attribute 'f'"):
        gw.ops.nothing_yet.f(gw.ones(1))


def test_gradients_of_gradients_of_a_graph_with_it() -> None:
    sine, found = _sine(), []
    for run in (sine, gw.compile(lambda x: sine(x * 1), fullgraph=True)):
        x = gw.tensor([0.5, 1.0], dtype=gw.float64, requires_grad=True)
        (grad,) = gw.autograd.grad(run(x).sum(), x, create_graph=True)
        found.append((grad.detach(), *gw.autograd.grad(grad.sum(), x)))
    gw.testing.assert_close(found[1], found[0])


@pytest.mark.parametrize("keeps", ["input", "output"])
def test_only_what_its_context_keeps_must_stay_unchanged(keeps: str) -> None:
    """A result written in place: gradients are refused, eagerly and compiled, if it was kept."""
    def keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.save_for_backward(inputs[0] if keeps == "input" else output)

    op = gw.library.custom_op("tests::double", _twice, mutates_args=())
    op.register_fake(gw.empty_like)
    op.register_autograd(lambda ctx, grad: grad * 2 + 0 * ctx.saved_tensors[0], setup_context=keep)

    def loss(x: Any) -> Any:
        return op(x * 1).add_(1).sum()

    for function in (loss, gw.compile(loss, fullgraph=True)):
        x = gw.ones(3, requires_grad=True)
        if keeps == "input":
            function(x).backward()
            np.testing.assert_array_equal(x.grad.numpy(), [2, 2, 2])
        else:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                function(x).backward()


def _twice(x: Tensor) -> Tensor:
    return gw.from_numpy(x.numpy() * 2)


def test_several_results_and_optional_tensors() -> None:
    @gw.library.custom_op("tests::halves", mutates_args=())
    def halves(x: Tensor, y: Tensor | None = None, *, scale: float = 0.5) -> tuple[Tensor, Tensor]:
        return x * scale, (x if y is None else y) * scale

    @gw.library.register_fake("tests::halves")
    def _(x: Any, y: Any = None, *, scale: float = 0.5) -> Any:
        return gw.empty_like(x), gw.empty_like(x)

    def backward(ctx: Any, first: Any, second: Any) -> Any:
        return first * 0.5 + second * 0.5, None, None

    gw.library.register_autograd("tests::halves", backward)

    def total(x: Any) -> Any:
        first, second = halves(x)
        return (first + 2 * second).sum()

    for run in (total, gw.compile(total, fullgraph=True)):
        x = gw.ones(3, requires_grad=True)
        run(x).backward()
        assert x.grad.tolist() == [1.5, 1.5, 1.5]
    assert [t.tolist() for t in halves(gw.ones(1), gw.zeros(1), scale=2.0)] == [[2.0], [0.0]]


def test_arguments_that_are_written() -> None:
    """Such an op is called between graphs; who saved the tensor hears of the change."""
    @gw.library.custom_op("tests::raise_by_one", mutates_args={"x"})
    def raise_by_one(x: Tensor) -> None:
        x.numpy()[...] += 1

    x = gw.zeros(2)
    assert raise_by_one(x) is None and x.tolist() == [1.0, 1.0] and x._version > 0

    def between(x: Any) -> Any:
        y = x * 2
        raise_by_one(y)
        return y * 3

    assert gw.compile(between)(gw.ones(2)).tolist() == [9.0, 9.0]


def test_what_is_refused() -> None:
    def unknown(x: Any) -> Tensor:
        return x

    def same(x: Tensor) -> Tensor:
        return x

    with pytest.raises(ValueError, match="unsupported type"):
        gw.library.custom_op("tests::unknown", unknown, mutates_args=())
    with pytest.raises(ValueError, match="namespace::name"):
        gw.library.custom_op("same", same, mutates_args=())
    with pytest.raises(ValueError, match="mutates_args"):
        gw.library.custom_op("tests::same", same, mutates_args=("y",))
    op = gw.library.custom_op("tests::same", same, mutates_args=())
    with pytest.raises(RuntimeError, match="must not also be an input"):
        op(gw.ones(2))
    with pytest.raises(RuntimeError, match="type 'Tensor' for argument 'x'"):
        op(3)
    with pytest.raises(RuntimeError, match="missing"):
        op()

    @gw.library.custom_op("tests::copied", mutates_args=())
    def copied(x: Tensor) -> Tensor:
        return x.clone()

    with pytest.raises(RuntimeError, match="no autograd formula"):
        copied(gw.ones(2, requires_grad=True)).sum().backward()
    assert gw.compile(copied)(gw.ones(2)).tolist() == [1.0, 1.0]     # after a break
    with pytest.raises(RuntimeError, match="no custom op"):
        gw.library.register_autograd("tests::nothing", lambda ctx, grad: grad)


def test_a_shape_rule_may_come_before_its_op() -> None:
    @gw.library.register_fake("tests::later")
    def rule(x: gw.Tensor) -> gw.Tensor:
        return gw.empty_like(x)

    @gw.library.custom_op("tests::later", mutates_args=())
    def later(x: gw.Tensor) -> gw.Tensor:
        return x * 2

    compiled = gw.compile(lambda x: later(x) + 1, fullgraph=True)
    assert compiled(gw.ones(2)).tolist() == [3.0, 3.0]


def test_what_comes_of_libraries_for_pytorch_is_refused() -> None:
    with pytest.raises(OSError, match="no C\\+\\+ library of PyTorch's"):
        gw.ops.load_library("ops.so")
    with pytest.raises(AttributeError, match=r"'graphwright\.ops\.others' has no .* 'nms'"):
        _ = gw.ops.others.nms


def test_numpy_where_gradients_are_not_recorded() -> None:
    x = gw.ones(2, requires_grad=True)
    with gw.no_grad():
        assert x.numpy().tolist() == [1.0, 1.0] == np.asarray(x).tolist()
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()


def test_powers_of_two_keep_the_dtype() -> None:
    """ldexp of floats by integers: no overflow on the way, as in the C library."""
    least = gw.tensor([5e-324, 1.0, 1e300], dtype=gw.float64)
    found = gw.ldexp(least, gw.tensor([2097, 5000, -3000]))
    assert found.tolist() == [2.0**1023, float("inf"), 0.0]
    for dtype in (gw.float16, gw.float64):
        assert gw.ldexp(gw.tensor(1.0, dtype=dtype), gw.tensor([1, 2])).dtype is dtype
    with pytest.raises(RuntimeError, match="bool tensor is not supported"):
        gw.ones(2).sub_(True)
