"""Multi-head attention as a function (Vaswani et al., 2017)."""

from __future__ import annotations

import math
from typing import NamedTuple

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.dtypes import bool as bool_dtype
from graphwright.runtime.tensor.tensor import Tensor

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
            f"For {'batched' if batched else 'unbatched'} ({query.ndim}-D) `query`, expected "
            f"`key_padding_mask` to be `None` or {query.ndim - 1}-D but found {padding.ndim}-D "
            "tensor instead",
        )
    if mask is not None:
        _require(
            mask.ndim in (2, 3),
            f"For {'batched' if batched else 'unbatched'} ({query.ndim}-D) `query`, expected "
            f"`attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead",
        )


def _packed_projection(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None, bias: Tensor | None
) -> tuple[Tensor, ...]:
    """q, k, v of one weight [3 * E, E] and one bias [3 * E]."""
    _require(
        key.shape == value.shape,
        f"key shape {key.shape} does not match value shape {value.shape}",
    )
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
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
    """q, k, v of a weight [E, size of the input] for each and one bias [3 * E]."""
    key, value = (tuple(x.shape[:2]) for x in inputs[1:])
    _require(
        key == value,
        f"key's sequence and batch dims {key} do not match value's {value}",
    )
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
            f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be "
            f"{wanted}."
        )
    return ops.unsqueeze(mask, 0) if mask.ndim == 2 else mask


class _Heads(NamedTuple):
    """How [L, N, E] is split into heads of `size`: N * H matrices [L, E / H]."""

    batch: int
    heads: int
    size: int

    @staticmethod
    def of(query: Tensor, embedding: int, count: int) -> _Heads:
        """For a query [L, N, E]; AssertionError unless E is `embedding` and a multiple."""
        batch, size = query.shape[1:]
        _require(
            size == embedding,
            f"was expecting embedding dimension of {embedding}, but got {size}",
        )
        head = size // count
        _require(head * count == size, f"embed_dim {size} not divisible by num_heads {count}")
        return _Heads(batch, count, head)

    @property
    def groups(self) -> int:
        """N * H."""
        return self.batch * self.heads

    def split(self, tensor: Tensor) -> Tensor:
        """[L, N, E] as [N * H, L, E / H]."""
        return ops.transpose(ops.reshape(tensor, (tensor.shape[0], self.groups, self.size)), 0, 1)

    def join(self, tensor: Tensor) -> Tensor:
        """[N * H, L, E / H] as [L, N, E]."""
        wide = (tensor.shape[1], self.batch, self.heads * self.size)
        return ops.reshape(ops.transpose(tensor, 0, 1), wide)

    def checked(self, given: Tensor, name: str) -> Tensor:
        """A key or value that is split already. AssertionError for another shape."""
        _require(
            given.shape[0] == self.groups and given.shape[2] == self.size,
            f"expecting {name} of shape ({self.groups}, *, {self.size}), but got "
            f"{tuple(given.shape)}",
        )
        return given

    def with_zeros(self, tensor: Tensor) -> Tensor:
        """One more row, of zeros: [N * H, S + 1, E / H]."""
        shape = (self.groups, 1, self.size)
        zeros = ops.zeros(shape, dtype=tensor.dtype, device=tensor.device)
        return ops.cat((tensor, zeros), 1)

    def attend_fused(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        dropout_p: float,
        causal: bool,
    ) -> tuple[Tensor, None]:
        """(output, None) of [N * H, L, D], without the weights."""
        split = (self.batch, self.heads)
        if mask is not None:
            one = mask.shape[0] == 1
            mask = ops.unsqueeze(mask, 0) if one else ops.unflatten(mask, 0, split)
        queries, keys, values = (ops.unflatten(t, 0, split) for t in (q, k, v))
        out = ops.scaled_dot_product_attention(queries, keys, values, mask, dropout_p, causal)
        return ops.reshape(out, q.shape), None


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    causal: bool,
) -> tuple[Tensor, Tensor]:
    """(output, weights) of [N * H, L, D]; `causal` says nothing that the mask does not."""
    scores = ops.bmm(ops.mul(q, math.sqrt(1.0 / q.shape[-1])), ops.transpose(k, 1, 2))
    if mask is not None:
        scores = ops.add(scores, mask)
    weights = ops.softmax(scores, -1)
    if dropout_p > 0.0:
        weights = ops.dropout(weights, dropout_p, True)
    return ops.bmm(weights, v), weights


