"""Results of a compiled call that others of its results are computed from: all that arrives there.

Hooks on them, `retain_grad`, and gradients by them see what comes through the other results, too,
as eagerly, where each result has a history of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import graphwright as gw
from graphwright.testing import assert_close

Program = Callable[[Any, Any], tuple[Any, ...]]
Use = Callable[[tuple[Any, ...], Any], list[Any]]


class Square(gw.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Any) -> Any:
        ctx.save_for_backward(value)
        return value * value

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2 * ctx.saved_tensors[0]


def chain(x: Any, w: Any) -> tuple[Any, ...]:
    first = x.tanh()
    return first, first.sin()


def longer(x: Any, w: Any) -> tuple[Any, ...]:
    first = x.tanh()
    second = first * w
    return first, second, (second * second).exp()


def own_function(x: Any, w: Any) -> tuple[Any, ...]:
    first = Square.apply(x)
    return first, first * w


def partly_without_gradients(x: Any, w: Any) -> tuple[Any, ...]:
    first = x.sin()
    with gw.no_grad():
        factor = first * 2
    return first, first * factor, first + w


def random(x: Any, w: Any) -> tuple[Any, ...]:
    first = gw.nn.functional.dropout(x, 0.5) * w
    return first, first.cos()


def two_results_of_one_operation(x: Any, w: Any) -> tuple[Any, ...]:
    values, places = x.sort(-1)
    return values, places, values * values, values.sum()


def loss_and_prediction(x: Any, w: Any) -> tuple[Any, ...]:
    prediction = gw.softmax(x, -1)
    return prediction, (prediction * w).sum()


def view_of_a_result(x: Any, w: Any) -> tuple[Any, ...]:
    first = x.tanh()
    view = first.t()
    return first, view, view @ w


def views_of_what_stays_inside(x: Any, w: Any) -> tuple[Any, ...]:
    first, second, _ = x.sin().unbind(0)
    return first, second, first * second


def views_of_views(x: Any, w: Any) -> tuple[Any, ...]:
    first = x.tanh()
    flat = first.view(-1)
    part = flat[1:]
    return first, part, part.exp(), flat, flat[:2]


def views_of_an_input(x: Any, w: Any) -> tuple[Any, ...]:
    left, right = x.split([1, 2], -1)
    return left, right, left.sigmoid() * right, x.t()


def view_that_is_written(x: Any, w: Any) -> tuple[Any, ...]:
    first = x * 1
    row = first[0]
    row.mul_(w[1])
    return first, row, row.sin(), first.sum()


def all_of(results: tuple[Any, ...]) -> Any:
    return sum((result * (place + 1)).sum() for place, result in enumerate(results))


def hooks(results: tuple[Any, ...], x: Any) -> list[Any]:
    seen: list[Any] = [None] * len(results)
    for place, result in enumerate(results):
        result.register_hook(lambda grad, place=place: seen.__setitem__(place, grad))
    all_of(results).backward()
    return seen


def a_hook_that_changes(results: tuple[Any, ...], x: Any) -> list[Any]:
    results[0].register_hook(lambda grad: grad * 3)
    results[-1].sum().backward()
    return []


def a_hook_that_goes(results: tuple[Any, ...], x: Any) -> list[Any]:
    seen: list[Any] = []
    handle = results[0].register_hook(lambda grad: seen.append(grad))
    all_of(results).backward(retain_graph=True)
    handle.remove()
    all_of(results).backward(retain_graph=True)
    results[0].register_hook(lambda grad: seen.append(grad * 2))
    all_of(results).backward()
    return seen


def a_hook_that_grad_meets(results: tuple[Any, ...], x: Any) -> list[Any]:
    seen: list[Any] = []
    results[0].register_hook(lambda grad: seen.append(grad))
    return [*gw.autograd.grad(results[-1].sum(), x), *seen]


def retained(results: tuple[Any, ...], x: Any) -> list[Any]:
    for result in results:
        result.retain_grad()
    all_of(results).backward()
    return [result.grad for result in results]


def gradients_by_results(results: tuple[Any, ...], x: Any) -> list[Any]:
    return [grad for result in results for aim in results for grad in gw.autograd.grad(
        result.sum(), (aim, x), retain_graph=True, allow_unused=True)]


def accumulated_in_a_result(results: tuple[Any, ...], x: Any) -> list[Any]:
    results[-1].sum().backward(inputs=[results[0], x], retain_graph=True)
    all_of(results).backward()
    return [results[0].grad]


def second_order(results: tuple[Any, ...], x: Any) -> list[Any]:
    seen: list[Any] = []
    results[0].register_hook(lambda grad: seen.append(grad.detach()))
    (grad,) = gw.autograd.grad(all_of(results), x, create_graph=True)
    (grad * grad).sum().backward()
    return seen


PROGRAMS = (chain, longer, own_function, partly_without_gradients, random,
            two_results_of_one_operation, loss_and_prediction, view_of_a_result,
            views_of_what_stays_inside, views_of_views, views_of_an_input, view_that_is_written)
USES = (hooks, a_hook_that_changes, a_hook_that_goes, a_hook_that_grad_meets, retained,
        gradients_by_results, accumulated_in_a_result, second_order)


def outcome(program: Program, use: Use) -> list[Any]:
    gw.manual_seed(1)
    x, w = (gw.randn(3, 3, dtype=gw.float64, requires_grad=True) for _ in range(2))
    results = tuple(result for result in program(x, w) if result.requires_grad)
    return [*use(results, x), x.grad, w.grad]


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_all_that_arrives_is_seen(program: Program, use: Use, dynamic: bool | None) -> None:
    compiled = gw.compile(program, fullgraph=True, dynamic=dynamic)
    expected = outcome(program, use)
    for _ in range(2):
        found = outcome(compiled, use)
        assert [grad is None for grad in found] == [grad is None for grad in expected]
        for ours, plain in zip(found, expected, strict=True):
            if plain is not None:
                assert_close(ours, plain)


def test_a_second_pass_is_refused() -> None:
    for run in (chain, gw.compile(chain)):
        results = run(gw.ones(2, requires_grad=True), None)
        results[0].register_hook(lambda grad: None)
        all_of(results).backward()
        with pytest.raises(RuntimeError, match="second time"):
            all_of(results).backward()


def test_without_hooks_nothing_runs_again() -> None:
    """What arrives at a result that is asked for by nobody is summed by the compiled backward."""
    compiled = gw.compile(chain)
    results = compiled(gw.ones(2, requires_grad=True), None)
    results[1].register_hook(lambda grad: None)
    all_of(results).backward(retain_graph=True)
    assert results[0].grad_fn.ends is None
    results[0].register_hook(lambda grad: None)
    all_of(results).backward()
    assert results[0].grad_fn.ends is not None


def test_an_input_that_the_call_writes() -> None:
    """Its value after the call is what the results are computed from."""
    def write(x: Any, w: Any) -> Any:
        x.mul_(w)
        return x.sin(), x[0] * 2

    found = []
    for run in (write, gw.compile(write, fullgraph=True)):
        for rows in (slice(None), slice(1, 3)):
            leaf = gw.arange(12.0).reshape(4, 3).requires_grad_()
            w = gw.full((3,), 0.5, requires_grad=True)
            x = (leaf * 2)[rows]
            sine, row = run(x, w)
            x.retain_grad()
            (sine.sum() + row.sum() + (x * x).sum()).backward()
            found.append((x.grad, leaf.grad, w.grad))
    for plain, ours in zip(found[:2], found[2:], strict=True):
        assert_close(ours, plain)


def passes_after_one(run: Program, first: int, then: int, hooked: int) -> list[Any]:
    """What a hook and leaves get where a pass has released its way before anybody asks."""
    x, w = gw.arange(4.0).requires_grad_(), gw.full((4,), 0.5, requires_grad=True)
    results = run(x, w)
    results[first].sum().backward()
    seen: list[Any] = []
    results[hooked].register_hook(lambda grad: seen.append(grad))
    try:
        results[then].sum().backward()
    except RuntimeError as error:
        seen.append("second time" in str(error))
    return [*seen, x.grad, w.grad]


def three_ways(x: Any, w: Any) -> tuple[Any, ...]:
    middle = x + w
    return middle, middle.sin(), middle.exp(), middle[:2]


@pytest.mark.parametrize("hooked", range(4))
@pytest.mark.parametrize("then", range(4))
@pytest.mark.parametrize("first", range(4))
def test_ways_that_were_released_before(first: int, then: int, hooked: int) -> None:
    """They are refused; others are not."""
    expected = passes_after_one(three_ways, first, then, hooked)
    found = passes_after_one(gw.compile(three_ways), first, then, hooked)
    assert len(found) == len(expected)
    for ours, plain in zip(found, expected, strict=True):
        if isinstance(plain, gw.Tensor):
            assert_close(ours, plain)
        else:
            assert ours is plain


def test_a_result_written_after_the_call() -> None:
    for run in (chain, gw.compile(chain)):
        results = run(gw.ones(2, requires_grad=True), None)
        results[0].register_hook(lambda grad: None)
        with gw.no_grad():
            results[0].mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            results[1].sum().backward()


def test_threads_that_ask_at_once() -> None:
    compiled = gw.compile(longer)
    for _ in range(20):
        leaves = gw.arange(4.0).requires_grad_(), gw.full((4,), 0.5, requires_grad=True)
        expected = gw.autograd.grad(all_of(longer(*leaves)), leaves)
        results = compiled(*leaves)
        results[0].register_hook(lambda grad: grad * 1)
        gradients = partial(gw.autograd.grad, all_of(results), leaves, retain_graph=True)
        with ThreadPoolExecutor(4) as pool:
            found = [future.result() for future in [pool.submit(gradients) for _ in range(4)]]
        for grads in found:
            assert_close(grads, expected)


def test_autocast_and_grad_mode_are_those_of_the_call() -> None:
    def forward(x: Any, w: Any) -> tuple[Any, ...]:
        first = x @ w
        with gw.no_grad():
            factor = first.float().exp()
        return first, first.float() * factor

    compiled, found = gw.compile(forward), []
    for run in (forward, compiled, compiled):
        x, w = gw.ones(2, 2, requires_grad=True), gw.full((2, 2), 0.3, requires_grad=True)
        with gw.autocast("cpu", dtype=gw.bfloat16):
            first, second = run(x, w)
        first.retain_grad()
        second.sum().backward()
        found.append((first.grad, x.grad, w.grad))
    for ours in found[1:]:
        assert ours[0].dtype is gw.bfloat16
        assert_close(ours, found[0])


def test_the_default_dtype_is_that_of_the_call() -> None:
    def forward(x: Any, number: Any) -> tuple[Any, ...]:
        first = x * 2
        return first, first * (number / 3 + 1e9 - 1e9)     # 0 in float32

    found = []
    for run in (forward, gw.compile(forward)):
        x = gw.ones(3, requires_grad=True)
        first, second = run(x, gw.arange(3))
        gw.set_default_dtype(gw.float64)
        try:
            first.retain_grad()
            second.sum().backward()
            found.append((first.grad, x.grad))
            assert gw.get_default_dtype() is gw.float64
        finally:
            gw.set_default_dtype(gw.float32)
    assert [grad.dtype for grad in found[1]] == [grad.dtype for grad in found[0]]
    assert_close(found[1], found[0])


def test_hooks_on_what_is_saved_see_nothing_once_it_was_saved() -> None:
    for run in (chain, gw.compile(chain)):
        seen: list[Any] = []
        results = run(gw.ones(2, requires_grad=True), None)
        with gw.autograd.graph.saved_tensors_hooks(seen.append, lambda packed: packed):
            results[0].register_hook(lambda grad: None)
            results[1].sum().backward()
        assert not seen


def test_a_second_backward_under_another_default_dtype() -> None:
    def squares(x: Any, number: Any) -> Any:
        return x * x * (number / 3 + 1e9 - 1e9)     # 0 in float32

    found = []
    for run in (squares, gw.compile(squares)):
        x = gw.ones(3, requires_grad=True)
        result = run(x, gw.arange(3))
        gw.set_default_dtype(gw.float64)
        try:
            first, = gw.autograd.grad(result.sum(), x, create_graph=True)
            found.append((first, *gw.autograd.grad(first.sum(), x)))
        finally:
            gw.set_default_dtype(gw.float32)
    assert_close(found[1], found[0])


def apart_from_each_other(x: Any, w: Any) -> tuple[Any, ...]:
    first, second = x * 2, w.sin()
    return first, second, (x * w).exp()


def in_another_order(x: Any, w: Any) -> tuple[Any, ...]:
    last, first = (x * w).exp(), w * 3
    return first, last, x.cos()


def with_a_view(x: Any, w: Any) -> tuple[Any, ...]:
    first, second = x * 2, w.sin()
    return first, second, first[:1]


def with_a_written_input(x: Any, w: Any) -> tuple[Any, ...]:
    second = w.sin()
    written = (x * 1).mul_(w)
    return written, second, x.cos()


@pytest.mark.parametrize("program", [
    apart_from_each_other, in_another_order, with_a_view, with_a_written_input, longer])
def test_hooks_run_in_the_order_of_eager_execution(program: Program) -> None:
    """The gradients of what was made last come first."""
    orders: list[list[int]] = []
    for run in (program, gw.compile(program)):
        x, w = (gw.full((3,), value, requires_grad=True) for value in (0.5, 2.0))
        results = run(x, w)
        orders.append([])
        for number, result in enumerate(results):
            result.register_hook(partial(lambda seen, number, grad: seen.append(number),
                                         orders[-1], number))
        all_of(results).backward()
    assert orders[1] == orders[0] and sorted(orders[0]) == [0, 1, 2]
