"""Reductions of few elements in C give what their kernels in NumPy give, over any dims."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops.table import op

from ..layouts import tensors_in

VALUES = np.random.default_rng(0).uniform(-2, 2, (3, 4, 2))
DIMS = [d for n in range(1, 4) for d in itertools.combinations(range(3), n)]


def _layouts(dtype: str) -> list[gw.Tensor]:
    x = gw.from_numpy(VALUES.astype(dtype))
    missing = x.clone()
    missing[1, 2, 0] = math.nan
    return [x, x.transpose(0, 2), x[:, ::2], missing]


def _agree(name: str, dtype: str, *args: Any) -> None:
    kernel: Any = op(name).run
    for x in _layouts(dtype):
        mine, others = tensors_in(kernel(x, *args)), tensors_in(kernel.fallback(x, *args))
        for got, want in zip(mine, others, strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            tolerance = 1e-6 if dtype == "float32" else 1e-14
            np.testing.assert_allclose(
                got.numpy(), want.numpy(), rtol=tolerance, atol=tolerance, equal_nan=True
            )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_moments(name: str, dtype: str) -> None:
    for dims, keepdim in itertools.product(DIMS, (False, True)):
        _agree(name, dtype, dims, None, keepdim, None)
    _agree(name, dtype, -1, False, False, None)
    _agree(name, dtype, [0, -1], None, True, 0.5)
    _agree(name, dtype, None, True, False, None)
    _agree(name, dtype, True, None, False, None)


@pytest.mark.parametrize("name", ["var", "std"])
def test_no_freedom(name: str) -> None:
    """Of one element, less the correction, there is nothing to divide by, which is warned of."""
    moment = getattr(gw, name)
    with pytest.warns(UserWarning, match=rf"{name}\(\): degrees of freedom is <= 0"):
        assert math.isnan(moment(gw.ones(1)).item())
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert math.isinf(moment(gw.tensor([1.0, 3.0]), correction=5).item())
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert moment(gw.ones(0, 2, requires_grad=True), 0).isnan().all()
    assert moment(gw.ones(1), correction=0).item() == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", [0, 1, 2, 3.0, 0.5, -1, math.inf, -math.inf])
def test_norms(order: float, dtype: str) -> None:
    for dims, keepdim in itertools.product(DIMS, (False, True)):
        _agree("p_norm", dtype, float(order), dims, keepdim, None)
    for given in (order, "fro", None):
        _agree("norm", dtype, given, None, False, None)
    _agree("dist", dtype, gw.from_numpy(VALUES[0, 0].astype(dtype))[:1], order)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(), (60, 40)])
@pytest.mark.parametrize("order", [0, 1, 2, 3.0, 0.5, -1])
def test_norms_that_numpy_takes_are_in_their_dtype(
    order: float, shape: tuple[int, ...], dtype: str
) -> None:
    """Also of 0-d tensors and of complex numbers: eager sums of float64 stay float64."""
    size = np.random.default_rng(0).uniform(1, 2, shape)
    x = np.asarray(size * (0.6 + 0.8j if dtype == "complex128" else 1), dtype)
    want = np.linalg.norm(size.reshape(-1), order)
    for found in (gw.linalg.vector_norm(gw.from_numpy(x), order),
                  gw.linalg.vector_norm(gw.from_numpy(x).T.contiguous().T, order)):
        assert found.dtype is gw.float64 and found.shape == ()
        np.testing.assert_allclose(found.numpy(), want, rtol=1e-13)


@pytest.mark.parametrize("order", [1e300, -1e300])
def test_orders_beyond_the_range_of_float32_are_rounded(order: float) -> None:
    """To an infinite power, whose root is the power 0; not to the largest element."""
    x, y = gw.tensor([1.0, 2.0]), gw.tensor([3.0, 4.0])
    for call in (gw.dist, gw.compile(gw.dist)):
        assert call(x, y, order).item() == 1.0
    assert gw.norm(y - x, order).item() == 1.0


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_renorm(dim: int) -> None:
    _agree("renorm", "float32", 2, dim, 1.0)
    _agree("renorm", "float64", 0.5, dim, 3)
    with pytest.raises(RuntimeError, match="non-positive"):
        gw.renorm(gw.ones(2, 2), 0, 0, 1)


def test_counts_and_means() -> None:
    for dims in DIMS:
        _agree("nanmean", "float32", dims, False, None)
        _agree("count_nonzero", "float32", dims)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dim", [None, 0, 1, 2])
def test_places_of_extrema(name: str, dim: int | None) -> None:
    """The first of equal ones; a NaN is the extremum."""
    for keepdim in (False, True):
        _agree(name, "float32", dim, keepdim)
    kernel: Any = op(name).run
    x = gw.from_numpy(np.random.default_rng(0).integers(0, 3, (4, 5, 3)).astype(np.int32))
    np.testing.assert_array_equal(
        kernel(x, dim, False).numpy(), kernel.fallback(x, dim, False).numpy()
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("order", [0.0, 1.0, 2.0, 3.5, math.inf])
def test_distances_of_pairs(order: float, dtype: str) -> None:
    rows = gw.from_numpy(VALUES[:, :3].astype(dtype))
    kernel: Any = op("pair_distances").run
    for left, right in ((rows, rows + 1), (rows, rows[0] + 1), (rows[0], rows[1])):
        args = (left, right, order, None)
        got, want = kernel(*args), kernel.fallback(*args)
        assert got.shape == want.shape
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-6, atol=1e-6)


def test_counts_between_edges() -> None:
    """The last edge belongs to the last bin; a NaN and what is outside to none."""
    x = gw.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 3.5, math.nan])
    kernel: Any = op("histogram_counts").run
    args = (x, gw.tensor([0.0, 1.0, 3.0]), None, False)
    assert kernel(*args).tolist() == [2.0, 3.0]
    np.testing.assert_array_equal(kernel(*args).numpy(), kernel.fallback(*args).numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_variances_that_overflow_are_inf_and_those_of_inf_are_nan(dtype: str) -> None:
    kind = getattr(gw, dtype)
    most = gw.finfo(kind).max
    large = gw.tensor([most, -most, -most], dtype=kind)
    for rows in (large.expand(1, 3), large.expand(5000, 3)):
        for x, dim in ((rows.contiguous(), 1), (rows.t().contiguous(), 0), (large.repeat(2), 0)):
            assert x.var(dim).flatten()[0].item() == math.inf
            endless = x.where(x < 0, math.inf)
            assert math.isnan(endless.var(dim).flatten()[0].item())
