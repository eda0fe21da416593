"""Fused attention against attention written out in NumPy, and its gradients against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.nn import functional as F

SHAPES = [
    ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 6)),
    ((1, 2, 200, 8), (1, 2, 300, 8), (1, 2, 300, 8)),
    ((5, 4), (6, 4), (6, 3)),
    ((2, 1, 3, 5, 4), (2, 2, 3, 5, 4), (2, 2, 3, 5, 4)),
]


def _inputs(shapes: Any, dtype: Any = gw.float64) -> list[gw.Tensor]:
    rng = np.random.default_rng(0)
    return [gw.tensor(rng.standard_normal(s), dtype=dtype) for s in shapes]


def _expected(q: Any, k: Any, v: Any, mask: Any = None, causal: bool = False) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    if causal:
        mask = np.tril(np.ones(scores.shape[-2:], bool))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0) @ v


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("causal", [False, True])
def test_values(shapes: Any, causal: bool) -> None:
    q, k, v = _inputs(shapes)
    got = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    want = _expected(q.numpy(), k.numpy(), v.numpy(), causal=causal)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", ["bool", "float", "turned", "spread"])
@pytest.mark.parametrize("shape", [
    (4, 5), (1, 5), (4, 1), (5,), (3, 4, 5), (3, 1, 5), (2, 3, 4, 5), (2, 1, 1, 5), (2, 1, 4, 1),
    (1, 3, 4, 5),
])
def test_masks_of_all_layouts(shape: tuple[int, ...], kind: str) -> None:
    q, k, v = _inputs(((2, 3, 4, 6), (2, 3, 5, 6), (2, 3, 5, 2)))
    numbers = np.random.default_rng(1).standard_normal(shape)
    given = gw.tensor(numbers > -0.5 if kind == "bool" else numbers)
    if kind == "turned" and len(shape) > 1:
        given = given.mT.contiguous().mT
    if kind == "spread":
        given = given.expand(2, 3, 4, 5)
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    out = F.scaled_dot_product_attention(*leaves, given)
    want = _expected(q.numpy(), k.numpy(), v.numpy(), given.numpy())
    np.testing.assert_allclose(out.detach().numpy(), want, rtol=1e-11, atol=1e-12)
    scores = leaves[0] @ leaves[1].mT / 6**0.5
    if kind == "bool":
        weights = gw.softmax(scores.masked_fill(~given, -1e30), -1) * given
    else:
        weights = gw.softmax(scores + given, -1)
    for own, parts in zip(gw.autograd.grad(out.square().sum(), leaves),
                          gw.autograd.grad((weights @ leaves[2]).square().sum(), leaves),
                          strict=True):
        np.testing.assert_allclose(own.numpy(), parts.numpy(), 1e-9, 1e-10)


def test_rows_without_a_place_to_attend_to_are_zeros() -> None:
    q, k, v = _inputs(((2, 4, 3), (2, 5, 3), (2, 5, 3)))
    mask = gw.ones(4, 5, dtype=gw.bool)
    mask[1] = False
    for given in (mask, gw.where(mask, 0.0, -float("inf")).to(gw.float64)):
        leaves = [t.clone().requires_grad_() for t in (q, k, v)]
        out = F.scaled_dot_product_attention(*leaves, given)
        want = _expected(q.numpy(), k.numpy(), v.numpy(), mask.numpy())
        np.testing.assert_allclose(out.detach().numpy(), want, rtol=1e-11, atol=1e-12)
        out.sum().backward()
        assert all(gw.isfinite(leaf.grad).all().item() for leaf in leaves)


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
@pytest.mark.parametrize("compiled", [False, True])
def test_rows_masked_by_the_lowest_number_attend_equally(dtype: Any, compiled: bool) -> None:
    """Whose scores are all that number: beside it, the logarithm of their sum is nothing."""
    q, k, v = _inputs(((2, 4, 3), (2, 5, 3), (2, 5, 3)), dtype)
    mask = gw.zeros(4, 5, dtype=dtype)
    mask[1] = gw.finfo(dtype).min
    leaves = [t.requires_grad_() for t in (q, k, v)]
    plain = F.scaled_dot_product_attention
    attend = gw.compile(plain) if compiled else plain
    found = gw.autograd.grad(attend(*leaves, mask).square().sum(), leaves)
    weights = gw.softmax(q @ k.transpose(-1, -2) / 3**0.5 + mask, -1)
    for one, other in zip(
        found, gw.autograd.grad((weights @ v).square().sum(), leaves), strict=True
    ):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
def test_halves_are_computed_in_float32(dtype: Any, compiled: bool) -> None:
    """Rounded once: two scores of 20 may lie 0.01 apart before float16 tells them apart."""
    q, k, v = ((4 * t).requires_grad_() for t in _inputs(SHAPES[0], dtype))
    plain = F.scaled_dot_product_attention
    got = (gw.compile(plain) if compiled else plain)(q, k, v)
    assert got.dtype is dtype
    wide = [t.detach().to(gw.float64).numpy() for t in (q, k, v)]
    tolerance = 1e-3 if dtype is gw.float16 else 1e-2
    np.testing.assert_allclose(
        got.detach().to(gw.float64).numpy(), _expected(*wide), rtol=tolerance, atol=tolerance
    )


def test_views_of_transposed_heads() -> None:
    x = gw.randn(2, 5, 3, 4).transpose(1, 2)
    got = F.scaled_dot_product_attention(x, x, x)
    same = x.contiguous()
    np.testing.assert_allclose(
        got.numpy(), F.scaled_dot_product_attention(same, same, same).numpy(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("step", [0, 1, 100])
def test_strides_of_one_row_say_nothing(step: int) -> None:
    """Decoding attends from one position: heads that are views have any stride along it."""
    heads = gw.randn(1, 4, 16).as_strided((1, 4, 1, 16), (64, 16, step, 1)).requires_grad_()
    same = heads.detach().clone().requires_grad_()
    for x in (heads, same):
        F.scaled_dot_product_attention(x, x, x, is_causal=True).sum().backward()
    np.testing.assert_allclose(heads.grad.numpy(), same.grad.numpy(), rtol=1e-6, atol=1e-7)


def test_second_derivatives() -> None:
    leaves = [t.requires_grad_() for t in _inputs(((3, 2), (4, 2), (4, 2)))]
    out = F.scaled_dot_product_attention(*leaves, is_causal=True)
    grads = gw.autograd.grad((out * out).sum(), leaves, create_graph=True)
    total = sum((g * g).sum() for g in grads)
    second = gw.autograd.grad(total, leaves)
    step = 1e-6
    for leaf, grad in zip(leaves, second, strict=True):
        place = (0,) * leaf.ndim
        values = []
        for shift in (step, -step):
            moved = [t.detach().clone() for t in leaves]
            which = next(i for i, t in enumerate(leaves) if t is leaf)
            moved[which].numpy()[place] += shift
            for t in moved:
                t.requires_grad_()
            again = F.scaled_dot_product_attention(*moved, is_causal=True)
            first = gw.autograd.grad((again * again).sum(), moved)
            values.append(sum(float((g * g).sum()) for g in first))
        want = (values[0] - values[1]) / (2 * step)
        np.testing.assert_allclose(grad.numpy()[place], want, rtol=1e-4, atol=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("causal", [False, True])
def test_gradients_against_torch(shapes: Any, causal: bool) -> None:
    torch = pytest.importorskip("torch")
    ours = _inputs(shapes)
    theirs = [torch.tensor(t.numpy(), requires_grad=True) for t in ours]
    for t in ours:
        t.requires_grad_()
    out = F.scaled_dot_product_attention(*ours, is_causal=causal)
    want = torch.nn.functional.scaled_dot_product_attention(*theirs, is_causal=causal)
    (out * out).sum().backward()
    (want * want).sum().backward()
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-9, atol=1e-10)


@pytest.mark.oracle
def test_shared_heads_against_torch() -> None:
    torch = pytest.importorskip("torch")
    q, k, v = _inputs(((2, 6, 5, 4), (2, 2, 7, 4), (2, 2, 7, 4)))
    got = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    want = torch.nn.functional.scaled_dot_product_attention(
        *(torch.tensor(t.numpy()) for t in (q, k, v)), enable_gqa=True
    )
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-10, atol=1e-12)
