"""The gradient of `as_strided` against its matrix, made from the places of both layouts.

An element of the result that lies at some place has that place's elements of the input as its
sources, in equal parts, as in PyTorch.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda x: x * 1,
    "transposed": lambda x: (x * 1).t(),
    "strided": lambda x: (x * 1)[:, ::2],
    "offset": lambda x: (x * 1)[1:, 1:],
    "expanded": lambda x: (x * 1)[:1].expand(3, 6),
    "expanded twice": lambda x: (x * 1)[0, 0].expand(2, 3),
    "windows": lambda x: (x * 1).unfold(1, 3, 1),
    "windows of windows": lambda x: (x * 1).unfold(1, 4, 2).unfold(2, 2, 1),
    "one element": lambda x: (x * 1)[2:3, 3:4],
    "empty": lambda x: (x * 1)[:0],
    "empty at the end": lambda x: (x * 1)[4:, 2:],
}
"""Views of a matrix of 4 x 6."""


def _places(tensor: Any, offset: int, shape: Any, strides: Any) -> np.ndarray[Any, Any]:
    """The places in the storage of a layout's elements, flat."""
    places = np.full(tuple(shape), offset)
    for dim, stride in enumerate(strides):
        steps = np.arange(shape[dim]) * stride
        places = places + steps.reshape((-1,) + (1,) * (len(shape) - dim - 1))
    return places.reshape(-1)


def _expected(view: Any, size: Any, stride: Any, offset: Any) -> np.ndarray[Any, Any]:
    """The gradient of the view, whose elements the result's have weights 1, 2, 3.. of."""
    begin = view.storage_offset() if offset is None else offset
    sources = _places(view, view.storage_offset(), view.shape, view.stride())
    results = _places(view, begin, size, stride)
    shares = np.equal.outer(results, sources).astype(float)
    count = np.equal.outer(sources, sources).sum(1)
    return (np.arange(1.0, len(results) + 1) @ (shares / count)).reshape(view.shape)


GEOMETRIES = (
    ((2, 2), (1, 2), 0), ((3, 2), (0, 1), 1), ((2, 3), (1, 1), None), ((4,), (6,), 0), ((), (), 3),
    ((0, 2), (5, 1), 0), ((2, 0, 3), (1, 1, 1), 20), ((5, 1), (2, 9), 2),
)


def _run(view: Any, size: Any, stride: Any, offset: Any) -> Any:
    result = view.as_strided(size, stride, offset)
    return (result * gw.arange(1.0, result.numel() + 1, dtype=gw.float64).reshape(size)).sum()


def _check(name: str, geometry: Any, run: Callable[..., Any]) -> None:
    size, stride, offset = geometry
    x = gw.rand(4, 6, dtype=gw.float64, requires_grad=True)
    view = LAYOUTS[name](x)
    extent = sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if offset is None and view.storage_offset() + extent > 23:
        return                          # out of its storage
    (found,) = gw.autograd.grad(run(view, size, stride, offset), view)
    np.testing.assert_allclose(found.numpy(), _expected(view, size, stride, offset), rtol=1e-12)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("name", LAYOUTS)
def test_gradient_by_places(name: str, geometry: Any) -> None:
    _check(name, geometry, _run)


@pytest.mark.parametrize("seed", range(60))
def test_gradient_by_places_of_random_layouts(seed: int) -> None:
    """Both layouts anywhere in 24 places; the sizes from 0 to 4, the strides from 0 to 6."""
    rng = random.Random(seed)

    def layout() -> tuple[tuple[int, ...], tuple[int, ...], int]:
        while True:
            ndim = rng.randrange(4)
            size = tuple(rng.randrange(5) for _ in range(ndim))
            stride = tuple(rng.randrange(7) for _ in range(ndim))
            extent = sum((n - 1) * s for n, s in zip(size, stride, strict=True))
            if 0 <= extent < 24:
                return size, stride, rng.randrange(24 - extent)

    own, geometry = layout(), layout()
    view = gw.rand(24, dtype=gw.float64).as_strided(*own).requires_grad_()
    (found,) = gw.autograd.grad(_run(view, *geometry), view)
    np.testing.assert_allclose(found.numpy(), _expected(view, *geometry), rtol=1e-12)


@pytest.mark.parametrize("name", ["contiguous", "expanded", "empty at the end"])
def test_compiled_gradient_by_places(name: str) -> None:
    for geometry in GEOMETRIES[1:3]:
        _check(name, geometry, gw.compile(_run))


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_compiled_gradient_by_places_of_all_layouts(name: str, backend: str) -> None:
    for geometry in GEOMETRIES:
        _check(name, geometry, gw.compile(_run, backend=backend))


def test_shares_of_an_expanded_leaf_add_up() -> None:
    x = gw.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    x.expand(3, 4).as_strided((2, 2), (1, 2), 0).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0, 1.0]


def test_shares_of_many_elements_in_half_precision() -> None:
    """3,000 shares of one place: a count in float16 would end at 2,048."""
    x = gw.tensor([1.0, 2.0], dtype=gw.float16, requires_grad=True)
    view = x.expand(3000, 2)
    (found,) = gw.autograd.grad(view.as_strided((2,), (1,), 0).sum() * 3000, view)
    assert gw.allclose(found, gw.ones_like(found))


def test_second_derivative_of_shares() -> None:
    x = gw.tensor([1.0, 2.0, 3.0], dtype=gw.float64, requires_grad=True)
    assert gw.autograd.gradgradcheck(
        lambda x: x.expand(2, 3).as_strided((2, 2), (1, 1), 0) ** 3, (x,))
