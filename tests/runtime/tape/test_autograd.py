"""The tape and its engine: accumulation, hooks, in-place rules, depth, threads, functions."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.autograd import Function


def leaf(*values: float) -> Any:
    return gw.tensor(list(values), requires_grad=True)


def test_gradients_accumulate() -> None:
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]


def test_first_gradient_does_not_share_memory_between_leaves() -> None:
    x, y = leaf(1.0), leaf(2.0)
    seed = gw.tensor([1.0])
    (x + y).backward(seed)
    x.grad.add_(1)
    assert y.grad.tolist() == [1.0]
    assert seed.tolist() == [1.0]


def test_a_tensor_used_twice() -> None:
    x = leaf(3.0)
    y = x * x
    (y * y + y).sum().backward()
    assert x.grad.item() == pytest.approx(4 * 27 + 6)


def test_backward_twice_needs_retain_graph() -> None:
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    z = (x * x).sum()
    z.backward(retain_graph=True)
    z.backward()
    assert x.grad.item() == 6.0


def test_roots_must_be_scalar_or_given_gradients() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(gw.ones(3))
    with pytest.raises(RuntimeError, match="does not require grad"):
        gw.ones(()).backward()


def test_grad_of_unused_input() -> None:
    x, y = leaf(1.0), leaf(1.0)
    with pytest.raises(RuntimeError, match="not have been used"):
        gw.autograd.grad((x * 2).sum(), (x, y))
    gx, gy = gw.autograd.grad((x * 2).sum(), (x, y), allow_unused=True)
    assert gx.item() == 2.0 and gy is None
    assert x.grad is None


def test_grad_of_intermediate_skips_what_lies_beyond() -> None:
    x = leaf(2.0)
    y = x * x
    called: list[int] = []
    y.grad_fn.register_hook(lambda inputs, outputs: called.append(1))
    (grad,) = gw.autograd.grad((y * y).sum(), (y,))
    assert grad.item() == 8.0
    assert not called


def test_backward_with_inputs() -> None:
    x, y = leaf(1.0), leaf(2.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.item() == 2.0 and y.grad is None


def test_third_derivative() -> None:
    x = gw.tensor(2.0, dtype=gw.float64, requires_grad=True)
    y = x**4
    for expected in (32.0, 48.0, 48.0):
        (y,) = gw.autograd.grad(y, x, create_graph=True)
        assert y.item() == pytest.approx(expected)


def test_grad_modes() -> None:
    x = leaf(1.0)
    with gw.no_grad():
        assert not (x * 2).requires_grad
        with gw.enable_grad():
            assert (x * 2).requires_grad
        assert not gw.is_grad_enabled()
    assert gw.is_grad_enabled()

    @gw.no_grad()
    def plain(value: Any) -> Any:
        return value * 2

    @gw.no_grad
    def bare(value: Any) -> Any:
        return value * 2

    assert not plain(x).requires_grad and not bare(x).requires_grad
    gw.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    gw.set_grad_enabled(True)
    with gw.set_grad_enabled(False):
        assert not gw.is_grad_enabled()
    assert gw.is_grad_enabled()
    with gw.inference_mode():
        assert gw.is_inference_mode_enabled() and not (x * 2).requires_grad
    assert not gw.is_inference_mode_enabled()


def test_no_grad_generator_restores_between_steps() -> None:
    @gw.no_grad()
    def steps() -> Any:
        for _ in range(2):
            yield gw.is_grad_enabled()

    seen = []
    for inside in steps():
        seen.append((inside, gw.is_grad_enabled()))
    assert seen == [(False, True), (False, True)]


def test_tensor_hooks() -> None:
    x = leaf(1.0)
    y = x * 2
    handle = y.register_hook(lambda grad: grad * 10)
    x.register_hook(lambda grad: grad + 1)
    y.sum().backward()
    assert x.grad.item() == 21.0
    handle.remove()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.item() == 3.0


def test_post_accumulate_hook() -> None:
    x = leaf(1.0)
    seen: list[float] = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert seen == [2.0, 4.0]


def test_a_leaf_frozen_after_its_use_gets_no_gradient() -> None:
    x, y = leaf(3.0), leaf(2.0)
    seen: list[bool] = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad is None))
    total = (x * y).sum()
    x.requires_grad_(False)
    total.backward(retain_graph=True)
    assert x.grad is None and y.grad.item() == 3.0 and seen == [True]
    x.requires_grad_(True)
    total.backward()
    assert x.grad.item() == 2.0


def test_retain_grad() -> None:
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.item() == 4.0


def test_leaves_refuse_inplace() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[0].add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[0] = 1.0
    with gw.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0]


def test_saved_tensor_changed_in_place() -> None:
    x = leaf(1.0)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    x = leaf(1.0)
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_inplace_history() -> None:
    x = leaf(2.0)
    y = x * 1
    y.mul_(x)
    y.exp_()
    y.sum().backward()
    assert x.grad.item() == pytest.approx(4 * np.exp(4), rel=1e-5)


def test_writing_a_view_rebases_its_base() -> None:
    x, w = leaf(1.0, 2.0, 3.0), leaf(5.0)
    y = x * 2
    y[1] = w[0] * 3
    (y * gw.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 200.0]
    assert w.grad.tolist() == [30.0]


def test_inplace_arithmetic_on_a_view() -> None:
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = (x * 1).view(2, 2)
    row = y[0]
    row.mul_(x[:2])
    other = y.t()
    other[1].add_(x[:2])
    y.sum().backward()
    # y = [[x0^2, x1^2 + x0], [x2, x3 + x1]]
    assert x.grad.tolist() == [3.0, 5.0, 1.0, 1.0]


def test_view_taken_before_its_base_changes() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    view = y[1]
    y.mul_(3)
    view.backward()
    assert x.grad.tolist() == [0.0, 3.0]


def test_buffer_that_gains_history() -> None:
    x = leaf(1.0, 2.0)
    buffer = gw.zeros(2, 2)
    buffer[0] = x
    buffer[1] = x * x
    buffer.sum().backward()
    assert x.grad.tolist() == [3.0, 5.0]


def test_masked_fill_in_place() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    y.masked_fill_(gw.tensor([True, False, True]), 0.0)
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 0.0]


def test_double_backward_through_slices() -> None:
    x = gw.tensor([1.0, 2.0, 3.0], dtype=gw.float64, requires_grad=True)
    y = x * x
    y[1:] *= x[:2]
    (grad,) = gw.autograd.grad((y * y).sum(), x, create_graph=True)
    (again,) = gw.autograd.grad(grad.sum(), x)

    def total(v: np.ndarray[Any, Any]) -> float:
        y = v * v
        y[1:] *= v[:2]
        return float((y * y).sum())

    def slope(v: np.ndarray[Any, Any]) -> float:
        steps = np.eye(3) * 1e-5
        return sum((total(v + s) - total(v - s)) / 2e-5 for s in steps)

    start = np.array([1.0, 2.0, 3.0])
    steps = np.eye(3) * 1e-4
    numeric = [(slope(start + s) - slope(start - s)) / 2e-4 for s in steps]
    np.testing.assert_allclose(again.numpy(), numeric, rtol=1e-3)


def test_detach_shares_memory_and_version() -> None:
    x = leaf(1.0)
    y = x * 2
    z = y * y
    y.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_chain_of_100000_nodes() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(100_000):
        y = y + 1.0
    y.sum().backward()
    assert x.grad.item() == 1.0
    del y
    gc.collect()
    y = x
    for _ in range(100_000):
        y = y * 1.0
    del y
    y = x
    for _ in range(100_000):
        y = y.view(1)
    del y
    gc.collect()


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


def test_function() -> None:
    x = gw.tensor(2.0, dtype=gw.float64, requires_grad=True)
    (first,) = gw.autograd.grad(Cube.apply(x), x, create_graph=True)
    (second,) = gw.autograd.grad(first, x)
    assert (first.item(), second.item()) == (12.0, 12.0)


class Split(Function):
    @staticmethod
    def forward(ctx: Any, x: Any, scale: float) -> Any:
        ctx.scale = scale
        out = x.exp()
        ctx.save_for_backward(out)
        return out, x * scale, gw.argmax(x)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (out,) = ctx.saved_tensors
        assert grads[1] is not None
        return grads[0] * out + grads[1] * ctx.scale, None


def test_function_of_several_outputs() -> None:
    x = leaf(0.0, 1.0)
    out, scaled, where = Split.apply(x, 3.0)
    assert scaled.requires_grad and not where.requires_grad
    out.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([0.0, 1.0]), rtol=1e-6)


class Nested(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        with gw.enable_grad():
            ctx.inner = x.detach().requires_grad_()
            ctx.out = (ctx.inner * ctx.inner).sum()
        return ctx.out.detach()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        ctx.out.backward(grad)
        return ctx.inner.grad


def test_backward_inside_backward() -> None:
    x = leaf(1.0, 2.0)
    Nested.apply(x * 2).backward()
    assert x.grad.tolist() == [8.0, 16.0]


def test_threads_share_a_graph() -> None:
    x = gw.ones(50, dtype=gw.float64).requires_grad_()
    shared = (x * x).exp()
    results: list[Any] = [None] * 8

    def work(i: int) -> None:
        for _ in range(20):
            loss = (shared * float(i)).sum()
            results[i] = gw.autograd.grad(loss, x, retain_graph=True)[0]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, result in enumerate(results):
        np.testing.assert_allclose(result.numpy(), np.full(50, 2 * np.e * i))


def test_integer_tensors_cannot_require_grad() -> None:
    with pytest.raises(RuntimeError, match="floating"):
        gw.arange(3).requires_grad_()


def test_graph_is_freed_without_the_garbage_collector() -> None:
    import weakref

    gc.disable()
    try:
        x = leaf(1.0)
        y = (x.exp() * 2).tanh()
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_numpy_refuses_tensors_with_history() -> None:
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        leaf(1.0).numpy()


@pytest.mark.oracle
def test_random_programs_against_torch() -> None:
    torch = pytest.importorskip("torch")
    for seed in range(30):
        results = []
        for lib in (gw, torch):
            rng = np.random.default_rng(seed)
            x = lib.tensor(rng.normal(size=(3, 4)).tolist(), dtype=lib.float64, requires_grad=True)
            y = x * 1
            for _ in range(6):
                choice = rng.integers(6)
                if choice == 0:
                    y[int(rng.integers(3))] = y[int(rng.integers(3))] * 2
                elif choice == 1:
                    y = y.tanh() + x
                elif choice == 2:
                    y[:, 1:3].mul_(x[:, :2])
                elif choice == 3:
                    y.add_(x.mean(dim=0))
                elif choice == 4:
                    y = y.t().reshape(3, 4) * y
                else:
                    y.view(-1)[::3].sub_(0.5)
            y.sum().backward()
            results.append((y.detach().numpy(), x.grad.numpy()))
        for ours, theirs in zip(*results, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=f"seed {seed}")


@pytest.mark.parametrize("on", [True, False])
def test_requires_grad_is_set_on_leaves_only(on: bool) -> None:
    y = gw.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="only change requires_grad flags of leaf"):
        y.requires_grad = on
    assert y.requires_grad_() is y
    assert y.requires_grad and not y.is_leaf
