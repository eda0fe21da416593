"""Multi-head attention as a function (Vaswani et al., 2017)."""

from __future__ import annotations

import math

from graphwright.runtime.dtypes import bool as bool_dtype
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor

scaled_dot_product_attention = ops.scaled_dot_product_attention


def additive_mask(mask: Tensor | None, name: str, like: Tensor) -> Tensor | None:
    """A float mask as it is; a bool one, True meaning "not allowed", as 0 and -inf.

    AssertionError for another dtype.
    """
    if mask is None or mask.dtype.is_floating_point:
        return mask
    if mask.dtype is not bool_dtype:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    zeros = ops.zeros(tuple(mask.shape), dtype=like.dtype, device=like.device)
    return ops.masked_fill(zeros, mask, -math.inf)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _check_shapes(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None
) -> None:
    _require(
        query.ndim in (2, 3),
        f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query",
    )
    batched = query.ndim == 3
    _require(
        key.ndim == value.ndim == query.ndim,
        f"For {'batched' if batched else 'unbatched'} ({query.ndim}-D) `query`, expected `key` "
        f"and `value` to be {query.ndim}-D but found {key.ndim}-D and {value.ndim}-D tensors "
        "respectively",
    )
    if padding is not None:
        _require(
            padding.ndim == query.ndim - 1,
            f"expected `key_padding_mask` to be `None` or {query.ndim - 1}-D but found "
            f"{padding.ndim}-D tensor instead",
        )
    if mask is not None:
        _require(
            mask.ndim in (2, 3),
            "expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{mask.ndim}-D tensor instead",
        )


def _packed_projection(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, ...]:
    """q, k, v of one weight [3 * E, E] and one bias [3 * E]."""
    if key is value and query is key:
        return tuple(ops.chunk(ops.linear(query, weight, bias), 3, -1))
    weights = ops.chunk(weight, 3, 0)
    biases = (None, None, None) if bias is None else ops.chunk(bias, 3, 0)
    inputs = (query, key, value)
    return tuple(ops.linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True))


def _separate_projection(
    inputs: tuple[Tensor, Tensor, Tensor],
    weights: tuple[Tensor | None, Tensor | None, Tensor | None],
    bias: Tensor | None,
) -> tuple[Tensor, ...]:
    for name, weight in zip("qkv", weights, strict=True):
        _require(
            weight is not None,
            f"use_separate_proj_weight is True but {name}_proj_weight is None",
        )
    biases = (None, None, None) if bias is None else ops.chunk(bias, 3, 0)
    return tuple(
        ops.linear(x, w, b)  # type: ignore[arg-type]
        for x, w, b in zip(inputs, weights, biases, strict=True)
    )


def _one_more(mask: Tensor | None) -> Tensor | None:
    """A mask with one more column, which is allowed."""
    return None if mask is None else ops.constant_pad(mask, (0, 1), 0)


def _fit_mask(mask: Tensor, batch: int, heads: int, rows: int, columns: int) -> Tensor:
    """[L, S] or [N * H, L, S] as [1 or N * H, L, S]. RuntimeError for another shape."""
    wanted = (rows, columns) if mask.ndim == 2 else (batch * heads, rows, columns)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be "
            f"{wanted}."
        )
    return ops.unsqueeze(mask, 0) if mask.ndim == 2 else mask


def _by_head(tensor: Tensor, groups: int, size: int) -> Tensor:
    """[L, N, E] as [N * H, L, E / H]."""
    return ops.transpose(ops.reshape(tensor, (tensor.shape[0], groups, size)), 0, 1)


