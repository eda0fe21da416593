"""Multi-head attention as a module, and the choice of attention's implementation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from graphwright.nn import functional as F
from graphwright.nn import init
from graphwright.nn.layers.linear import NonDynamicallyQuantizableLinear
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class SDPBackend(Enum):
    """PyTorch's implementations of `scaled_dot_product_attention`; here there is one."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Takes one SDPBackend or a list of them; without effect, as there is one implementation.

    Raises AssertionError for what is no SDPBackend.
    """
    given = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not given or not all(isinstance(backend, SDPBackend) for backend in given):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of instances")
    yield


class MultiheadAttention(Module):
    """Attention in several heads (Vaswani et al., 2017).

    query [L, N, embed_dim], key [S, N, kdim], value [S, N, vdim], N first with `batch_first`,
    or none. Weights start as xavier_uniform_, biases as zeros. ValueError unless the sizes are
    positive, AssertionError unless num_heads divides embed_dim.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def parameter(wanted: bool, *shape: int) -> Parameter | None:
            return Parameter(ops.empty(shape, device=device, dtype=dtype)) if wanted else None

        same = self._qkv_same_embed_dim
        self.register_parameter("q_proj_weight", parameter(not same, embed_dim, embed_dim))
        self.register_parameter("k_proj_weight", parameter(not same, embed_dim, self.kdim))
        self.register_parameter("v_proj_weight", parameter(not same, embed_dim, self.vdim))
        self.register_parameter("in_proj_weight", parameter(same, 3 * embed_dim, embed_dim))
        self.register_parameter("in_proj_bias", parameter(bias, 3 * embed_dim))
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        self.register_parameter("bias_k", parameter(add_bias_kv, 1, 1, embed_dim))
        self.register_parameter("bias_v", parameter(add_bias_kv, 1, 1, embed_dim))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw new initial values."""
        for weight in (
            self.in_proj_weight,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
        ):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        swapped = self.batch_first and query.ndim == 3
        if swapped:
            same_key, same_value = key is query, value is key
            query = query.transpose(0, 1)
            key = query if same_key else key.transpose(0, 1)
            value = key if same_value else value.transpose(0, 1)
        out, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (out.transpose(0, 1) if swapped else out), weights
