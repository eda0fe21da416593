"""Some of the models as functions of their weights, for JAX: (weights by name, inputs...).

Sizes that the weights have are not asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

Weights = Mapping[str, Any]


def linear(weights: Weights, name: str, x: Any) -> Any:
    """x @ weight.T + bias."""
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def bert(
    jax: ModuleType, *, heads: int = 6, pooled: bool = False, eps: float = 1e-12, **_: Any
) -> Callable[..., Any]:
    """`transformers.bert`."""
    numpy = jax.numpy

    def norm(weights: Weights, name: str, x: Any) -> Any:
        scaled = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + eps)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def attention(weights: Weights, name: str, x: Any) -> Any:
        q, k, v = (linear(weights, f"{name}.self.{part}", x).reshape(*x.shape[:2], heads, -1)
                   for part in ("query", "key", "value"))
        mixed = jax.nn.dot_product_attention(q, k, v).reshape(x.shape)
        mixed = linear(weights, f"{name}.output.dense", mixed)
        return norm(weights, f"{name}.output.LayerNorm", mixed + x)

    def function(weights: Weights, ids: Any) -> Any:
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = norm(weights, "embeddings.LayerNorm", x)
        layer = 0
        while f"encoder.layer.{layer}.output.dense.weight" in weights:
            name = f"encoder.layer.{layer}"
            x = attention(weights, f"{name}.attention", x)
            y = jax.nn.gelu(linear(weights, f"{name}.intermediate.dense", x), approximate=False)
            x = norm(weights, f"{name}.output.LayerNorm",
                     linear(weights, f"{name}.output.dense", y) + x)
            layer += 1
        if not pooled:
            return x
        mean = x.mean(1)
        return mean / numpy.linalg.norm(mean, axis=-1, keepdims=True)

    return function


def tabular(jax: ModuleType, **_: Any) -> Callable[..., Any]:
    """`tables.tabular`."""

    def function(weights: Weights, ids: Any, x: Any) -> Any:
        scale = weights["norm.weight"] * jax.lax.rsqrt(weights["norm.running_var"] + 1e-5)
        x = (x - weights["norm.running_mean"]) * scale + weights["norm.bias"]
        parts = [weights[f"embeddings.{number}.weight"][ids[:, number]]
                 for number in range(ids.shape[1])]
        x = jax.numpy.concatenate([*parts, x], 1)
        names = sorted((name.removesuffix(".weight") for name in weights
                        if name.startswith("layers.") and name.endswith(".weight")),
                       key=lambda name: int(name.partition(".")[2]))
        for number, name in enumerate(names):
            x = linear(weights, name, jax.nn.relu(x) if number else x)
        return x

    return function
