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
