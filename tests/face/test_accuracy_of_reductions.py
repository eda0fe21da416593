"""Sums, means, variances, norms, softmax and losses of long data, and their gradients, against the
same functions in float64: at most 4 log2(n) eps of the largest element off.

Where positive and negative terms cancel, in sums and means of numbers around zero, it is that many
eps of what the sum or mean of their magnitudes would be.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn

F = nn.functional
Dims = tuple[int, ...]
EPS = {gw.float32: 2.0**-23, gw.float16: 2.0**-10, gw.bfloat16: 2.0**-7}

REDUCTIONS: dict[str, Callable[[Any, Dims], Any]] = {
    "sum": lambda x, d: x.sum(d),
    "mean": lambda x, d: x.mean(d),
    "var": lambda x, d: x.var(d),
    "std": lambda x, d: x.std(d, correction=0),
    "norm of order 1": lambda x, d: gw.linalg.vector_norm(x, 1, d),
    "norm of order 2": lambda x, d: gw.linalg.vector_norm(x, 2, d),
    "norm of order 3": lambda x, d: gw.linalg.vector_norm(x, 3, d),
    "logsumexp": gw.logsumexp,
}
ALONG: dict[str, Callable[[Any, Dims], Any]] = {
    "softmax": lambda x, d: gw.softmax(x, d[0]),
    "log_softmax": lambda x, d: gw.log_softmax(x, d[0]),
}
LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "mse_loss": F.mse_loss,
    "l1_loss": F.l1_loss,
    "huber_loss": F.huber_loss,
    "cross_entropy": lambda x, y: F.cross_entropy(x[None], gw.tensor([3])),
    "nll_loss": lambda x, y: F.nll_loss(x[:, None], gw.zeros(len(x), dtype=gw.int64)),
    "binary_cross_entropy": lambda x, y: F.binary_cross_entropy(
        gw.sigmoid(x - x.floor()), gw.sigmoid(y - y.floor()) / 2),
    "with_logits": lambda x, y: F.binary_cross_entropy_with_logits(x, y / 4),
    "kl_div": lambda x, y: F.kl_div(x, y * y + 1, reduction="batchmean"),
}
NORMS: dict[str, Callable[[Any], Any]] = {
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:], x[0].detach() * 0 + 2),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:]),
    "group_norm": lambda x: F.group_norm(x[None], 1),
    "instance_norm": lambda x: F.instance_norm(x[None]),
}
CANCELLING = ("sum", "mean")

MODES: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "llvm": lambda f: gw.compile(f, backend="llvm", fullgraph=True),
    "c": lambda f: gw.compile(f, backend="c", fullgraph=True),
    "dynamic": lambda f: gw.compile(f, backend="llvm", fullgraph=True, dynamic=True),
}


def batch_norm(x: Any) -> Any:
    return F.batch_norm(x, None, None, training=True)


class Layout(NamedTuple):
    """Where the n elements of a result lie: the shape for n, the view of it, and the dims."""

    shape: Callable[[int], tuple[int, ...]]
    view: Callable[[Any], Any]
    dims: Dims


LAYOUTS = {
    "flat": Layout(lambda n: (n,), lambda x: x, (0,)),
    "rows": Layout(lambda n: (3, n), lambda x: x, (1,)),
    "columns": Layout(lambda n: (n, 5), lambda x: x, (0,)),
    "strided": Layout(lambda n: (2, 2 * n), lambda x: x[:, ::2], (1,)),
    "transposed": Layout(lambda n: (n, 3), lambda x: x.T, (1,)),
    "two dims": Layout(lambda n: (n // 49, 3, 49), lambda x: x, (0, 2)),
}


class Case(NamedTuple):
    name: str
    layout: str
    n: int
    offset: float
    dtype: Any
    mode: str


def function_of(case: Case) -> Callable[[Any, Any], Any]:
    dims = LAYOUTS[case.layout].dims
    if case.name in LOSSES:
        return LOSSES[case.name]
    if case.name in NORMS or case.name == "batch_norm":
        norm = NORMS.get(case.name, batch_norm)
        return lambda x, y: norm(x)
    reduction = {**REDUCTIONS, **ALONG}[case.name]
    return lambda x, y: reduction(x, dims)


def every_name(layout: str) -> Iterator[str]:
    yield from REDUCTIONS
    if layout != "two dims":
        yield from ALONG
    if layout == "flat":
        yield from LOSSES
    if layout in ("rows", "transposed"):
        yield from NORMS
    if layout in ("columns", "two dims"):
        yield "batch_norm"


def every_case(sizes: tuple[int, ...], layouts: tuple[str, ...] = tuple(LAYOUTS)) -> list[Case]:
    return [Case(name, layout, n, offset, dtype, mode)
            for layout in layouts for name in every_name(layout) for n in sizes
            for offset in (0.0, 1e4) for dtype in EPS for mode in MODES]


def elements(case: Case, seed: int) -> Any:
    """Numbers of the case's dtype, in float64, from an interval of length 1."""
    shape = LAYOUTS[case.layout].shape(case.n)
    drawn = np.random.default_rng(seed).random(shape, np.float32) + (case.offset or -0.5)
    return gw.from_numpy(drawn).to(case.dtype).to(gw.float64)


