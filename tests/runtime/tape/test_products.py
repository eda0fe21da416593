"""Gradients of products, by division where no factor is zero and without it where one is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

ROWS: dict[str, list[float]] = {
    "no zero": [2.0, -3.0, 0.5, 4.0],
    "one zero": [2.0, 0.0, 0.5, 4.0],
    "two zeros": [0.0, -3.0, 0.0, 4.0],
}
OPS: dict[str, Any] = {
    "prod": lambda x: x.prod(),
    "prod of rows": lambda x: x.prod(1, keepdim=True),
    "cumprod": lambda x: x.cumprod(1),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", OPS)
def test_gradients_of_both_orders(name: str, rows: str) -> None:
    x = gw.tensor([ROWS[rows], [1.5, 2.0, -1.0, 3.0]], dtype=gw.float64, requires_grad=True)
    assert gw.autograd.gradcheck(OPS[name], (x,))
    assert gw.autograd.gradgradcheck(OPS[name], (x,))


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", OPS)
def test_compiled_and_mapped(name: str, rows: str) -> None:
    x = gw.tensor([ROWS[rows], [1.5, 2.0, -1.0, 3.0]], dtype=gw.float64)

    def gradient(x: Any) -> Any:
        return gw.func.grad(lambda x: OPS[name](x).sum())(x)

    expected = gradient(x).numpy()
    np.testing.assert_allclose(gw.compile(gradient)(x).numpy(), expected)
    stacked = gw.stack([x, x + 1])
    mapped = gw.func.vmap(gradient)(stacked).numpy()
    np.testing.assert_allclose(mapped[0], expected)
    np.testing.assert_allclose(mapped[1], gradient(x + 1).numpy())
