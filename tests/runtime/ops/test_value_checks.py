"""Values that an op refuses, eagerly and where compiled code meets them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops

F = gw.nn.functional
GOOD = gw.tensor([0.2, 0.9, 0.5])
BAD = {
    "negative": gw.tensor([-0.2, 0.9, 0.5]),
    "a NaN": gw.tensor([float("nan"), 0.9, 0.5]),
    "too large": gw.tensor([0.2, 1.5, 0.5]),
    "all zero": gw.zeros(3),
}
USES: dict[str, tuple[Callable[[Any], Any], tuple[str, ...], str]] = {
    "binary_cross_entropy": (
        lambda p: F.binary_cross_entropy(p * 1, GOOD), ("negative", "a NaN", "too large"),
        "between 0 and 1",
    ),
    "binary_cross_entropy of a target": (
        lambda t: F.binary_cross_entropy(GOOD * 1, t), ("negative", "a NaN", "too large"),
        "elements of target",
    ),
    "bernoulli": (gw.bernoulli, ("negative", "a NaN", "too large"), "p_in >= 0"),
    "bernoulli_": (
        lambda p: gw.empty(3).bernoulli_(p), ("negative", "a NaN", "too large"), "p_in >= 0"
    ),
    "multinomial": (
        lambda p: gw.multinomial(p, 2), ("negative", "a NaN", "all zero"), "prob"
    ),
    "normal": (lambda p: gw.normal(0.0, p), ("negative", "a NaN"), "std >= 0.0"),
    "cov": (lambda p: gw.cov(GOOD, aweights=p), ("negative",), "cannot be negative"),
}


@pytest.mark.parametrize("name", USES)
def test_refused_values(name: str) -> None:
    function, refused, message = USES[name]
    compiled = gw.compile(function, fullgraph=True)
    compiled(GOOD)
    for case in refused:
        for call in (function, compiled):
            with pytest.raises(RuntimeError, match=message):
                call(BAD[case])
    compiled(GOOD)


def test_the_check_is_a_part_of_the_kernel_that_reads() -> None:
    compiled = gw.compile(lambda x: F.binary_cross_entropy(x.sigmoid(), GOOD))
    compiled(GOOD)
    assert gw.compiler.stats(compiled).kernels == 1


def test_gradients_pass_through_a_check() -> None:
    x = gw.rand(3, requires_grad=True)
    ok = gw.tensor([True])
    (grad,) = gw.autograd.grad(ops.require_values(x, ok, "no"), x, GOOD)
    assert grad.tolist() == GOOD.tolist()


def test_nothing_is_written_where_a_check_fails() -> None:
    def step(state: Any, p: Any) -> Any:
        state.add_(1)
        return gw.bernoulli(p)

    state = gw.zeros(2)
    with pytest.raises(RuntimeError, match="p_in"):
        gw.compile(step)(state, BAD["negative"])
    assert state.tolist() == [1.0, 1.0]


BEYOND = {gw.float16: 7e4, gw.bfloat16: 1e39, gw.float32: 1e39}
FILLS: dict[str, Callable[[Any, float], Any]] = {
    "full": lambda x, value: gw.full((2,), value, dtype=x.dtype),
    "full_like": gw.full_like,
    "new_full": lambda x, value: x.new_full((2,), value),
    "fill_": lambda x, value: x.clone().fill_(value),
    "masked_fill": lambda x, value: x.masked_fill(x == 0, value),
    "masked_fill_": lambda x, value: x.clone().masked_fill_(x == 0, value),
    "pad": lambda x, value: F.pad(x, (1, 1), value=value),
    "index_fill": lambda x, value: x.index_fill(0, gw.tensor([0]), value),
}


@pytest.mark.parametrize("dtype", BEYOND, ids=str)
@pytest.mark.parametrize("name", FILLS)
def test_finite_numbers_beyond_the_range_of_floats(name: str, dtype: gw.dtype) -> None:
    fill, x = FILLS[name], gw.zeros(2, dtype=dtype)
    compiled = gw.compile(fill)
    for call, value in ((fill, BEYOND[dtype]), (fill, -BEYOND[dtype]), (compiled, BEYOND[dtype])):
        with pytest.raises(RuntimeError, match="without overflow"):
            call(x, value)
    assert fill(x, gw.finfo(dtype).max).amax().item() == gw.finfo(dtype).max
    assert fill(x, float("inf")).amax().item() == float("inf")


@pytest.mark.parametrize("key", [0, slice(None), [0], gw.tensor([True, False]), (..., None)])
def test_assigned_numbers_beyond_the_range_of_floats(key: Any) -> None:
    """Half precision takes them as infinities there, as in PyTorch."""
    x = gw.zeros(2)
    with pytest.raises(RuntimeError, match="without overflow"):
        x[key] = -1e39
    for dtype in (gw.float16, gw.bfloat16):
        x = gw.zeros(2, dtype=dtype)
        x[key] = -BEYOND[dtype]
        assert x[0].item() == -float("inf")


NUMBERS: dict[str, Callable[[Any, float], Any]] = {
    "elu": lambda x, n: F.elu(x, n),
    "celu": lambda x, n: F.celu(x, n),
    "leaky_relu": lambda x, n: F.leaky_relu(x, n),
    "softplus": lambda x, n: F.softplus(x, n),
    "softplus threshold": lambda x, n: F.softplus(x, threshold=n),
    "rrelu": lambda x, n: F.rrelu(x, 0.1, n),
    "lerp": lambda x, n: gw.lerp(x, x, n),
    "histc": lambda x, n: gw.histc(x, 4, 0, n),
    "hinge_embedding_loss": lambda x, n: F.hinge_embedding_loss(x, x, n),
    "full": lambda x, n: gw.full((2,), n, dtype=gw.complex64),
    "softshrink": lambda x, n: F.softshrink(x, n),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_the_dtype_cannot_hold_are_refused(name: str) -> None:
    function = NUMBERS[name]
    for call in (function, gw.compile(function)):
        with pytest.raises(RuntimeError):
            call(GOOD.clone(), 1e39)
        call(GOOD.clone(), 2.0)


def test_nan_is_no_bound() -> None:
    nan = float("nan")
    for call in (
        lambda: F.huber_loss(GOOD, GOOD, delta=nan),
        lambda: F.smooth_l1_loss(GOOD, GOOD, beta=nan),
        lambda: F.cosine_similarity(GOOD, GOOD, 0, eps=nan),
        lambda: gw.isclose(GOOD, GOOD, rtol=nan),
        lambda: gw.normal(GOOD, nan),
        lambda: F.softshrink(GOOD, nan),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_margins_and_terms_are_floats() -> None:
    whole = gw.tensor([[1, 2]])
    assert F.margin_ranking_loss(whole, whole, whole, margin=3).item() == 3.0
    assert F.pairwise_distance(whole, whole, eps=1).tolist() == [pytest.approx(2**0.5)]
