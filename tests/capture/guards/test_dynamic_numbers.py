"""Numbers that vary become inputs of one graph, with the results of plain Python to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured

VALUES = [0.1, 1 / 3, -2.7, 0.0, -0.0, 1.0, 1e-40, 1e300, math.inf, math.nan, 7.25]


def bits(value: Any) -> Any:
    """Something that is equal only for the same results."""
    if isinstance(value, gw.Tensor):
        items = value.double().reshape(-1).tolist()
        return value.dtype, value.shape, [repr(item) for item in items]
    if isinstance(value, (tuple, list)):
        return type(value), [bits(item) for item in value]
    return type(value), repr(value)


def graphs(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], backend: str = "eager",
    **options: Any,
) -> int:
    """Compare the calls with plain ones; the number of graphs it took."""
    compiled = gw.compile(function, backend=backend, **options)
    for args in calls:
        assert bits(compiled(*args)) == bits(function(*args)), args
    return gw.compiler.stats(compiled).graphs


def arithmetic(x: gw.Tensor, s: float) -> Any:
    return x * s + s, x - s, s - x, x / (s * 2 + 1), (s * 3 - 1) * x, x < s, s >= x, x == s


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
def test_numbers_before_half_types_are_not_rounded(dtype: gw.dtype) -> None:
    """As a tensor without dims is there: a factor comes second, a dividend is a constant."""
    def products(x: gw.Tensor, s: float) -> Any:
        return s * x, gw.mul(s, x), x * s

    def quotients(x: gw.Tensor, s: float) -> Any:
        return s / x, gw.div(s, x), x / s

    x = (gw.randn(37) * 3).to(dtype)
    assert graphs(products, [(x, value) for value in VALUES]) == 2
    graphs(quotients, [(x, value) for value in VALUES[:6]])


@pytest.mark.parametrize(("backend", "dtype"), [
    *(("eager", dtype) for dtype in (gw.float32, gw.float64, gw.bfloat16, gw.float16)),
    *(("llvm", dtype) for dtype in (gw.float32, gw.float64)),
])
def test_one_graph_for_all_floats(backend: str, dtype: gw.dtype) -> None:
    gw.manual_seed(0)
    x = (gw.randn(37) * 3).to(dtype)
    assert graphs(arithmetic, [(x, value) for value in VALUES], backend) == 2


@pytest.mark.parametrize("backend", ["eager", "llvm"])
def test_tensors_without_dimensions_keep_their_dtype(backend: str) -> None:
    for dtype in (gw.float32, gw.float64):
        x = gw.tensor(1.5, dtype=dtype)
        assert graphs(arithmetic, [(x, value) for value in VALUES], backend) == 2


def test_comparisons_are_made_in_the_tensors_dtype() -> None:
    for dtype in (gw.float32, gw.float64, gw.float16):
        x = gw.tensor([0.1, 0.2, 1 / 3], dtype=dtype)
        for backend in ("eager", "llvm"):
            calls = [(x, value) for value in (0.1, 0.2, 1 / 3)]
            assert graphs(lambda x, s: (x == s, x <= s, s < x), calls, backend) == 2


def test_written_in_place() -> None:
    def f(x: gw.Tensor, s: float) -> gw.Tensor:
        y = x.clone()
        y *= s
        y.add_(s)
        return y.sub(s).div(s + 2)

    for dtype in (gw.float32, gw.float16):
        x = gw.linspace(-1, 1, 7).to(dtype)
        assert graphs(f, [(x, value) for value in (0.1, 0.2, 0.3, 0.4)]) == 2


def test_expressions_of_floats_are_pythons_own() -> None:
    def f(x: gw.Tensor, a: float, b: float) -> Any:
        c = -(a * b) + a / 3
        a += b
        return x * c, c, [a, a * 2, b]

    calls = [(gw.ones(2), value, 0.1 + value) for value in VALUES]
    assert graphs(f, calls) == 2


def test_what_looks_at_the_value_specialises() -> None:
    def uses(x: gw.Tensor, s: float) -> Any:
        return {s: x * s}, hash(s)

    values = [0.25, 0.5, 0.75, 2.0]
    assert graphs(uses, [(gw.rand(3), value) for value in values]) == len(values)


@pytest.mark.parametrize("backend", ["eager", "llvm"])
def test_beside_integers_a_float_is_of_the_default_dtype(backend: str) -> None:
    for dtype in (gw.int64, gw.int32, gw.uint8):
        for x in (gw.arange(4).to(dtype), gw.tensor(1, dtype=dtype)):
            assert graphs(arithmetic, [(x, value) for value in VALUES], backend) == 2
    calls = [(gw.arange(4), value) for value in (0.5, 1.5, 2.5)]
    gw.set_default_dtype(gw.float64)
    try:
        assert graphs(arithmetic, calls, backend) == 3
    finally:
        gw.set_default_dtype(gw.float32)


def test_is_none_and_zero_division() -> None:
    def f(x: gw.Tensor, s: float | None) -> gw.Tensor:
        return x if s is None else x * s

    assert graphs(f, [(gw.ones(2), value) for value in (0.5, 1.5, 2.5, 3.5)]) == 2
    compiled = gw.compile(lambda x, s: x * (1.0 / s), backend="eager")
    for value in (2.0, 4.0, 8.0):
        assert compiled(gw.ones(1), value).item() == 1 / value
    with pytest.raises(ZeroDivisionError):
        compiled(gw.ones(1), 0.0)


def test_floats_in_tuples_and_after_breaks() -> None:
    def f(x: gw.Tensor, *scales: float) -> Any:
        y = x * scales[0]
        print(end="")
        return y + scales[1], scales

    calls = [(gw.ones(2), value, value + 0.5) for value in (0.1, 0.2, 0.3, 0.4)]
    assert graphs(f, calls) <= 4


def test_gradients_through_a_float() -> None:
    def f(x: gw.Tensor, s: float) -> gw.Tensor:
        return (x * s).exp().sum()

    compiled = gw.compile(f)
    for value in (0.5, 0.25, 0.125):
        found = []
        for run in (compiled, f):
            x = gw.linspace(0, 1, 5).requires_grad_()
            run(x, value).backward()
            found.append(x.grad)
        assert gw.allclose(found[0], found[1])
    assert gw.compiler.stats(compiled).graphs == 2


def test_ints_then_floats_and_static() -> None:
    x = gw.ones(3)
    assert graphs(lambda x, s: x * s, [(x, 2), (x, 2.5), (x, 3), (x, 3.5), (x, 4), (x, 4.5)]) == 4
    calls = [(x, value) for value in (0.5, 0.6, 0.7)]
    assert graphs(lambda x, s: x * s, calls, dynamic=False) == 3
    assert graphs(lambda x, s: x * s, calls, dynamic=True) == 1


def test_ints_generalise_wherever_they_are_passed() -> None:
    def in_tuple(x: gw.Tensor, sizes: tuple[int, int]) -> Any:
        return x * sizes[0] + sizes[1], sizes[0] * 2

    def in_varargs(x: gw.Tensor, *sizes: int) -> gw.Tensor:
        return x.repeat(*sizes)

    def by_keyword(x: gw.Tensor, *, n: int = 3) -> gw.Tensor:
        return x * n

    pairs = [(n, n + 3) for n in range(2, 9)]
    assert graphs(in_tuple, [(gw.ones(2), pair) for pair in pairs]) == 2
    assert graphs(in_varargs, [(gw.ones(2), *pair) for pair in pairs]) == 2
    compiled = gw.compile(by_keyword, backend="eager")
    assert [compiled(gw.ones(1), n=n).item() for n in range(2, 9)] == list(range(2, 9))
    assert gw.compiler.stats(compiled).graphs == 2


def test_a_counter_attribute() -> None:
    class Counting:
        def __init__(self) -> None:
            self.n = 0

        def __call__(self, x: gw.Tensor) -> gw.Tensor:
            self.n += 1
            return x * self.n

    counting = Counting()
    compiled = gw.compile(counting, backend="eager")
    assert [compiled(gw.ones(1)).item() for _ in range(8)] == list(range(1, 9))
    assert counting.n == 8


class Holder:
    value: Any = None


def uses(x: gw.Tensor, s: float, t: float) -> Any:
    """All kinds of uses; those that look at the value specialise the graph, and must be right."""
    holder, kept, cell = Holder(), [], t

    def closure() -> float:
        return cell + s

    holder.value = s * 2
    kept.append(t - s)
    kept.append((s, {"t": t, s: "key"}))
    s, t = t, s
    kept.extend(sorted([s, t, 0.5], reverse=True))
    y = x * holder.value + kept[0]
    text = f"{s:.3f} {t!r}" if isinstance(s, float) else ""
    numbers = [max(s, t), min(s, 1), round(s), sum([s, t]), abs(t), s.is_integer(), divmod(s, 2.0)]
    y = y + (closure() if s is not None else 0) - gw.full((2,), t)
    y = y.clamp(-s - 1.0, 5.0)
    return y, holder.value, kept, text, numbers, bool(s), hash(t), s == t, {s, t}


def looks_at_nothing(x: gw.Tensor, s: float, t: float) -> Any:
    holder, kept = Holder(), []
    holder.value = s * 2
    kept.append(t - s)
    kept += [s, (t, s)]
    s, t = t, s
    y = x * holder.value + kept[0]
    return y / (s + 1) - t, holder.value, kept, {"s": s}, [n * 2.0 for n in (s, t)]


def test_floats_in_containers_attributes_and_closures() -> None:
    calls = [(gw.ones(2), n / 7, 3.0 - n) for n in range(1, 7)]
    assert graphs(uses, calls) <= len(calls) * 2
    assert graphs(looks_at_nothing, calls) == 2


def test_one_argument_twice_and_signs() -> None:
    def f(x: gw.Tensor, s: float, t: float) -> Any:
        return x * s - x * t, s * -1 + t, -s, +t, x - abs(t), abs(s)

    value = 0.7
    calls = [(gw.ones(2), value, value), (gw.ones(2), 0.1, 0.2), (gw.ones(2), 0.0, -0.0),
             (gw.ones(2), math.nan, math.inf), (gw.ones(2), 5e-324, -1e308)]
    assert graphs(f, calls) <= 4


def test_comparisons_with_a_varying_int_are_those_of_the_elements() -> None:
    def program(x: Any, n: int) -> Any:
        return x**n, x == n, x != n

    compiled, x = gw.compile(program), gw.tensor([1, -2, 3])
    for n in (2, 3, 4):
        plain = [result.tolist() for result in program(x, n)]
        assert [result.tolist() for result in compiled(x, n)] == plain


@pytest.mark.parametrize("backend", ["eager", "llvm"])
@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("function", [
    lambda x, n: x + n * n,
    lambda x, n: x * (n * n * n),
    lambda x, n: x + n ** 4,
    lambda x, n: (x * 0 + n) - (n + 2 ** 62),
    lambda x, n: (x + n, n * 3 ** 30 - n),
    lambda x, n: x * (n * x.shape[0] * n * x.shape[0]),
], ids=["square", "cube", "fourth_power", "large_term", "large_factor", "with_sizes"])
def test_integers_that_leave_64_bits(function, dynamic, backend):
    """Generated code computes in 64 bits: larger values have versions of their own."""
    compiled = gw.compile(function, dynamic=dynamic, backend=backend)
    for n in (5, 7, -11, 2**15, 2**20, 2**31 + 1, -2**33, 2**62, 2**63 - 1, 10**20, 9):
        for x in (gw.tensor([1.0, 2.0, 3.0]), gw.ones(4)):
            expected, found = function(x, n), compiled(x, n)
            if isinstance(expected, tuple):
                assert expected[1] == found[1]
                expected, found = expected[0], found[0]
            assert gw.equal(expected, found), n


def test_bounds_of_integers_are_guards():
    compiled = gw.compile(lambda x, n: x * (n * n * n), backend="eager")
    for n, versions in ((5, 1), (7, 2), (2**20, 2), (-(2**20), 2), (2**20 + 1, 3)):
        assert gw.equal(compiled(gw.ones(3), n), gw.ones(3) * n**3)
        assert gw.compiler.stats(compiled).graphs == versions


@pytest.mark.parametrize("method", [
    lambda x, s: x.uniform_(-s, s),
    lambda x, s: x.normal_(std=s) * 2,
    lambda x, s: x.bernoulli_(s),
    lambda x, s: x.exponential_(s) + gw.empty_like(x).log_normal_(0.5, s),
    lambda x, s: x.cauchy_(0.5, s) + gw.empty_like(x).geometric_(s),
])  # fmt: skip
def test_numbers_of_methods_that_fill_with_random_numbers(method: Any) -> None:
    captured = Captured(method, fullgraph=True)
    for number in (0.25, 0.5, 0.75, 0.125):
        found = []
        for run in (method, captured):
            x = gw.arange(6.0).view(2, 3)
            gw.manual_seed(3)
            found.append((run(x, number), x, gw.rand(1)))
        gw.testing.assert_close(found[1], found[0], rtol=1e-6, atol=0)
    assert captured.graphs == 2


def test_a_number_that_a_method_refuses_is_refused() -> None:
    captured = Captured(lambda x, s: x.normal_(0, s))
    for number in (0.5, 0.25):
        captured(gw.ones(2), number)
    with pytest.raises(RuntimeError, match="std >= 0"):
        captured(gw.ones(2), -1.0)


CLAMPS: list[Callable[..., Any]] = [
    lambda x, s: x.clamp(min=s), lambda x, s: x.clamp(max=s), lambda x, s: x.clamp(s, 1.0),
    lambda x, s: gw.clamp_min(x, s), lambda x, s: gw.clamp_min(x, gw.full_like(x, s)),
    lambda x, s: x.clamp(max=gw.full((), s)), lambda x, s: x.clone().clamp_max_(s),
    lambda x, s: gw.maximum(x, gw.full_like(x, s)), lambda x, s: gw.fmin(gw.full_like(x, s), x),
    lambda x, s: x.relu() + s,
]


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64, gw.float16, gw.bfloat16])
@pytest.mark.parametrize("function", CLAMPS)
def test_zeros_of_two_signs_are_bounds_as_numbers_and_as_inputs(
    function: Callable[..., Any], dtype: Any
) -> None:
    x = gw.tensor([0.0, -0.0, 1.0, -1.0, math.nan, math.inf] * 7, dtype=dtype)
    for first in (0.0, -0.0):
        calls = [(x, s) for s in (first, -first, 0.5, -0.0, 0.0, math.nan)]
        graphs(function, calls, backend="llvm")


def test_a_value_that_equals_its_bound_is_kept() -> None:
    zeros = gw.tensor([0.0, -0.0])
    for bound in (0.0, -0.0, gw.tensor(-0.0), gw.tensor([-0.0, 0.0])):
        for kept in (zeros.clamp(min=bound), zeros.clamp(max=bound), gw.clamp_min(zeros, bound),
                     zeros.clamp(bound, bound)):
            assert [str(value) for value in kept.tolist()] == ["0.0", "-0.0"]
