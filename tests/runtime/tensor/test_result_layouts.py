"""How results lie in memory where an op moves a dim: as PyTorch's do, eagerly and compiled.

The strides follow from the sizes: a dim that was worked along is the fastest (transforms), the
slowest (distinct rows) or the last of those that are kept (quantiles).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

REAL = gw.arange(60.0).reshape(3, 4, 5)
COMPLEX = gw.complex(REAL, -REAL)
SHARES = gw.tensor([0.25, 0.5])

LAST = gw.arange(48.0).reshape(2, 2, 3, 4).contiguous(memory_format=gw.channels_last)
BATCH_NORM = gw.nn.functional.batch_norm
RESULTS: list[tuple[str, Callable[[], Any], tuple[int, ...]]] = [
    ("fft, last dim", lambda: gw.fft.fft(COMPLEX), (20, 5, 1)),
    ("fft, first dim", lambda: gw.fft.fft(COMPLEX, dim=0), (1, 15, 3)),
    ("ifft, middle dim", lambda: gw.fft.ifft(COMPLEX, dim=1), (20, 1, 4)),
    ("fft of a turned tensor", lambda: gw.fft.fft(COMPLEX.mT, dim=1), (20, 1, 5)),
    ("fftn, two dims", lambda: gw.fft.fftn(COMPLEX, dim=(0, 2)), (5, 15, 1)),
    ("fftn, no dims", lambda: gw.fft.fftn(COMPLEX.mT, dim=()), (20, 1, 5)),
    ("rfft, middle dim", lambda: gw.fft.rfft(REAL, dim=1), (15, 1, 3)),
    ("rfft2", lambda: gw.fft.rfft2(REAL), (12, 3, 1)),
    ("rfftn, two dims", lambda: gw.fft.rfftn(REAL, dim=(0, 1)), (3, 1, 9)),
    ("irfft, first dim", lambda: gw.fft.irfft(COMPLEX, dim=0), (1, 20, 4)),
    ("irfftn, two dims", lambda: gw.fft.irfftn(COMPLEX, dim=(0, 1)), (6, 1, 18)),
    ("ihfft2", lambda: gw.fft.ihfft2(REAL), (12, 1, 4)),
    ("quantile", lambda: gw.quantile(REAL, 0.5, 0), (5, 1)),
    ("quantile, kept dim", lambda: gw.quantile(REAL, 0.5, 1, keepdim=True), (5, 5, 1)),
    ("quantiles", lambda: gw.quantile(REAL, SHARES, 0), (1, 10, 2)),
    ("batch_norm of channels_last", lambda: BATCH_NORM(LAST, None, None, training=True),
     (24, 1, 8, 2)),
    ("batch_norm of turned lines", lambda: BATCH_NORM(LAST[0], None, None, training=True),
     (12, 4, 1)),
    ("kron of turned matrices", lambda: gw.kron(REAL[0].t(), REAL[1].t()), (1, 25)),
    ("kron of large ones", lambda: gw.kron(gw.ones(30, 20).t(), gw.ones(40, 30).t()), (1, 600)),
    ("kron, one turned", lambda: gw.kron(gw.ones(3, 2), gw.ones(4, 5).t()), (8, 1)),
    ("quantiles, kept dim", lambda: gw.nanquantile(REAL, SHARES, 1, keepdim=True), (1, 10, 10, 2)),
]

def in_its_layout(x: Any) -> Any:
    """The double of `x` in memory of its own, which lies as that of `x` does."""
    twice = gw.empty_strided(x.shape, x.stride())
    twice[:] = x + x
    return twice


ALIKE: list[Callable[[Any], Any]] = [
    lambda x: x.clone(), lambda x: x.flip(0), lambda x: x.to(gw.float64), gw.zeros_like,
    lambda x: gw.full_like(x, 2, dtype=gw.int64), gw.rand_like, lambda x: gw.frexp(x).mantissa,
    lambda x: gw.select_scatter(x, x[0].exp(), 0, 0),
    lambda x: x.index_put((gw.zeros(1, dtype=gw.int64),), gw.ones(())),
]
SINGLE = [((1, 3), (6, 1)), ((1, 3), (1, 1)), ((3, 1), (1, 6)), ((1, 1), (9, 9)), ((0, 3), (1, 9)),
          ((0, 1, 2), (9, 1, 7)), ((2, 1, 3), (3, 99, 1)), ((2, 1, 3), (1, 50, 2))]


@pytest.mark.parametrize(("shape", "strides"), SINGLE)
def test_what_is_like_a_dense_tensor_has_its_strides_those_of_single_elements_too(
    shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    x = gw.randn(120).as_strided(shape, strides)
    for function in ALIKE[: 3 if 0 in shape else None]:
        assert function(x).stride() == strides
        assert gw.compile(function)(x).stride() == strides


POINTWISE: list[tuple[str, Callable[[Any], Any], list[tuple[int, ...]]]] = [
    ("of one tensor", gw.exp,
     [(3, 1), (3, 1), (1, 1), (1, 1), (3, 1), (2, 2, 1), (3, 3, 1), (1, 50, 2)]),
    ("with a number", lambda x: x + 1,
     [(3, 1), (1, 1), (1, 3), (1, 1), (1, 0), (2, 1, 1), (3, 6, 1), (1, 6, 2)]),
    ("with bounds", lambda x: x.clamp(0, 1),
     [(3, 1), (3, 1), (1, 1), (1, 1), (3, 1), (2, 2, 1), (3, 3, 1), (1, 50, 2)]),
    ("view of its shape", lambda x: x.view(x.shape),
     [(3, 1), (3, 1), (1, 6), (9, 9), (1, 9), (9, 1, 7), (3, 3, 1), (1, 6, 2)]),
    ("rows", lambda x: x.tril(),
     [(3, 1), (3, 1), (1, 1), (1, 1), (3, 1), (2, 2, 1), (3, 3, 1), (3, 3, 1)]),
]


@pytest.mark.parametrize(
    ("function", "wanted"), [case[1:] for case in POINTWISE], ids=[case[0] for case in POINTWISE]
)
def test_pointwise_results_of_single_elements(
    function: Callable[[Any], Any], wanted: list[tuple[int, ...]]
) -> None:
    for (shape, strides), expected in zip(SINGLE, wanted, strict=True):
        x = gw.randn(120).as_strided(shape, strides)
        assert function(x).stride() == gw.compile(function)(x).stride() == expected


def test_channels_that_are_single_elements_are_last() -> None:
    x = gw.randn(12).as_strided((1, 3, 2, 2), (1, 1, 6, 3))
    for function in (gw.exp, lambda x: x + x.clone()):
        assert function(x).stride() == gw.compile(function)(x).stride() == (12, 1, 6, 3)
    y = gw.randn(8).as_strided((2, 1, 2, 2), (4, 1, 2, 1))
    for function in (lambda x: gw.cat([x, x], 0), lambda x: x.roll(1, 0)):
        assert function(y).stride() == gw.compile(function)(y).stride() == (4, 1, 2, 1)


def test_new_dims_of_one_element_are_around_the_rest() -> None:
    for function, strides in (
        (lambda x: x.expand(1, 2, 3), (6, 3, 1)), (lambda x: x.expand(1, 4, 2, 3), (0, 0, 3, 1)),
        (lambda x: x[0, 0].expand(1, 3), (0, 0)),
    ):
        assert function(gw.ones(2, 3)).stride() == gw.compile(function)(gw.ones(2, 3)).stride()
        assert function(gw.ones(2, 3)).stride() == strides


EMPTIED: list[Callable[[Any], Any]] = [
    lambda x: x[:, 3:] + 1, lambda x: gw.zeros(1, x.shape[1] - 3), lambda x: x[:, 3:].clone(),
    lambda x: x[:, 3:].sum(0, keepdim=True), lambda x: gw.cat([x[:, 3:]] * 2, 0),
    lambda x: gw.zeros(2, x.shape[1] - 3, 3), lambda x: x[:, 3:] * gw.ones(4, 1, 1),
]


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("function", EMPTIED)
def test_a_size_that_is_0_in_one_call_counts_as_1(
    function: Callable[[Any], Any], rows: int
) -> None:
    compiled = gw.compile(function)
    for columns in (5, 6, 7, 3, 4, 3):
        x = gw.ones(rows, columns)
        assert compiled(x).stride() == function(x).stride()


GAPS: list[tuple[str, Callable[[Any], Any]]] = [
    ("empty_strided", in_its_layout),
    ("slice_scatter", lambda x: gw.slice_scatter(x, x[:2].exp(), 0, 0, 2)),
    ("select_scatter", lambda x: gw.select_scatter(x, x[0] * 2, 0, 1)),
    ("diagonal_scatter", lambda x: gw.diagonal_scatter(x, x.diagonal() * 2)),
]


@pytest.mark.parametrize("strides", [(20, 3), (1, 5), (6, 1)])
@pytest.mark.parametrize("function", [case[1] for case in GAPS], ids=[case[0] for case in GAPS])
def test_gaps_in_memory_are_kept(
    function: Callable[[Any], Any], strides: tuple[int, ...]
) -> None:
    x = gw.randn(80).as_strided((3, 4), strides)
    eager, compiled = function(x), gw.compile(function, dynamic=False)(x)
    assert eager.stride() == compiled.stride() == strides
    assert gw.allclose(eager, compiled)


SOLUTIONS = [
    ((5, 3), (5, 2), (1, 5)),
    ((3, 5), (3, 2), (1, 5)),
    ((2, 5, 3), (2, 5, 4), (20, 1, 5)),
]


@pytest.mark.parametrize(
    ("result", "strides"), [case[1:] for case in RESULTS], ids=[case[0] for case in RESULTS]
)
def test_strides(result: Callable[[], Any], strides: tuple[int, ...]) -> None:
    eager, compiled = result(), gw.compile(result)()
    assert eager.stride() == strides
    assert compiled.stride() == strides
    assert gw.equal(gw.view_as_real(eager) if eager.is_complex() else eager,
                    gw.view_as_real(compiled) if eager.is_complex() else compiled)


@pytest.mark.parametrize(("a", "b", "strides"), SOLUTIONS)
def test_least_squares_lie_where_lapack_leaves_them(
    a: tuple[int, ...], b: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    matrix, right = gw.randn(a), gw.randn(b)
    assert gw.linalg.lstsq(matrix, right).solution.stride() == strides
    assert gw.compile(lambda: gw.linalg.lstsq(matrix, right).solution)().stride() == strides


@pytest.mark.parametrize("count", [3, 40])
@pytest.mark.parametrize("name", ["unique", "unique_consecutive"])
def test_distinct_slices_lie_one_after_the_other(name: str, count: int) -> None:
    x = gw.arange(count * 10).reshape(count, 2, 5)
    distinct = getattr(gw, name)
    assert distinct(x, dim=0).stride() == (10, 5, 1)
    assert distinct(x, dim=1).stride() == (5, 5 * count, 1)
    assert distinct(x, dim=2).stride() == (2, 1, 2 * count)


def test_a_system_of_fewer_dims_than_its_right_sides_is_refused() -> None:
    with pytest.raises(RuntimeError, match="as many dimensions as B"):
        gw.linalg.lstsq(gw.ones(5, 3), gw.ones(2, 5, 2))
