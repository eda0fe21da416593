"""Attention of plain tensors in C from end to end, to the bit as the kernel that reads arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.runtime.ops.table import op
from graphwright.runtime.tensor.tensor import Tensor

attend = gw.nn.functional.scaled_dot_product_attention
LEADS: list[tuple[int, ...]] = [(), (3,), (2, 3)]
OPTIONS: list[dict[str, Any]] = [{}, {"is_causal": True}, {"scale": 0.3}, {"scale": 2}]


def operands(lead: tuple[int, ...], dtype: gw.dtype, sizes: tuple[int, ...] = (5, 7, 4, 6)) -> Any:
    rows, columns, size, value_size = sizes
    random = gw.Generator().manual_seed(0)
    shapes = (*lead, rows, size), (*lead, columns, size), (*lead, columns, value_size)
    return tuple(gw.randn(shape, dtype=dtype, generator=random) for shape in shapes)


def same(a: Any, b: Any) -> None:
    np.testing.assert_array_equal(a.numpy(), b.numpy(), strict=True)


def arrays(name: str) -> Any:
    """The kernel that reads arrays."""
    return op(name).run.fallback


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
@pytest.mark.parametrize("lead", LEADS, ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_results_and_gradients(lead: Any, dtype: gw.dtype, options: dict[str, Any]) -> None:
    q, k, v = operands(lead, dtype)
    causal, scale = options.get("is_causal", False), options.get("scale", 0.5)
    out, levels = arrays("fused_attention")(q, k, v, None, causal, float(scale))
    same(attend(q, k, v, **options), out)
    kept = op("fused_attention").run(q, k, v, None, causal, scale)
    same(kept[0], out)
    same(kept[1], levels)
    grad = gw.ones_like(out)
    args = grad, q, k, v, None, out, levels, causal, float(scale)
    for got, want in zip(
        op("attention_backward").run(*args), arrays("attention_backward")(*args), strict=True
    ):
        same(got, want)


def test_heads_in_the_rows_of_a_projection() -> None:
    wide = gw.randn(2, 5, 3 * 4 * 6)
    q, k, v = (part.view(2, 5, 4, 6).transpose(1, 2) for part in wide.chunk(3, -1))
    assert not q.is_contiguous()
    same(attend(q, k, v), attend(q.contiguous(), k.contiguous(), v.contiguous()))


def test_expanded_keys() -> None:
    q, k, v = operands((2, 3), gw.float32)
    k, v = k[:1, :1].expand(2, 3, 7, 4), v[:1, :1].expand(2, 3, 7, 6)
    same(attend(q, k, v), attend(q, k.contiguous(), v.contiguous()))


def test_blocks_of_rows_on_all_threads() -> None:
    q, k, v = operands((2, 4), gw.float32, (300, 200, 16, 8))
    want = gw.softmax(q.double() @ k.double().mT / 4, -1) @ v.double()
    np.testing.assert_allclose(attend(q, k, v).numpy(), want.numpy(), rtol=2e-4, atol=1e-6)


def test_scores_of_infinities_and_no_numbers() -> None:
    q, k, v = operands((2,), gw.float32)
    q[0, 0, 0], k[1, 2] = float("nan"), -float("inf")
    same(attend(q, k, v), arrays("fused_attention")(q, k, v, None, False, 0.5)[0])


@pytest.mark.parametrize(
    "args",
    [
        (None, 0.5, False, None, False),
        (None, 0.0, False, None, True),
        (None, 0.0, 1, None, False),
        (None, 0.0, False, "one", False),
    ],
    ids=["dropout", "grouped", "causal by a number", "scale by a word"],
)
def test_options_left_to_the_parts(args: Any) -> None:
    kernel = _core.Native(Tensor, "scaled_dot_product_attention", lambda *args: "left")
    assert kernel(*operands((2,), gw.float32), *args) == "left"


def test_operands_left_to_the_parts() -> None:
    kernel = _core.Native(Tensor, "scaled_dot_product_attention", lambda *args: "left")
    q, k, v = operands((2,), gw.float32)
    for others in (
        (q.half(), k.half(), v.half()), (q, k.double(), v), (q[:1], k, v), (q, k[0], v),
        (q[:, :0], k, v), (q, k[:, :, 1:], v), (q, k[:, 1:], v), (q.mT, k, v), (q, k, None),
        (q.new_ones(5).expand(2, 4, 5).mT, k, v), (q[0, 0], k[0, 0], v[0, 0]),
    ):  # fmt: skip
        assert kernel(*others, None, 0.0, False, None, False) == "left"


def test_shapes_that_do_not_fit() -> None:
    q, k, v = operands((2,), gw.float32)
    for others in ((q, k[:, :, 1:], v), (q, k[:, 1:], v), (q, k.double(), v)):
        with pytest.raises(RuntimeError, match="Expected"):
            attend(*others)


def test_gradients_are_recorded_and_differentiated_again() -> None:
    q, k, v = (t.requires_grad_() for t in operands((2,), gw.float64, (3, 2, 2, 2)))
    assert gw.autograd.gradcheck(attend, (q, k, v))
    assert gw.autograd.gradgradcheck(attend, (q, k, v))