def results(case: Case, function: Any, x: Any, y: Any, tangent: Any) -> tuple[Any, Any]:
    """The result and the gradient of x, whose memory is laid out as the case says."""
    base = x.requires_grad_()
    out = function(LAYOUTS[case.layout].view(base), LAYOUTS[case.layout].view(y))
    out.backward(tangent.flatten()[:out.numel()].reshape(out.shape).to(out.dtype))
    return out.detach(), base.grad


def largest(x: Any) -> float:
    return float(x.abs().max())


def check(case: Case) -> None:
    x, y = elements(case, 1), elements(case, 2)
    tangent = elements(case._replace(offset=1.0), 3)
    function = function_of(case)
    expected = results(case, function, x.clone(), y, tangent)
    if largest(expected[0]) > gw.finfo(case.dtype).max:
        return
    scales = list(map(largest, expected))
    if case.name in CANCELLING:
        scales[0] = largest(function(LAYOUTS[case.layout].view(x.abs()), y))
    narrow = (t.to(case.dtype) for t in (x, y, tangent))
    found = results(case, MODES[case.mode](function), *narrow)
    bound = 4 * math.log2(case.n) * EPS[case.dtype]
    for what, got, want, scale in zip(
            ("result", "gradient"), found, expected, scales, strict=True):
        error = largest(got.to(gw.float64) - want)
        assert error <= bound * scale, f"{what} of {case}: {error / scale / EPS[case.dtype]} eps"


def test_a_sample_of_all() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    for case in random.Random(seed).sample(every_case((10**3, 10**5)), 24):
        check(case)


@pytest.mark.parametrize("mode", ["eager", "llvm"])
@pytest.mark.parametrize("name", ["sum", "var"])
def test_ten_million_numbers_around_ten_thousand(name: str, mode: str) -> None:
    check(Case(name, "flat", 10**7, 1e4, gw.float32, mode))


@pytest.mark.parametrize("mode", ["llvm", "c"])
def test_batch_norm_of_a_million_numbers_around_ten_thousand(mode: str) -> None:
    check(Case("batch_norm", "columns", 10**6, 1e4, gw.float32, mode))


def test_constants_add_up_to_their_product() -> None:
    """Rounding always in the same direction, as of equal numbers, does not pile up either."""
    for n in (10**3, 10**5, 10**7):
        for x in (gw.full((n,), 0.1), gw.full((n, 3), 0.1)):
            for function in (lambda x: x.sum(0), gw.compile(lambda x: x.sum(0))):
                found = function(x).to(gw.float64)
                exact = n * float(np.float32(0.1))
                assert largest(found - exact) <= 4 * math.log2(n) * 2.0**-23 * exact


def test_sums_that_overflow_are_infinite_and_their_variances_too() -> None:
    large, alternating = gw.full((4096,), 3e38), gw.full((4096,), 1e30)
    alternating[::2] = -1e30
    for mode in MODES.values():
        assert float(mode(lambda x: x.sum())(large)) == math.inf
        assert float(mode(lambda x: x.var())(alternating)) == math.inf


def test_the_same_bits_on_any_number_of_threads() -> None:
    x = gw.rand(300_000) + 1e4
    before = gw.get_num_threads()
    compiled = gw.compile(lambda x: (x.sum(), x.var(), x.view(-1, 10).sum(0)))
    found = []
    for threads in (1, 2, 3):
        gw.set_num_threads(threads)
        found.append([t.numpy().tobytes() for t in compiled(x)])
    gw.set_num_threads(before)
    assert found[0] == found[1] == found[2]


@pytest.mark.slow
@pytest.mark.parametrize("n", [10**3, 10**5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all(layout: str, n: int) -> None:
    for case in every_case((n,), (layout,)):
        check(case)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REDUCTIONS, *ALONG, *LOSSES])
def test_ten_million(name: str) -> None:
    for case in every_case((10**7,), ("flat",)):
        if case.name == name:
            check(case)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["eager", "llvm", "c"])
@pytest.mark.parametrize("name", ["sum", "mean", "var", "norm of order 2"])
def test_a_hundred_million(name: str, mode: str) -> None:
    check(Case(name, "flat", 10**8, 1e4, gw.float32, mode))
