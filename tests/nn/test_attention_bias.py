"""Causal masks as objects: what attention makes of them, and that nothing else takes them."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright.nn.attention import SDPBackend, sdpa_kernel
from graphwright.nn.attention.bias import (
    CausalBias,
    CausalVariant,
    causal_lower_right,
    causal_upper_left,
)

attention = gw.nn.functional.scaled_dot_product_attention
KEYS = gw.arange(40.0).reshape(1, 2, 5, 4).cos()


def queries(count: int) -> gw.Tensor:
    return gw.arange(8.0 * count).reshape(1, 2, count, 4).sin()


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("make", [causal_upper_left, causal_lower_right])
def test_attention_under_a_bias_is_that_under_its_matrix(make: Any, count: int) -> None:
    bias = make(count, 5)
    shift = 5 - count if bias.variant is CausalVariant.LOWER_RIGHT else 0
    matrix = gw.ones(count, 5, dtype=gw.bool).tril(diagonal=shift)
    q = queries(count).requires_grad_()
    expected = attention(q, KEYS, KEYS, attn_mask=matrix)
    for found in (attention(q, KEYS, KEYS, bias), attention(q, KEYS, KEYS, attn_mask=bias)):
        assert type(found) is gw.Tensor
        gw.testing.assert_close(found, expected)
        (gradient,) = gw.autograd.grad(found.sum(), q)
        gw.testing.assert_close(gradient, gw.autograd.grad(
            attention(q, KEYS, KEYS, attn_mask=matrix).sum(), q)[0])
    assert repr(bias) == repr(matrix) and isinstance(bias, CausalBias)


def test_a_bias_in_compiled_code_ends_the_graph() -> None:
    bias = causal_lower_right(3, 5)
    compiled = gw.compile(lambda q: attention(q * 2, KEYS, KEYS, bias) + 1)
    gw.testing.assert_close(
        compiled(queries(3)), attention(queries(3) * 2, KEYS, KEYS, bias) + 1)


def test_other_uses_are_refused() -> None:
    bias = causal_upper_left(5, 5)
    with pytest.raises(NotImplementedError, match="scaled_dot_product_attention"):
        bias + 1
    with pytest.raises(ValueError, match="causal"):
        attention(queries(5), KEYS, KEYS, bias, is_causal=True)
    with pytest.raises(AssertionError, match="2D"):
        causal_upper_left(2)
    with pytest.warns(UserWarning, match="more queries than keys"):
        causal_lower_right(6, 5)


def test_the_choice_of_an_implementation_changes_nothing() -> None:
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        found = attention(queries(5), KEYS, KEYS)
    assert gw.equal(found, attention(queries(5), KEYS, KEYS))
