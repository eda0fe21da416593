"""Matrix products of bfloat16: sums in float32, rounded once."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core

SIZES = [(1, 1, 1), (1, 5, 3), (3, 33, 7), (9, 31, 65), (12, 32, 64), (14, 70, 129), (40, 1, 33)]


def _matrix(rows: int, columns: int, turned: bool) -> gw.Tensor:
    """Small integers: every sum of products is exact."""
    values = np.random.default_rng(rows + columns).integers(-3, 4, (rows, columns))
    tensor = gw.from_numpy(values.astype(np.float32)).bfloat16()
    return tensor.t().contiguous().t() if turned else tensor


def _exact(*tensors: gw.Tensor) -> list[np.ndarray]:
    return [t.float().numpy() for t in tensors]


def _rounded(array: np.ndarray) -> np.ndarray:
    return gw.from_numpy(np.ascontiguousarray(array)).bfloat16().float().numpy()


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_products_of_all_layouts(m: int, n: int, k: int, turned: tuple[bool, bool]) -> None:
    a, b = _matrix(m, k, turned[0]), _matrix(k, n, turned[1])
    x, y = _exact(a, b)
    assert np.array_equal((a @ b).float().numpy(), _rounded(x @ y))


def test_a_term_is_added_before_the_result_is_rounded() -> None:
    a, b, c = _matrix(13, 30, False), _matrix(30, 37, False), _matrix(13, 37, False)
    x, y, z = _exact(a, b, c)
    out = gw.addmm(c, a, b, beta=0.5, alpha=2)
    assert np.array_equal(out.float().numpy(), _rounded(2 * (x @ y) + 0.5 * z))
    weight, bias = _matrix(37, 30, False), _matrix(1, 37, False)[0]
    out = gw.nn.functional.linear(a, weight, bias)
    w, v = _exact(weight, bias)
    assert np.array_equal(out.float().numpy(), _rounded(x @ w.T + v))


def test_batches_and_vectors() -> None:
    a = _matrix(6 * 20, 40, False).view(6, 20, 40)
    b = _matrix(6 * 40, 50, False).view(6, 40, 50)
    x, y = _exact(a, b)
    assert np.array_equal(gw.bmm(a, b).float().numpy(), _rounded(x @ y))
    assert np.array_equal((a[0] @ b[0, :, 3]).float().numpy(), _rounded(x[0] @ y[0, :, 3]))
    assert np.array_equal((a[0, 3] @ b[0]).float().numpy(), _rounded(x[0, 3] @ y[0]))


def test_compiled_code_multiplies_them_too() -> None:
    a, b = _matrix(20, 40, False), _matrix(40, 50, False)
    assert gw.equal(gw.compile(gw.mm)(a, b), gw.mm(a, b))
    assert isinstance(_core.has_bfloat16_products(), bool)
