"""`flex_attention`: scores and masks as functions of positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.nn.attention import flex_attention as flex

F = gw.nn.functional


def tensors(*heads: int, length: int = 24, seed: int = 0) -> list[gw.Tensor]:
    gw.manual_seed(seed)
    return [gw.randn(2, h, length, 8) for h in heads]


def causal(b: Any, h: Any, q: Any, kv: Any) -> Any:
    return q >= kv


def window(b: Any, h: Any, q: Any, kv: Any) -> Any:
    return (q - kv < 7) & (h != 1)


def test_without_functions_it_is_plain_attention() -> None:
    q, k, v = tensors(4, 4, 4)
    gw.testing.assert_close(flex.flex_attention(q, k, v), F.scaled_dot_product_attention(q, k, v))
    gw.testing.assert_close(flex.flex_attention(q, k, v, scale=0.2),
                            F.scaled_dot_product_attention(q, k, v, scale=0.2))


def test_masks_by_functions() -> None:
    q, k, v = tensors(4, 4, 4)
    mask = flex.create_block_mask(causal, None, None, 24, 24, BLOCK_SIZE=8)
    gw.testing.assert_close(flex.flex_attention(q, k, v, block_mask=mask),
                            F.scaled_dot_product_attention(q, k, v, is_causal=True))
    both = flex.and_masks(causal, window)
    dense = flex.create_mask(both, 1, 4, 24, 24)
    mask = flex.create_block_mask(both, 1, 4, 24, 24, BLOCK_SIZE=8)
    expected = gw.nan_to_num(F.scaled_dot_product_attention(q, k, v, attn_mask=dense))
    gw.testing.assert_close(flex.flex_attention(q, k, v, block_mask=mask), expected)
    assert not flex.flex_attention(q, k, v, block_mask=mask)[:, 1].any()
    either = flex.create_mask(flex.or_masks(causal, flex.noop_mask), None, None, 3, 4)
    assert either.shape == (1, 1, 3, 4) and either.all()


def test_scores_by_functions_of_positions_and_tables() -> None:
    q, k, v = tensors(4, 4, 4)
    table = gw.randn(4, 47)

    def biased(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        return score + table[h, i - j + 23] * (b + 1)

    distances = gw.arange(24)[:, None] - gw.arange(24) + 23
    bias = table[:, distances] * gw.arange(1, 3).view(2, 1, 1, 1)
    gw.testing.assert_close(flex.flex_attention(q, k, v, score_mod=biased),
                            F.scaled_dot_product_attention(q, k, v, attn_mask=bias))
    far = flex.create_mask(lambda s, b, h, i, j: gw.where(i - j < 2, s, -gw.inf), 1, 1, 3, 3)
    assert far[0, 0].tolist() == [[True, True, True], [True, True, True], [False, True, True]]


def test_grouped_queries_and_shared_batches() -> None:
    q, k, v = tensors(4, 2, 2)
    expected = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    gw.testing.assert_close(flex.flex_attention(q, k, v, enable_gqa=True), expected)
    mask = flex.create_block_mask(flex.noop_mask, 2, None, 24, 24)
    one = flex.flex_attention(q, k[:1], v[:1], block_mask=mask, enable_gqa=True)
    gw.testing.assert_close(one[:1], expected[:1])


def test_log_sum_exp_and_maximum() -> None:
    q, k, v = tensors(4, 4, 4)
    scores = q @ k.mT / 8**0.5
    _, lse = flex.flex_attention(q, k, v, return_lse=True)
    gw.testing.assert_close(lse, scores.logsumexp(-1))
    request = flex.AuxRequest(lse=True, max_scores=True)
    _, found = flex.flex_attention(q, k, v, return_aux=request)
    gw.testing.assert_close(found.max_scores, scores.amax(-1))
    gw.testing.assert_close(found.lse, lse)


def test_gradients_also_of_empty_rows() -> None:
    block = flex.create_block_mask(lambda b, h, q, kv: (q >= kv) & (q > 2), None, None, 24, 24)
    rest = flex.create_mask(causal, 1, 1, 24, 24)[..., 3:, :]
    results = []
    for run in (lambda *t: flex.flex_attention(*t, block_mask=block),
                lambda q, k, v: F.scaled_dot_product_attention(q[:, :, 3:], k, v, rest)):
        given = [one.requires_grad_() for one in tensors(4, 4, 4)]
        results.append(gw.autograd.grad((run(*given) ** 2).sum(), given))
    for one, two in zip(*results, strict=True):
        gw.testing.assert_close(one, two)


def test_compiled_it_is_one_graph() -> None:
    q, k, v = tensors(4, 4, 4)
    mask = flex.create_block_mask(causal, None, None, 24, 24)

    def f(q: Any, k: Any, v: Any) -> Any:
        return flex.flex_attention(q, k, v, lambda s, b, h, i, j: s + (j - i) * 0.1, mask)

    compiled = gw.compile(f)
    gw.testing.assert_close(compiled(q, k, v), f(q, k, v))
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.breaks, stats.fallbacks) == (1, 0, 0)


def test_a_mask_that_is_made_in_the_graph_ends_none() -> None:
    q, k, v = tensors(4, 4, 4)

    def f(q: Any, k: Any, v: Any, n: int) -> Any:
        def seen(b: Any, h: Any, i: Any, j: Any) -> Any:
            return i >= j - n

        mask = flex.create_block_mask(seen, q.shape[0], None, q.shape[2], k.shape[2])
        return flex.flex_attention(q, k, v, block_mask=mask)

    compiled = gw.compile(f)
    gw.testing.assert_close(compiled(q, k, v, 1), f(q, k, v, 1))
    stats = gw.compiler.stats(compiled)
    assert (stats.graphs, stats.breaks, stats.fallbacks) == (1, 0, 0)


def test_half_types_are_summed_in_float32() -> None:
    q, k, v = tensors(4, 4, 4)
    half = [one.bfloat16() for one in (q, k, v)]
    out = flex.flex_attention(*half)
    assert out.dtype is gw.bfloat16
    gw.testing.assert_close(out.float(), flex.flex_attention(q, k, v), rtol=0.05, atol=0.05)


def test_block_masks_list_blocks() -> None:
    mask = flex.create_block_mask(causal, 1, 2, 20, 30, BLOCK_SIZE=(8, 16))
    assert mask.shape == (1, 2, 20, 30) and mask.numel() == 1200
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 2]] * 2]
    assert mask.to_dense()[0, 0].tolist() == [[1, 0], [1, 0], [1, 1]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 0, 0]] * 2]
    assert mask.q_num_blocks[0, 0].tolist() == [3, 1]
    whole = flex.create_block_mask(causal, None, None, 20, 30, BLOCK_SIZE=8,
                                   separate_full_blocks=False)
    assert whole.full_kv_num_blocks is None and whole.to_dense()[0, 0].sum() == 6
    assert "██" in str(whole) and "sparsity=" in repr(mask)
    assert mask[0, 1].kv_indices.shape == (1, 1, 3, 2) and mask.to("cpu").shape == mask.shape
    assert mask._adjust(8, 16).shape == (1, 2, 8, 16)
    assert np.isclose(whole.sparsity(), 100 * (1 - 6 * 64 / 600))


def sliced() -> Any:
    return flex.create_block_mask(causal, 2, 4, 24, 24)[0]


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda q, k, v: flex.flex_attention(q, k[:, :2], v[:, :2]), ValueError, "same number of hea"),
    (lambda q, k, v: flex.flex_attention(q, k[:, :3], v[:, :3], enable_gqa=True), ValueError,
     "a multiple of kv heads"),
    (lambda q, k, v: flex.flex_attention(q, k[..., :4], v), ValueError, "same embedding dimensi"),
    (lambda q, k, v: flex.flex_attention(q[0], k[0], v[0]), NotImplementedError, "4D tensors"),
    (lambda q, k, v: flex.flex_attention(q, k[:1], v[:1]), ValueError, "same batch size"),
    (lambda q, k, v: flex.flex_attention(
        q, k, v, block_mask=flex.create_block_mask(causal, None, None, 16, 24)), ValueError,
     "block_mask was created for block_mask.shape="),
    (lambda q, k, v: flex.flex_attention(q, k, v, block_mask=sliced()), RuntimeError, "a sliced"),
    (lambda q, k, v: sliced().mask_mod(0, 0, 0, 0), RuntimeError, "a sliced BlockMask"),
    (lambda q, k, v: flex.flex_attention(q, k, v, return_lse=True, return_aux=flex.AuxRequest()),
     ValueError, "both return_lse and return_aux"),
    (lambda q, k, v: flex.flex_attention(q, k, v, kernel_options={"BACKEND": "X"}), ValueError,
     "Invalid BACKEND value"),
    (lambda q, k, v: flex.create_mask(lambda a: a, 1, 1, 2, 2), AssertionError, "4 or 5 position"),
    (lambda q, k, v: flex.create_block_mask(lambda s, b, h, i, j: s, 1, 1, 2, 2), AssertionError,
     "requires a mask_mod"),
    (lambda q, k, v: flex.and_masks(causal, 3), RuntimeError, "should be callable mask_mods"),
    (lambda q, k, v: flex.BlockMask.from_kv_blocks(gw.ones(1), gw.ones(1)), RuntimeError,
     "at least 2 dimensions"),
])  # fmt: skip
def test_what_is_refused(call: Callable[..., Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call(*tensors(4, 4, 4))


def by_table(table: Any) -> Any:
    return lambda s, b, h, i, j: s * table[h] + table[b]


def within(ids: Any) -> Any:
    return lambda b, h, q, kv: (ids[q] == ids[kv]) & (q >= kv)


MODS: dict[str, Callable[[Any], Any]] = {
    "alibi": lambda t: lambda s, b, h, i, j: s + (j - i) * 0.5 ** (h + 1),
    "cap": lambda t: lambda s, b, h, i, j: 3 * t.tanh(s / 3),
    "where": lambda t: lambda s, b, h, i, j: t.where((i - j).abs() < 5, s, s - b),
    "table": lambda t: by_table(t.linspace(0.5, 2.0, 4)),
}
MASKS: dict[str, Callable[[Any], Any]] = {
    "causal": lambda t: causal,
    "window of a head": lambda t: window,
    "documents": lambda t: within(t.arange(24) // 7),
    "prefix": lambda t: lambda b, h, q, kv: (kv < 5 + b) | (q >= kv),
}


@pytest.mark.oracle
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("mod", MODS)
def test_values_are_pytorchs(mod: str, mask: str) -> None:
    torch = pytest.importorskip("torch")
    module = pytest.importorskip("torch.nn.attention.flex_attention")
    module._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True
    ours = tensors(4, 2, 2)
    given = [torch.from_numpy(one.numpy().copy()) for one in ours]
    found = []
    for library, package, values in ((gw, flex, ours), (torch, module, given)):
        block = package.create_block_mask(
            MASKS[mask](library), 2, 4, 24, 24, device="cpu", BLOCK_SIZE=8)
        out, lse = package.flex_attention(
            *values, MODS[mod](library), block, scale=0.3, enable_gqa=True, return_lse=True)
        blocks = [block.kv_num_blocks, block.full_kv_num_blocks, block.q_num_blocks,
                  block.full_q_num_blocks, block.to_dense(), block.kv_indices, block.q_indices]
        cut = block._adjust(16, 16)
        found.append(([out.numpy(), lse.numpy()],
                      [one.numpy() for one in (*blocks, cut.to_dense())],
                      (repr(block).replace("torch.", "").replace("graphwright.", ""),
                       block.to_string(), block.sparsity())))
    for one, two in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_allclose(one, two, rtol=2e-5, atol=2e-5)
    for one, two in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_array_equal(one, two)
    assert found[0][2] == found[1][2]
