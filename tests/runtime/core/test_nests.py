"""Products of few elements: as BLAS has them where the strides allow it, else one by one."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as gw

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
EQUATIONS = ("bij,bjk->bik", "bij,bkj->bik", "bij,bjk->kbi", "bij,bjk->k", "bij,bjk->ikb")


def _pair(equation: str, rng: np.random.Generator) -> list[np.ndarray]:
    sizes = {"b": 3, "i": 4, "j": 5, "k": 2}
    terms = equation.split("->", maxsplit=1)[0].split(",")
    return [rng.standard_normal([sizes[x] for x in term]).astype(np.float32) for term in terms]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_a_contraction_of_two_has_numpys_sums(equation: str) -> None:
    arrays = _pair(equation, np.random.default_rng(0))
    out = gw.einsum(equation, *map(gw.from_numpy, arrays))
    want = np.einsum(equation, *(a.astype(np.float64) for a in arrays))
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("turned", [False, True])
def test_strided_and_repeated_operands_are_read_where_they_lie(turned: bool) -> None:
    base = np.random.default_rng(1).standard_normal((6, 10)).astype(np.float32)
    strided = gw.from_numpy(base)[::2, ::3]
    row = gw.from_numpy(base[0, :4].copy()).expand(3, 4)
    left = strided.T if turned else strided
    right = row if turned else row.T
    want = left.numpy().astype(np.float64) @ right.numpy().astype(np.float64)
    np.testing.assert_allclose(gw.inner(left, right.T).numpy(), want, rtol=1e-5)
    np.testing.assert_allclose(gw.tensordot(left, right, 1).numpy(), want, rtol=1e-5)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_products_of_integers_wrap(dtype: str) -> None:
    rng, kind = np.random.default_rng(2), np.dtype(dtype)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    a, b = (rng.integers(low, high, (4, 4), kind, endpoint=True) for _ in range(2))
    want = (a.astype(object) @ b.astype(object)) % (1 << 8 * kind.itemsize)
    out = gw.from_numpy(a) @ gw.from_numpy(b)
    assert out.dtype is getattr(gw, dtype)
    modulo = np.array(out.numpy().astype(object) % (1 << 8 * kind.itemsize))
    assert (modulo == want).all()


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
def test_products_of_halves_are_summed_in_float32(dtype: gw.dtype) -> None:
    ones = gw.full((1, 4096), 1.0, dtype=dtype)
    assert (ones @ ones.T).item() == 4096
    a = gw.randn(3, 5, generator=gw.Generator().manual_seed(0)).to(dtype)
    want = (a.float() @ a.float().T).to(dtype)
    assert gw.equal(gw.mm(a, a.T), want)
    assert gw.equal(gw.bmm(a[None], a.T[None])[0], want)


def test_a_chain_of_three_multiplies_the_cheaper_pair_first() -> None:
    rng = np.random.default_rng(3)
    for m, k, n in ((2, 9, 3), (9, 2, 8)):
        arrays = [rng.standard_normal(s).astype(np.float32) for s in ((m, k), (k, m), (m, n))]
        out = gw.linalg.multi_dot([gw.from_numpy(a) for a in arrays])
        np.testing.assert_allclose(out.numpy(), np.linalg.multi_dot(arrays), rtol=1e-4, atol=1e-5)


def test_shapes_that_do_not_fit_are_refused_for_all_dtypes() -> None:
    for dtype in (gw.float32, gw.int64, gw.bfloat16):
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            gw.mm(gw.ones(2, 3, dtype=dtype), gw.ones(2, 3, dtype=dtype))
        with pytest.raises(RuntimeError):
            gw.bmm(gw.ones(1, 2, 2, dtype=dtype), gw.ones(3, 2, 2, dtype=dtype))