def _with_batch(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """[L, E] as [L, 1, E]; inputs that are one tensor stay one."""
    made = ops.unsqueeze(query, 1)
    keys = made if key is query else ops.unsqueeze(key, 1)
    return made, keys, keys if value is key else ops.unsqueeze(value, 1)


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
    """Attention in several heads, with projections before and after (Vaswani et al., 2017).

    Args:
        query: `(L, N, E)`, or `(L, E)`.
        key: `(S, N, K)`, or `(S, K)`.
        value: `(S, N, V)`, or `(S, V)`.
        embed_dim_to_check: E.
        num_heads: the number of heads H, a divisor of E.
        in_proj_weight: `(3 * E, E)`, the projections of query, key and value; None where they
            are separate.
        in_proj_bias: `(3 * E,)`; none if None.
        bias_k, bias_v: `(1, 1, E)`, one more key and value for each sequence; none if None.
        add_zero_attn: add a key and a value of zeros.
        dropout_p: probability with which weights are set to 0 in training.
        out_proj_weight: `(E, E)`.
        out_proj_bias: `(E,)`; none if None.
        training: apply dropout.
        key_padding_mask: `(N, S)`: bool with True for keys that are left out, or terms of the
            scores.
        need_weights: return the weights as well.
        attn_mask: `(L, S)` or `(N * H, L, S)`: bool with True for pairs that are left out, or
            terms of the scores.
        use_separate_proj_weight: use the next three, not `in_proj_weight`.
        q_proj_weight: `(E, E)`.
        k_proj_weight: `(E, K)`.
        v_proj_weight: `(E, V)`.
        static_k, static_v: `(N * H, S, E / H)`, used in place of the projected key and value.
        average_attn_weights: return the mean of the heads' weights.
        is_causal: a hint that `attn_mask`, which must be given, is causal.

    Returns: `(output, weights)`: the shape of `query`; `(N, L, S)`, or `(N, H, L, S)` unless
    averaged, or None without `need_weights`.

    Raises:
        RuntimeError: `is_causal` is given without a mask, or masks do not fit.
        AssertionError: shapes do not match.

    Example:
        >>> q, w = gw.ones(2, 1, 4), gw.ones(12, 4)
        >>> rest = None, None, None, False, 0.0, gw.eye(4), None
        >>> F.multi_head_attention_forward(q, q, q, 4, 2, w, *rest)[1]
        tensor([[[0.5000, 0.5000],
                 [0.5000, 0.5000]]])
    """
    _check_shapes(query, key, value, key_padding_mask, attn_mask)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    batched = query.ndim == 3
    if not batched:
        query, key, value = _with_batch(query, key, value)
        if key_padding_mask is not None:
            key_padding_mask = ops.unsqueeze(key_padding_mask, 0)
    heads = _Heads.of(query, embed_dim_to_check, num_heads)
    padding = additive_mask(key_padding_mask, "key_padding_mask", query)
    causal = is_causal and padding is None and not need_weights
    causal = causal and bias_k is None and not add_zero_attn
    mask = None if causal else additive_mask(attn_mask, "attn_mask", query)
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        q, k, v = _separate_projection((query, key, value), weights, in_proj_bias)
    else:
        q, k, v = _packed_projection(query, key, value, in_proj_weight, in_proj_bias)
    if mask is not None:
        mask = _fit_mask(mask, heads.batch, num_heads, query.shape[0], key.shape[0])
    if bias_k is not None and bias_v is not None:
        _require(static_k is None and static_v is None, "bias cannot be added to static key/value")
        k = ops.cat((k, ops.repeat(bias_k, (1, heads.batch, 1))), 0)
        v = ops.cat((v, ops.repeat(bias_v, (1, heads.batch, 1))), 0)
        mask, padding = _one_more(mask), _one_more(padding)
    q = heads.split(q)
    k = heads.split(k) if static_k is None else heads.checked(static_k, "static_k")
    v = heads.split(v) if static_v is None else heads.checked(static_v, "static_v")
    if add_zero_attn:
        k, v = heads.with_zeros(k), heads.with_zeros(v)
        mask, padding = _one_more(mask), _one_more(padding)
    if padding is not None:
        mask = _with_padding(mask, padding, heads.batch, num_heads, k.shape[1])
    attend = _attend if need_weights else heads.attend_fused
    out, attended = attend(q, k, v, mask, dropout_p if training else 0.0, causal)
    out = ops.linear(heads.join(out), out_proj_weight, out_proj_bias)
    if attended is not None:
        attended = ops.unflatten(attended, 0, (heads.batch, num_heads))
        attended = ops.mean(attended, 1) if average_attn_weights else attended
    if not batched:
        out = ops.squeeze(out, 1)
        attended = None if attended is None else ops.squeeze(attended, 0)
    return out, attended
