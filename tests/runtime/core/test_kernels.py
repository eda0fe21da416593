"""The C kernels of pointwise ops, casts and reductions against NumPy in float64."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(0)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool")
TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "float16": 2e-2, "bfloat16": 0.13}
SHAPES = [(), (7,), (5, 9), (3, 4, 5), (2, 0, 3), (70, 600), (40000,), (3, 40000), (9000, 3)]


def make(shape: tuple[int, ...], dtype: str) -> Array:
    if dtype == "bool":
        return RNG.integers(0, 2, shape).astype(bool)
    if "float" in dtype:
        return RNG.uniform(-2, 2, shape).astype(np.float32)
    return RNG.integers(0 if dtype[0] == "u" else -5, 6, shape).astype(dtype)


def layouts(array: Array, dtype: str) -> Iterator[gw.Tensor]:
    tensor = gw.from_numpy(array).to(getattr(gw, dtype))
    yield tensor
    if array.ndim > 1:
        yield tensor.transpose(0, 1).contiguous().transpose(0, 1)
        yield gw.cat([tensor, tensor], -1)[..., : array.shape[-1]]


def exact(tensor: gw.Tensor) -> Array:
    return np.asarray(tensor.to(gw.float64).numpy())


def check(tensor: gw.Tensor, reference: Array, dtype: str, terms: Array | None = None) -> None:
    """`terms`: what sums are made of, by whose size they are rounded; else the reference."""
    found, tolerance = exact(tensor), TOLERANCE.get(dtype, 0.0)
    assert found.shape == np.shape(reference)
    sizes = np.abs(reference) if terms is None else np.sqrt((terms * terms).sum())
    scale = max(1.0, float(np.max(sizes, initial=0)))
    np.testing.assert_allclose(found, reference, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(dtype: str, shape: tuple[int, ...]) -> None:
    axes = range(len(shape))
    dims = [d for n in axes for d in itertools.combinations(axes, n + 1)]
    for tensor in layouts(make(shape, dtype), dtype):
        values = exact(tensor)
        for dim in dims:
            for keepdim in (False, True):
                check(gw.sum(tensor, dim, keepdim), values.sum(dim, keepdims=keepdim), dtype,
                      values)
                if values.size:
                    check(gw.amax(tensor, dim, keepdim), values.max(dim, keepdims=keepdim), dtype)
                    check(gw.amin(tensor, dim, keepdim), values.min(dim, keepdims=keepdim), dtype)
        check(gw.sum(tensor), values.sum(), dtype, values)
        if dtype == "bool":
            check(gw.any(tensor), values.any(), dtype)
            check(gw.all(tensor), values.all(), dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pointwise(dtype: str, shape: tuple[int, ...]) -> None:
    other = gw.from_numpy(make(shape[-1:], dtype)).to(getattr(gw, dtype))
    for tensor in layouts(make(shape, dtype), dtype):
        a, b = exact(tensor), exact(other)
        check(tensor == other, a == b, "bool")
        check(gw.where(tensor == other, tensor, other), np.where(a == b, a, b), dtype)
        if "float" in dtype:
            check(tensor * other, a * b, dtype)
            check(gw.sigmoid(tensor), 1 / (1 + np.exp(-a)), dtype)
            check(tensor * 2.5 - 1, a * 2.5 - 1, dtype)
            check(gw.clamp(tensor, min=-1), np.maximum(a, -1), dtype)
        for to in ("bool", "int32", "int64", "float32", "float64", "float16"):
            cast = tensor.to(getattr(gw, to))
            check(cast, a != 0 if to == "bool" else np.trunc(a) if "int" in to else a,
                  "float16" if to == "float16" else dtype if "float" in to else "bool")


def test_not_a_number_is_the_extremum() -> None:
    values = np.ones((4, 300), np.float32)
    values[2, 150] = np.nan
    tensor = gw.from_numpy(values)
    for reduce in (gw.amax, gw.amin):
        assert np.isnan(exact(reduce(tensor, 1))).tolist() == [False, False, True, False]
        assert np.isnan(exact(reduce(tensor, 0))).nonzero()[0].tolist() == [150]


@pytest.mark.parametrize("op", [gw.sum, gw.mean, gw.amax, gw.exp])
def test_bits_do_not_depend_on_the_threads(op: Callable[..., gw.Tensor]) -> None:
    tensor = gw.from_numpy(RNG.standard_normal(300_000, dtype=np.float32))
    before = _core.set_num_threads(1)
    try:
        results = []
        for threads in (1, 2, 3):
            _core.set_num_threads(threads)
            results.append(op(tensor).numpy().tobytes())
    finally:
        _core.set_num_threads(before)
    assert len(set(results)) == 1


def test_in_place_on_overlapping_memory() -> None:
    base = gw.arange(6.0)
    base[1:].clone()
    window = base[:5]
    window.mul_(2.0)
    assert base.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 5.0]
    assert base._version == 1


def test_convert_into_says_what_it_cannot_do() -> None:
    out = gw.zeros(3)
    assert _core.convert_into(out, gw.arange(3))
    assert out.tolist() == [0.0, 1.0, 2.0]
    assert not _core.convert_into(out, gw.arange(4))
    assert not _core.convert_into(out[:2], out[1:])
    with pytest.raises(TypeError):
        _core.convert_into(out, 3)


def test_bad_kernels_are_refused() -> None:
    def fallback(*args: Any) -> None:
        return None

    with pytest.raises(ValueError, match="operands"):
        _core.Pointwise(gw.Tensor, np.add, 9, (gw.float32,), fallback)
    with pytest.raises(TypeError, match="ufunc"):
        _core.Pointwise(gw.Tensor, 3, 1, (gw.float32,), fallback)
    with pytest.raises(TypeError):
        _core.Pointwise(int, np.add, 2, (gw.float32,), fallback)
    with pytest.raises(TypeError):
        _core.Reduction(gw.Tensor, "sum", (float,), fallback)
    with pytest.raises(TypeError):
        _core.dispatch(3, ())


def test_unknown_loops_and_calls_go_to_the_fallback() -> None:
    calls: list[tuple[Any, ...]] = []
    kernel = _core.Pointwise(
        gw.Tensor, "no such loop", 1, (gw.float32,), lambda *a: calls.append(a)
    )
    kernel(gw.ones(2))
    kernel()
    kernel(3)
    kernel(gw.ones(2, dtype=gw.int64))
    assert len(calls) == 4
