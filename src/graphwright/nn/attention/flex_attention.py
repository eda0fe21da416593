"""Attention whose scores and mask are functions of the positions, after Dong et al. (2024),
"Flex Attention: a programming model for generating optimized attention kernels".
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, TypedDict

from graphwright.nn.attention.block_mask import DEFAULT_BLOCK as _DEFAULT_SPARSE_BLOCK_SIZE
from graphwright.nn.attention.block_mask import (
    WHOLE,
    BlockMask,
    Mod,
    and_masks,
    create_block_mask,
    create_mask,
    for_all,
    noop_mask,
    or_masks,
    positions,
    sliced_mask,
)
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

__all__ = [
    "_DEFAULT_SPARSE_BLOCK_SIZE", "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions",
    "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask", "or_masks",
]

_BACKENDS = ("AUTO", "TRITON", "FLASH", "TRITON_DECODE")


class FlexKernelOptions(TypedDict, total=False):
    """Options of PyTorch's GPU kernels, which change nothing here."""

    BACKEND: Literal["AUTO", "TRITON", "FLASH", "TRITON_DECODE"]


class AuxRequest(NamedTuple):
    """What `flex_attention` is to return besides its output."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was requested: log-sum-exp and maximum of each row of scores, [B, Hq, L]."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Mod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query @ key.T * scale)) @ value, where the mask holds; 0 for empty rows.

    Args:
        query: [B, Hq, L, E]. key: [B, Hkv, S, E]. value: [B, Hkv, S, Ev]. Batches of key and value
            may be 1.
        score_mod: function of (score, batch, head, query, key), 0-d tensors, that gives another
            score; called once for all positions, by vmap.
        block_mask: says which keys a query looks at; of `create_block_mask`.
        scale: 1 / sqrt(E) where it is None.
        enable_gqa: Hkv may be a divisor of Hq; each head of key serves several of query.
        return_lse: return (output, log-sum-exp of each row) instead; `return_aux` says the same.
        kernel_options: without effect.
        return_aux: return (output, `AuxOutput`).

    Returns: the output, [B, Hq, L, Ev], in the dtype of `query`. Scores are computed in float32,
        or float64. Differentiable.

    Raises: ValueError for sizes or devices that do not fit, NotImplementedError for other than
        four dims, RuntimeError for a mask that was sliced and not given a mask_mod since.
    """
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError("Cannot specify both return_lse and return_aux: return_aux="
                         "AuxRequest(lse=True) says what return_lse=True does")
    backend = (kernel_options or {}).get("BACKEND", "AUTO")
    if backend not in _BACKENDS:
        raise ValueError(f"Invalid BACKEND value '{backend}'. Must be one of {_BACKENDS}")
    scores = _scores(query, key, scale, score_mod, block_mask)
    empty = ops.all(ops.isneginf(scores), dim=-1, keepdim=True)
    weights = ops.softmax(ops.masked_fill(scores, empty, 0.0), -1)
    weights = ops.masked_fill(weights, empty, 0.0)
    heads = query.shape[1] // value.shape[1]
    values = ops.repeat_interleave(value, heads, 1) if heads > 1 else value
    output = weights.to(query.dtype) @ values.to(query.dtype)
    if return_lse:
        return output, ops.logsumexp(scores, -1)
    if return_aux is None:
        return output
    return output, AuxOutput(
        ops.logsumexp(scores, -1) if return_aux.lse else None,
        ops.amax(scores, -1) if return_aux.max_scores else None)


def _scores(
    query: Tensor, key: Tensor, scale: float | None, score_mod: Mod | None,
    block_mask: BlockMask | None,
) -> Tensor:
    """[B, Hq, L, S]; -inf where the mask does not hold."""
    working = dtypes.float64 if query.dtype is dtypes.float64 else dtypes.float32
    heads = query.shape[1] // key.shape[1]
    keys = ops.repeat_interleave(key, heads, 1) if heads > 1 else key
    scores = query.to(working) @ keys.to(working).mT
    scores = scores * (1.0 / math.sqrt(query.shape[-1]) if scale is None else scale)
    places = positions(*scores.shape, device=scores.device)
    if score_mod is not None:
        scores = for_all(score_mod, scored=True)(scores, *places)
    if block_mask is not None and block_mask.mask_mod is not noop_mask:
        holds = for_all(block_mask.mask_mod, scored=False)(*places)
        scores = ops.where(holds, scores, -math.inf)
    return scores.to(working)


def _check(
    query: Tensor, key: Tensor, value: Tensor, block_mask: BlockMask | None, enable_gqa: bool
) -> None:
    """Raise for arguments that do not fit, as PyTorch does."""
    devices = (query.device, key.device, value.device)
    if devices[0] != devices[1] or devices[0] != devices[2]:
        raise ValueError(
            "Expected query, key, and value to have the same device type, but got query.device: "
            f"{devices[0]}, key.device: {devices[1]}, and value.device: {devices[2]} instead.")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.shape[-1]} and E={key.shape[-1]}.")
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads, own = query.shape[1], key.shape[1]
    if not enable_gqa and heads != own:
        raise ValueError(
            "Expect query and key/value to have the same number of heads but got "
            f"Hq={heads} and Hkv={own}. Try setting enable_gqa=True for GQA.")
    if heads % own:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={heads} and Hkv={own}.")
    _check_batches(query, key, block_mask)
    if block_mask is not None:
        _check_mask(query, key, block_mask)


def _check_batches(query: Tensor, key: Tensor, block_mask: BlockMask | None) -> None:
    batch, own = query.shape[0], key.shape[0]
    if batch == own:
        return
    masked = None if block_mask is None else block_mask.kv_num_blocks.shape[0]
    if masked is None:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or non-none block_mask, but "
            f"got block_mask=None, Bq={batch}, and Bkv={own}.")
    if masked != batch:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or block_mask and query to "
            f"have the same batch size, but got Bq={batch}, Bkv={own}, B_block_mask={masked}.")
    if own != 1:
        raise RuntimeError(f"Bq and Bkv must broadcast. Got Bq={batch} and Bkv={own}")


def _check_mask(query: Tensor, key: Tensor, block_mask: BlockMask) -> None:
    if block_mask.mask_mod is sliced_mask:
        raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")
    if query.device != block_mask.kv_num_blocks.device:
        raise RuntimeError(
            "Expect q/k/v and block_mask to be on the same device but got "
            f"{query.device} and {block_mask.kv_num_blocks.device}.")
    lengths = (query.shape[-2], key.shape[-2])
    if block_mask.BLOCK_SIZE == (WHOLE, WHOLE) or lengths == block_mask.seq_lengths:
        return
    shorter = all(a <= b for a, b in zip(lengths, block_mask.seq_lengths, strict=True))
    advice = ("block_mask._adjust(q_len, kv_len) gives its upper left part, which is right for "
              "some masks only" if shorter else "create one for these lengths")
    raise ValueError(
        f"block_mask was created for block_mask.shape={block_mask.shape} but got "
        f"q_len={lengths[0]} and kv_len={lengths[1]}: {advice}.")
