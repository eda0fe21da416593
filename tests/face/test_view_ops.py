"""Views, indexing and scatters under symbolic sizes and ints: the same as eager, strides too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

SHAPES = ((5, 4), (7, 3), (6, 8))
INTS = (1, -2, 7, -9)
SMALL = (1, -1, 2)

CASES: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "roll": (lambda x, n: x.roll(n, 0), INTS),
    "roll by a size": (lambda x, n: x.roll((-x.shape[0]) // 2 + n % 3, 1), INTS),
    "tril": (lambda x, n: x.tril(n), SMALL),
    "triu by a size": (lambda x, n: x.triu(n - x.shape[1] // 2), SMALL),
    "chunk": (lambda x, n: x.chunk(3), (1,)),
    "tensor_split": (lambda x, n: x.tensor_split(3), (1,)),
    "from the end": (lambda x, n: x[n:], INTS),
    "to the end": (lambda x, n: x[:n], INTS),
    "range": (lambda x, n: x[range(2)], (1,)),
    "array": (lambda x, n: x[:, np.array([0, -1, 1])], (1,)),
    "mixed": (lambda x, n: x[None, [0, 1], ..., :1], (1,)),
    "two vectors": (lambda x, n: x[[0, 1], [1, 0]], (1,)),
    "transposed": (lambda x, n: x.t()[:, [0, 1]], (1,)),
    "a number known later": (lambda x, n: x[(x.sum() * 0).long()], (1,)),
    "repeat_interleave": (lambda x, n: x.repeat_interleave(2, 0), (1,)),
    "rot90": (lambda x, n: x.rot90(n), SMALL),
    "unfold": (lambda x, n: x.unfold(0, x.shape[0] // 2, 2) + 0, (1,)),
    "diag_embed": (lambda x, n: gw.diag_embed(x, n), SMALL),
    "block_diag": (lambda x, n: gw.block_diag(x, x), (1,)),
    "meshgrid": (lambda x, n: gw.meshgrid(x[0], x[:, 0], indexing="xy"), (1,)),
    "scatter": (lambda x, n: x.scatter(1, x.long() % 2, 9.0), (1,)),
    "scatter_reduce": (lambda x, n: x.scatter_reduce(1, x.long() % 2, x, "mean"), (1,)),
    "index_fill": (lambda x, n: x.index_fill(0, gw.tensor([0, -1]), 2.0), (1,)),
    "index_copy": (lambda x, n: x.index_copy(0, gw.tensor([0, 1]), x[:2] * 2), (1,)),
    "take": (lambda x, n: x.take(gw.tensor([0, -1, 3])), (1,)),
    "masked_fill": (lambda x, n: x.t().masked_fill(x.t() > 3, 0.0), (1,)),
    "masked_scatter": (lambda x, n: x.masked_scatter(x > 3, x * 2), (1,)),
    "select_scatter": (lambda x, n: gw.select_scatter(x, x[0] * 0, 0, -1), (1,)),
    "floor and remainder": (lambda x, n: x + n // 3 + n % 3 + n % (-3) + n // (-3), INTS),
}


def _equal(got: Any, want: Any) -> None:
    assert got.shape == want.shape
    np.testing.assert_array_equal(got.numpy(), want.numpy())
    layout = zip(got.stride(), want.stride(), want.shape, strict=True)
    assert all(a == b for a, b, n in layout if n != 1)


@pytest.mark.parametrize("name", CASES)
def test_as_eager(name: str) -> None:
    function, numbers = CASES[name]
    compiled = gw.compile(function, dynamic=True)
    for shape in SHAPES:
        values = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
        for number in numbers:
            want = function(gw.from_numpy(values.copy()), number)
            got = compiled(gw.from_numpy(values.copy()), number)
            several = isinstance(want, tuple)
            for a, b in zip(
                got if several else (got,), want if several else (want,), strict=True
            ):
                _equal(a, b)
