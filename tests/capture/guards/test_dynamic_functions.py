"""Functions of numbers that vary: computed by Python anew in each call, guarded where decided by.

Schedules (`0.5 * (1 + cos(pi * step / total))`), scales (`1 / sqrt(width)`), decays
(`average.mul_(decay).add_(x, alpha=1 - decay)`) and thresholds take two graphs, whatever the
numbers; a branch takes one more for its other side.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture

Program = Callable[..., Any]
functional = gw.nn.functional


def cosine(x: Any, step: int) -> Any:
    rate = 0.5 * (1 + math.cos(math.pi * step / 100))
    return x * rate, rate


def warm_up(x: Any, step: int) -> Any:
    return x * min(1.0, step / 10), x * (1 - 0.9**step)


def width(x: Any, count: int) -> Any:
    return x / math.sqrt(count), x / np.sqrt(count), np.sqrt(count)


def root(x: Any, number: float) -> Any:
    return x * math.sqrt(number) * np.log(number), number**2, number // 0.3, abs(-number)


def rounded(x: Any, number: float) -> Any:
    return x[: int(number) + 1], round(number * 2), math.floor(number), divmod(number, 2.0)


def average(x: Any, decay: float) -> Any:
    mean = x.clone()
    mean.mul_(decay).add_(x, alpha=1 - decay)
    return mean, mean.lerp(x, decay), gw.add(x, x, alpha=decay)


def bounded(x: Any, size: float) -> Any:
    return x.clamp(-size, 5.0), gw.where(x > size, size, x), x.masked_fill(x > size, size)


def filled(x: Any, value: float) -> Any:
    made = gw.full((3,), value), gw.full_like(x, value), gw.tensor(value)
    return (*made, gw.nn.functional.leaky_relu(x, value), x**value, value**x)


def products(x: Any, value: float) -> Any:
    return gw.addcmul(x, x, x, value=value), x.clone().addcdiv_(x, x, value=value)


STEPS = [(step,) for step in (3, 5, 20, 100, 7, 64)]
FLOATS = [(number,) for number in (1.5, 2.25, 3.75, 2.5, 7.125)]
SCHEDULES: list[tuple[Program, list[tuple[Any, ...]]]] = [
    (cosine, STEPS),
    (width, STEPS),
    (root, FLOATS),
    (rounded, FLOATS),
    (average, FLOATS),
    (bounded, FLOATS),
    (filled, FLOATS),
    (products, FLOATS),
]


def run(captured: Captured, program: Program, numbers: tuple[Any, ...]) -> None:
    x = gw.linspace(-2, 9, 12)
    assert picture(captured(x.clone(), *numbers)) == picture(program(x.clone(), *numbers))


@pytest.mark.parametrize(("program", "calls"), SCHEDULES, ids=lambda value: str(value)[:20])
def test_two_graphs_whatever_the_numbers(program: Program, calls: Any) -> None:
    captured = Captured(program, fullgraph=True)
    for numbers in calls:
        run(captured, program, numbers)
    assert captured.graphs == 2


# operations that are made of others take the numbers of those


def dropped(x: Any, number: float) -> Any:
    gw.manual_seed(4)
    rate = 1 / (1 + number)
    return functional.dropout(x, rate), functional.alpha_dropout(x, p=rate, training=True)


def losses(x: Any, number: float) -> Any:
    scores, classes = x.reshape(4, 3), gw.tensor([0, 2, 1, 0])
    smoothed = functional.cross_entropy(scores, classes, label_smoothing=1 / (1 + number))
    return smoothed, functional.huber_loss(x, x * x, delta=number)


def shaped(x: Any, number: float) -> Any:
    bent = functional.softplus(x, number), functional.celu(x, number)
    return (*bent, functional.normalize(x, eps=number, dim=0), gw.nan_to_num(x, nan=number))


def norms(x: Any, order: float) -> Any:
    rows = x.reshape(3, 4)
    found = gw.norm(x, order), x.norm(order), gw.dist(x, x * x, order)
    return (*found, gw.cdist(rows, rows, p=order), functional.pairwise_distance(x, x * x, order))


def thresholds(x: Any, number: float) -> Any:
    cut = functional.hardtanh(x, -number, number), functional.threshold(x, number, -number)
    shrunk = functional.hardshrink(x, number), functional.softshrink(x, number)
    return *cut, *shrunk, x.sigmoid().logit(1 / (number + 2)), gw.rsub(x, number)


def products_of_matrices(x: Any, scale: float) -> Any:
    a = x.reshape(3, 4)
    scores = functional.scaled_dot_product_attention(a, a, a, scale=1 / scale)
    return gw.addmm(a, a, a.T @ a, beta=scale), scores


def ranges(x: Any, number: float) -> Any:
    made = gw.arange(number), gw.arange(0.5, 9.0, number), gw.linspace(number, 20.0, 7)
    return *made, x.sum()


def operands(x: Any, number: float) -> Any:
    results = gw.mul(x, other=number), x.sub(other=number), gw.div(number, x * x + 1)
    index = gw.tensor([1, 0, 5])
    special = gw.xlogy(x * x, number), gw.copysign(x, number), gw.special.zeta(number, x * x + 2)
    floors = gw.div(x, number, rounding_mode="floor")
    return *results, *special, x.scatter(0, index, number), floors


@pytest.mark.parametrize("backend", ["eager", "c"])
@pytest.mark.parametrize("program", [
    dropped, losses, shaped, norms, thresholds, products_of_matrices, ranges, operands])
def test_operations_are_taken_apart_for_numbers_that_vary(program: Program, backend: str) -> None:
    compiled: Any = gw.compile(program, backend=backend, fullgraph=True)
    for (number,) in FLOATS:
        x = gw.linspace(-2, 9, 12)
        expected = picture(program(x, number), rounded=True)
        assert picture(compiled(x, number), rounded=True) == expected
    assert gw.compiler.stats(compiled).graphs == 2


def placed(x: Any) -> Any:
    image, grid = x[None, None], gw.tanh(x[:3, :2, None].expand(3, 2, 2))[None]
    return functional.grid_sample(image, grid, align_corners=True)


def resized(x: Any) -> Any:
    image = x[None, None]
    found = [functional.interpolate(image, scale_factor=factor) for factor in (1.5, 1.3)]
    return *found, functional.interpolate(image, scale_factor=1.5, mode="bilinear")


def solved(x: Any) -> Any:
    regular = x @ x.T + 20 * gw.eye(x.shape[0])
    found = gw.linalg.inv_ex(regular)[0], *gw.linalg.lu(regular), gw.linalg.matrix_rank(x)
    return *found, gw.linalg.multi_dot((x, x.T, x, x.T))


def triangles(x: Any) -> Any:
    rows, columns = x.shape
    below = gw.tril_indices(rows, columns, -1)
    return below, gw.triu_indices(rows, rows + 2, 1), x[tuple(below)], gw.vander(x[:, 0])


@pytest.mark.parametrize("backend", ["eager", "c"])
@pytest.mark.parametrize("program", [
    lambda x: (gw.quantile(x, 0.3), gw.quantile(x, 0.7, 1, interpolation="midpoint")),
    lambda x: functional.pdist(x), placed, resized, solved, triangles])
def test_operations_that_compute_with_sizes_take_two_graphs(
    program: Program, backend: str
) -> None:
    compiled: Any = gw.compile(program, backend=backend, fullgraph=True)
    for size in range(4, 10):
        x, ours = [gw.linspace(-2, 2, 4 * size).reshape(size, 4).sin() for _ in range(2)]
        for values in (x, ours):
            values.requires_grad_()
        expected, found = program(x), compiled(ours)
        assert picture(found, rounded=True) == picture(expected, rounded=True)
        if not isinstance(expected, gw.Tensor):
            continue
        expected.square().sum().backward()
        found.square().sum().backward()
        assert x.grad is not None and gw.allclose(x.grad, ours.grad, atol=1e-5)
    assert gw.compiler.stats(compiled).graphs == 2


@pytest.mark.parametrize("program", [
    lambda x, n: (gw.norm(x, n), x.reshape(3, 4).norm(p=n, dim=1)),
    lambda x, n: (functional.pairwise_distance(x, x * x, n), gw.nan_to_num(x / 0, nan=n)),
    lambda x, n: (functional.local_response_norm(x.reshape(1, 12, 1), 3, n), x / n),
    lambda x, n: (x.var(correction=n / 4), gw.std_mean(x.reshape(3, 4), 1, correction=n / 8)),
    lambda x, n: (x.double().var(correction=n / 4), x.var(correction=n + 2.5)),
    lambda x, n: gw.constant_pad_nd(x, (1, 2), n / 7),
])
def test_operations_take_two_graphs_for_ints_that_vary(program: Program) -> None:
    captured = Captured(program, fullgraph=True)
    for n in range(3, 9):
        x = gw.linspace(-2, 9, 12)
        expected = picture(program(x, n), rounded=True)
        assert picture(captured(x, n), rounded=True) == expected
    assert captured.graphs == 2


def test_products_of_gradients_have_a_version_for_each_doubling_of_the_length() -> None:
    compiled: Any = gw.compile(lambda x: x.cumprod(0).sum(), backend="eager", fullgraph=True)
    for size in range(5, 9):
        x, ours = [gw.linspace(-2, 2, size, requires_grad=True) for _ in range(2)]
        x.cumprod(0).sum().backward()
        compiled(ours).backward()
        assert x.grad is not None and gw.allclose(x.grad, ours.grad)
    assert gw.compiler.stats(compiled).graphs == 2


def test_a_float_and_a_size_that_vary_are_one_input() -> None:
    captured = Captured(lambda x, f: x * (f * 1.5 + x.shape[0]), fullgraph=True)
    for n in range(3, 9):
        assert captured.agrees(gw.ones(n), n / 7)
    assert captured.graphs == 2


def test_sections_have_a_version_for_each_remainder() -> None:
    captured = Captured(lambda x: x.tensor_split(3), fullgraph=True)
    for size in range(3, 13):
        assert captured.agrees(gw.arange(size))
    assert captured.graphs == 4


def test_what_unrolls_by_its_size_is_one_operation_for_each() -> None:
    captured = Captured(lambda x: gw.stack(x.unbind()[::-1]), fullgraph=True)
    for size in (3, 4, 5):
        assert captured.agrees(gw.arange(size) + 1)
    assert captured.graphs == 3 and captured.ops == [2, 2, 2]


def test_an_operation_that_cannot_be_taken_apart_has_one_version_for_each_number() -> None:
    def program(x: Any, number: float) -> Any:
        return x.reshape(1, 1, 4, 3) + 1, gw.histc(x, min=-number, max=number)

    captured = Captured(program, fullgraph=True)
    for numbers in FLOATS[:3]:
        run(captured, program, numbers)
    assert captured.graphs == 3


def test_norms_that_are_recorded_have_their_own_gradients() -> None:
    """Zero where all is zero, which the gradients of their parts are not."""
    compiled: Any = gw.compile(lambda x, order: gw.norm(x, order), backend="eager")
    for (order,) in FLOATS[:3]:
        x = gw.zeros(4).requires_grad_()
        compiled(x, order).backward()
        assert x.grad is not None and x.grad.tolist() == [0.0] * 4


def test_orders_that_are_written_in_words_are_told_from_numbers() -> None:
    def program(x: Any, order: Any) -> Any:
        if order in (0.0, float("inf")):
            return x
        return x * 2 if order in ("fro", None) or order == "nuc" else x * order

    captured = Captured(program, fullgraph=True)
    for order in (1.5, 2.5, 3.5, 4.5, "fro", "nuc", None):
        x = gw.ones(3)
        assert captured(x, order).tolist() == program(x, order).tolist()
    assert captured.graphs == 5


def test_counters_take_two_graphs_from_zero_on() -> None:
    def program(x: Any, counters: Any) -> Any:
        counters.step += 1
        counters.calls["all"] += 1
        return x * counters.step + counters.calls["all"]

    counters = types.SimpleNamespace(step=0, calls={"all": 0})
    captured = Captured(program, fullgraph=True)
    found = [captured(gw.ones(1), counters).item() for _ in range(6)]
    assert found == [2, 4, 6, 8, 10, 12]
    assert captured.graphs == 2


@pytest.mark.parametrize("program", [
    lambda x, n: gw.linalg.matrix_power(x, n),
    lambda x, n: gw.mvlgamma(x.square() + 5, n),
    lambda x, n: gw.histc(x, bins=n),
    lambda x, n: x[None].movedim(0, n - 2),
])
def test_integers_that_say_how_often_are_part_of_graphs(program: Program) -> None:
    captured = Captured(program, fullgraph=True)
    for count in (2, 3, 4):
        x = gw.linspace(-2, 2, 9).reshape(3, 3)
        assert captured(x, count).tolist() == program(x, count).tolist()


def test_what_an_operation_refuses_is_refused_in_its_own_words() -> None:
    compiled = gw.compile(lambda x, rate: functional.dropout(x, rate) * 2, backend="eager")
    for rate in (0.25, 0.5, 0.75):
        compiled(gw.ones(3), rate)
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
        compiled(gw.ones(3), 1.5)


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: gw.tensor(x.shape[0]),
        lambda x: gw.arange(9) < gw.tensor([x.shape[0], 1, x.shape[0] - 1])[:, None],
        lambda x: gw.tensor((x.shape[0], 1.5)),
        lambda x: gw.tensor([x.shape[0], True], dtype=gw.float64),
        lambda x: gw.tensor([x.shape[0] - 1], dtype=gw.bool),
        lambda x: gw.tensor([x.shape[0], x.sum()]) * x.mean(),
    ],
)
def test_tensors_of_sizes_have_the_sizes_of_each_call(program: Program, backend: str) -> None:
    compiled: Any = gw.compile(program, backend=backend, dynamic=True, fullgraph=True)
    for count in (3, 4, 7):
        assert picture(compiled(gw.ones(count)), True) == picture(program(gw.ones(count)), True)
    assert gw.compiler.stats(compiled).graphs == 1


def test_a_size_that_the_dtype_does_not_hold_is_refused() -> None:
    compiled = gw.compile(lambda x: gw.tensor([x.shape[0]], dtype=gw.uint8) * 2, dynamic=True)
    compiled(gw.ones(3))
    for function in (compiled, lambda x: gw.tensor([x.shape[0]], dtype=gw.uint8) * 2):
        with pytest.raises((RuntimeError, OverflowError)):
            function(gw.ones(300))


def test_a_branch_takes_one_more() -> None:
    def program(x: Any, number: float) -> Any:
        return x * number if number > 2.0 else x / number

    captured = Captured(program, fullgraph=True)
    for number in (0.25, 0.5, 0.75, 3.0, 4.0, 1.5, 2.0, math.nan, math.inf):
        run(captured, program, (number,))
    assert captured.graphs == 3


def test_the_smaller_of_two_is_decided_by_a_guard() -> None:
    captured = Captured(warm_up, fullgraph=True)
    for (step,) in STEPS:
        run(captured, warm_up, (step,))
    assert captured.graphs <= 3


def test_what_raises_for_other_numbers_raises_as_python_does() -> None:
    def program(x: Any, number: float) -> Any:
        return x * math.sqrt(number), x * (1 / number), x * math.log(number)

    captured = Captured(program)
    for number in (1.5, 2.5, 3.5):
        run(captured, program, (number,))
    for number, error in ((-1.0, ValueError), (0.0, ZeroDivisionError)):
        with pytest.raises(error):
            captured(gw.ones(2), number)
    run(captured, program, (4.5,))


def test_a_number_of_another_type_is_another_version() -> None:
    def program(x: Any, number: Any) -> Any:
        return x * (number**-1), number**-1

    captured = Captured(program)
    for number in (2, 3, 4, 2.5, 3.5, -2.0, -3, 10):
        run(captured, program, (number,))


def test_gradients_flow_past_numbers_that_vary() -> None:
    def program(x: Any, number: float) -> Any:
        return (x.clamp(-number, number) ** 2 * math.exp(-number)).sum()

    compiled = gw.compile(program, backend="c", fullgraph=True)
    for number in (0.5, 1.5, 2.5):
        expected, ours = (gw.tensor([-2.0, 0.25, 1.75], requires_grad=True) for _ in range(2))
        program(expected, number).backward()
        compiled(ours, number).backward()
        assert gw.allclose(expected.grad, ours.grad)


def test_integers_add_no_part_of_a_number() -> None:
    compiled = gw.compile(lambda x, a: gw.add(x, x, alpha=a), backend="eager")
    for alpha in (1.5, 2.5, 3.5):
        with pytest.raises(RuntimeError, match="alpha"):
            compiled(gw.arange(3), alpha)