def _static(given: Tensor, name: str, groups: int, size: int) -> Tensor:
    _require(
        given.shape[0] == groups and given.shape[2] == size,
        f"expecting {name} of shape ({groups}, *, {size}), but got {tuple(given.shape)}",
    )
    return given


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    dropout_p: float,
) -> tuple[Tensor, Tensor]:
    """(output, weights) of [N * H, L, D], the weights kept."""
    scores = ops.bmm(ops.mul(q, math.sqrt(1.0 / q.shape[-1])), ops.transpose(k, 1, 2))
    if mask is not None:
        scores = ops.add(scores, mask)
    weights = ops.softmax(scores, -1)
    if dropout_p > 0.0:
        weights = ops.dropout(weights, dropout_p, True)
    return ops.bmm(weights, v), weights


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """(output, weights) of attention in `num_heads` heads.

    query [L, N, E], key and value [S, N, *] (or all without N); the output has the query's
    shape, the weights are [N, L, S] ([N, H, L, S] unless averaged), None without
    `need_weights`. key_padding_mask [N, S] and attn_mask [L, S] or [N * H, L, S] are additive,
    or bool with True for what is left out. `is_causal` is a hint that attn_mask is causal.
    """
    _check_shapes(query, key, value, key_padding_mask, attn_mask)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    batched = query.ndim == 3
    if not batched:
        same_key, same_value = key is query, value is key
        query = ops.unsqueeze(query, 1)
        key = query if same_key else ops.unsqueeze(key, 1)
        value = key if same_value else ops.unsqueeze(value, 1)
        if key_padding_mask is not None:
            key_padding_mask = ops.unsqueeze(key_padding_mask, 0)
    rows, batch, size = query.shape
    columns = key.shape[0]
    _require(
        size == embed_dim_to_check,
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}",
    )
    head = size // num_heads
    _require(
        head * num_heads == size, f"embed_dim {size} not divisible by num_heads {num_heads}"
    )
    padding = additive_mask(key_padding_mask, "key_padding_mask", query)
    causal = is_causal and padding is None and not need_weights
    causal = causal and bias_k is None and not add_zero_attn
    mask = None if causal else additive_mask(attn_mask, "attn_mask", query)
    if use_separate_proj_weight:
        _require(
            key.shape[:2] == value.shape[:2],
            f"key's sequence and batch dims {tuple(key.shape[:2])} do not match value's "
            f"{tuple(value.shape[:2])}",
        )
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        q, k, v = _separate_projection((query, key, value), weights, in_proj_bias)
    else:
        _require(
            key.shape == value.shape,
            f"key shape {tuple(key.shape)} does not match value shape {tuple(value.shape)}",
        )
        _require(
            in_proj_weight is not None,
            "use_separate_proj_weight is False but in_proj_weight is None",
        )
        assert in_proj_weight is not None
        q, k, v = _packed_projection(query, key, value, in_proj_weight, in_proj_bias)
    if mask is not None:
        mask = _fit_mask(mask, batch, num_heads, rows, columns)
    if bias_k is not None and bias_v is not None:
        _require(static_k is None and static_v is None, "bias cannot be added to static key/value")
        k = ops.cat((k, ops.repeat(bias_k, (1, batch, 1))), 0)
        v = ops.cat((v, ops.repeat(bias_v, (1, batch, 1))), 0)
        mask, padding = _one_more(mask), _one_more(padding)
    groups = batch * num_heads
    q = _by_head(q, groups, head)
    k = _by_head(k, groups, head) if static_k is None else _static(
        static_k, "static_k", groups, head
    )
    v = _by_head(v, groups, head) if static_v is None else _static(
        static_v, "static_v", groups, head
    )
    if add_zero_attn:
        zeros = ops.zeros((groups, 1, head), dtype=k.dtype, device=k.device)
        k, v = ops.cat((k, zeros), 1), ops.cat((v, zeros), 1)
        mask, padding = _one_more(mask), _one_more(padding)
    columns = k.shape[1]
    if padding is not None:
        mask = _with_padding(mask, padding, batch, num_heads, columns)
    dropped = dropout_p if training else 0.0
    if need_weights:
        out, attended = _attend(q, k, v, mask, dropped)
    else:
        split = (batch, num_heads)
        out = ops.scaled_dot_product_attention(
            ops.reshape(q, (*split, rows, head)),
            ops.reshape(k, (*split, columns, head)),
            ops.reshape(v, (*split, columns, head)),
            _by_batch(mask, split, columns),
            dropped,
            causal,
        )
        out, attended = ops.reshape(out, (groups, rows, head)), None
    out = ops.reshape(ops.transpose(out, 0, 1), (rows, batch, size))
    out = ops.linear(out, out_proj_weight, out_proj_bias)
    if attended is not None:
        attended = ops.reshape(attended, (batch, num_heads, rows, columns))
        attended = ops.mean(attended, 1) if average_attn_weights else attended
    if not batched:
        out = ops.squeeze(out, 1)
        attended = None if attended is None else ops.squeeze(attended, 0)
    return out, attended


def _with_padding(
    mask: Tensor | None, padding: Tensor, batch: int, heads: int, columns: int
) -> Tensor:
    """`mask` with `padding` [N, S] added: [N * H, 1 or L, S]."""
    _require(
        tuple(padding.shape) == (batch, columns),
        f"expecting key_padding_mask shape of {(batch, columns)}, but got {tuple(padding.shape)}",
    )
    wide = ops.expand(ops.view(padding, (batch, 1, 1, columns)), (batch, heads, 1, columns))
    by_head = ops.reshape(wide, (batch * heads, 1, columns))
    return by_head if mask is None else ops.add(mask, by_head)


def _by_batch(mask: Tensor | None, split: tuple[int, int], columns: int) -> Tensor | None:
    """[1 or N * H, L, S] as [1, 1, L, S] or [N, H, L, S]."""
    if mask is None:
        return None
    if mask.shape[0] == 1:
        return ops.unsqueeze(mask, 0)
    return ops.reshape(mask, (*split, mask.shape[1], columns))
