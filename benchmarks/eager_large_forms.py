"""More cases of `benchmarks.eager_large`: the forms in which users have large tensors.

Half precision, layouts other than contiguous, integers and masks, reductions over each dim, many
tensors joined, and what the steps of a training loop are made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.eager_large_cases import (
    NORMAL,
    ONE,
    POSITIVE,
    TABLE,
    TWO,
    Case,
    N,
    backward_of,
    functional,
    integers,
    mask,
    named,
    normal,
    plain,
    uniform,
    words,
)

HALVES = ("bfloat16", "float16")
ALL = ("float32", "float64", *HALVES)
_T = normal(*TABLE)
_CUBE = uniform(-1, 1, 128, 64, 256)
_IMAGE = normal(8, 64, 64, 64)


def channels_last(lib: Any, x: Any) -> Any:
    return x.contiguous(memory_format=lib.channels_last)


def prepared(form: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """The call of a function on what `form(lib, *tensors)` gives, which is not timed."""

    def prepare(lib: Any, *tensors: Any) -> Callable[[], Any]:
        made = form(lib, *tensors)
        made = made if isinstance(made, tuple) else (made,)
        return lambda: function(lib, *made)

    return prepare


def backward_of_all(function: Callable[..., Any]) -> Callable[..., Callable[[], Any]]:
    """The gradients of all floating tensors; only the backward is timed."""

    def prepare(lib: Any, *tensors: Any) -> Callable[[], Any]:
        leaves = [t.requires_grad_() for t in tensors if t.is_floating_point()]
        out = function(lib, *tensors)
        seed = lib.ones_like(out)
        return lambda: lib.autograd.grad(out, leaves, seed, retain_graph=True)

    return prepare


def step_of(name: str, **options: Any) -> Callable[..., Callable[[], Any]]:
    """A step of an optimiser; the parameters and their gradients are of one shape."""

    def prepare(lib: Any, *tensors: Any) -> Callable[[], Any]:
        parameters = [t.clone().requires_grad_() for t in tensors]
        for parameter, t in zip(parameters, tensors, strict=True):
            parameter.grad = t * 0.5
        optimizer = getattr(lib.optim, name)(parameters, **options)

        def call() -> Any:
            optimizer.step()
            return ()

        return call

    return prepare


# -- pointwise

_LAYOUTS: dict[str, Callable[..., Any]] = {
    "x[:, ::2]": lambda lib, x: x[:, ::2],
    "x[::2]": lambda lib, x: x[::2],
    "x.T": lambda lib, x: x.T,
    "x[1:, 1:]": lambda lib, x: x[1:, 1:],
}
POINTWISE = [
    *(Case(name, [NORMAL], named(name), ("float16",))
      for name in words("abs neg exp sin tanh sigmoid erf relu square nn.functional.gelu",
                        "nn.functional.silu nn.functional.softplus nn.functional.leaky_relu",
                        "nn.functional.hardswish round isnan")),
    *(Case(name, [POSITIVE], named(name), ("float16",)) for name in words("sqrt rsqrt log")),
    *(Case(name, [NORMAL, normal(N)], named(name), ("float16",))
      for name in words("add sub mul div maximum eq lt")),
    *(Case(f"{name} of {layout}", [_T],
           prepared(form, lambda lib, x, name=name: getattr(lib, name)(x)), TWO)
      for name in words("relu sigmoid square") for layout, form in _LAYOUTS.items()),
    *(Case(f"{layout} + y", [_T],
           prepared(lambda lib, x, form=form: (form(lib, x), form(lib, x).contiguous()),
                    lambda lib, x, y: x + y), TWO)
      for layout, form in _LAYOUTS.items()),
    Case("x * 2", [NORMAL], named("mul", 2.0), ALL),
    Case("x ** 2", [NORMAL], named("pow", 2), HALVES),
    Case("x + row", [_T, normal(TABLE[1])], named("add"), ("float16",)),
    Case("x * column", [_T, normal(TABLE[0], 1)], named("mul"), HALVES),
    Case("x * channels", [_IMAGE, normal(64, 1, 1)], named("mul"), ("float32", "bfloat16")),
    Case("row + column", [normal(2048), normal(1024, 1)], named("add"), ALL),
    Case("add of channels_last", [_IMAGE, normal(8, 64, 64, 64)],
         prepared(lambda lib, x, y: (channels_last(lib, x), channels_last(lib, y)),
                  lambda lib, x, y: x + y), TWO),
    Case("channels_last + contiguous", [_IMAGE, normal(8, 64, 64, 64)],
         prepared(lambda lib, x, y: (channels_last(lib, x), y), lambda lib, x, y: x + y), ONE),
    Case("channels_last * channels", [_IMAGE, normal(64, 1, 1)],
         prepared(lambda lib, x, y: (channels_last(lib, x), y), lambda lib, x, y: x * y), ONE),
    Case("relu of channels_last", [_IMAGE],
         prepared(channels_last, lambda lib, x: x.relu()), ("float32", "bfloat16")),
    Case("where(x > 0, x, y)", [NORMAL, normal(N)],
         plain(lambda lib, x, y: lib.where(x > 0, x, y)), ALL),
    Case("where(m, x, 0)", [NORMAL, mask(N)], plain(lambda lib, x, m: lib.where(m, x, 0.0)), ALL),
    Case("where(column, x, row)", [_T, mask(1024, 1), normal(2048)],
         plain(lambda lib, x, m, y: lib.where(m, x, y)), ONE),
    Case("where int64", [integers(0, 9, N), mask(N)],
         plain(lambda lib, x, m: lib.where(m, x, -1)), ("int64",)),
    Case("masked_fill broadcast", [normal(4, 8, 256, 256), mask(4, 1, 1, 256)],
         named("masked_fill", float("-inf")), ("float32", *HALVES)),
    Case("masked_fill triangle", [normal(4, 8, 256, 256),
                                  lambda random: np.triu(np.ones((256, 256), bool), 1)],
         named("masked_fill", float("-inf")), ("float32", *HALVES)),
    Case("masked_fill int64", [integers(0, 9, N), mask(N)], named("masked_fill", 7), ("int64",)),
    Case("mask * x", [NORMAL, mask(N)], plain(lambda lib, x, m: x * m), ("float32", *HALVES)),
    Case("mask | mask", [mask(N), mask(N)], plain(lambda lib, x, y: x | y), ("bool",)),
    Case("~mask", [mask(N)], plain(lambda lib, x: ~x), ("bool",)),
    Case("int64 == 3", [integers(0, 9, N)], named("eq", 3), ("int64",)),
    Case("int64 * 2 + 1", [integers(0, 9, N)], plain(lambda lib, x: x * 2 + 1), ("int64",)),
    Case("int64 // 3", [integers(0, 99, N)], plain(lambda lib, x: x // 3), ("int64",)),
    Case("int64 clamp", [integers(0, 99, N)], named("clamp", 5, 50), ("int64",)),
    Case("uint8 + uint8", [integers(0, 99, N, dtype=np.uint8), integers(0, 99, N, dtype=np.uint8)],
         named("add"), ("uint8",)),
    Case("uint8 / 255", [integers(0, 256, N, dtype=np.uint8)],
         plain(lambda lib, x: x.to(lib.float32) / 255), ("uint8",)),
    *(Case(f"int64 to {to}", [integers(-99, 99, N)],
           plain(lambda lib, x, to=to: x.to(getattr(lib, to))), ("int64",))
      for to in words("float32 float64 int32 bool uint8 bfloat16 float16")),
    *(Case(f"mask to {to}", [mask(N)], plain(lambda lib, x, to=to: x.to(getattr(lib, to))),
           ("bool",))
      for to in words("float32 int64 uint8 bfloat16")),
    *(Case(f"to {to}", [NORMAL], plain(lambda lib, x, to=to: x.to(getattr(lib, to))), HALVES)
      for to in words("float32 float64 int64 bool")),
    Case("float32 to bool", [NORMAL], plain(lambda lib, x: x.to(lib.bool)), ONE),
    Case("float32 to uint8", [POSITIVE], plain(lambda lib, x: x.to(lib.uint8)), ONE),
    Case("float32 to int32", [NORMAL], plain(lambda lib, x: x.to(lib.int32)), ONE),
    Case("x.T to float16", [_T], plain(lambda lib, x: x.T.to(lib.float16)), ONE),
]

# -- reductions, scans, orders

_REDUCED = words("sum mean amax argmax std var logsumexp linalg.vector_norm")
REDUCTION = [
    *(Case(f"{name} dim {dim}", [_CUBE], named(name, dim=dim), HALVES)
      for name in _REDUCED for dim in (0, 1, 2)),
    *(Case(f"{name} of all", [uniform(0.999, 1.001, N)], named(name), ("float16",))
      for name in words("sum mean amax argmax std linalg.vector_norm")),
    *(Case(f"{name} int64 dim {dim}", [integers(-999, 999, 128, 64, 256)], named(name, dim=dim),
           ("int64",))
      for name in words("sum amax argmax prod") for dim in (0, 1, 2)),
    *(Case(f"{name} int64 of all", [integers(-999, 999, N)], named(name), ("int64",))
      for name in words("amax argmax")),
    *(Case(f"sum of a mask dim {dim}", [mask(1024, 2048)], named("sum", dim=dim), ("bool",))
      for dim in (0, 1)),
    *(Case(f"{name} of {layout}{where}", [_T],
           prepared(form, lambda lib, x, name=name, dims=dims: getattr(lib, name)(x, *dims)), ONE)
      for name in words("sum mean amax argmax") for layout, form in _LAYOUTS.items()
      for where, dims in (("", ()), (" dim 0", (0,)), (" dim 1", (1,)))),
    *(Case(f"{name} of images over {dims}", [_IMAGE], named(name, dim=dims),
           ("float32", "bfloat16"))
      for name in words("sum mean amax var")
      for dims in ((2, 3), (0, 2, 3), (1, 2, 3), (0, 1), (1, 3))),
    *(Case(f"{name} of channels_last over {dims}", [_IMAGE],
           prepared(channels_last,
                    lambda lib, x, name=name, dims=dims: getattr(lib, name)(x, dims)), ONE)
      for name in words("mean amax var") for dims in ((2, 3), (0, 2, 3), 1)),
    Case("isnan().any()", [NORMAL], plain(lambda lib, x: x.isnan().any()), ("float32", *HALVES)),
    Case("(x > 0).sum()", [NORMAL], plain(lambda lib, x: (x > 0).sum()), ALL),
    Case("(a == b).float().mean()", [integers(0, 9, N), integers(0, 9, N)],
         plain(lambda lib, x, y: (x == y).float().mean()), ("int64",)),
    Case("clip_grad_norm_", [normal(N)],
         plain(lambda lib, x: lib.linalg.vector_norm(x) + 1e-6), ("float32", "bfloat16")),
    *(Case(f"{name} dim {dim}", [_T], named(name, dim=dim), ("bfloat16",))
      for name in words("softmax log_softmax cumsum") for dim in (0, 1)),
    Case("softmax dim 1", [_T], named("softmax", dim=1), ("float16",)),
    *(Case(f"cumsum int64 dim {dim}", [integers(0, 9, *TABLE)], named("cumsum", dim=dim),
           ("int64",)) for dim in (0, 1)),
    Case("cumsum of a mask", [mask(*TABLE)], named("cumsum", dim=1), ("bool",)),
    Case("cumsum of x.T", [_T], plain(lambda lib, x: x.T.cumsum(1)), ONE),
    Case("argmax of words", [normal(64, 50257)], named("argmax", dim=-1), ALL),
    Case("topk of words", [normal(32, 50257)],
         plain(lambda lib, x: lib.topk(x, 50).values), ("float32", "bfloat16")),
    Case("sort of words", [normal(8, 50257)],
         plain(lambda lib, x: lib.sort(x, descending=True).values), ("float32", "bfloat16")),
    Case("sort dim 1", [normal(512, 1024)], plain(lambda lib, x: lib.sort(x, 1).values),
         ("float64", *HALVES)),
    Case("argsort int64", [integers(0, 1 << 20, N // 4)], named("argsort"), ("int64",)),
    Case("argsort of all", [normal(N // 4)], named("argsort"), TWO, True),
    Case("min with indices dim 1", [_T], plain(lambda lib, x: tuple(lib.min(x, 1))), HALVES),
    Case("unique with counts", [integers(0, 1000, N // 4)],
         plain(lambda lib, x: lib.unique(x, return_inverse=True, return_counts=True)), ("int64",)),
]

# -- moves and indexing

_PLACES = integers(0, 2048, *TABLE)


def _many(count: int, *shape: int) -> list[Any]:
    return [normal(*shape) for _ in range(count)]


MOVE = [
    Case("cat of 64, dim 0", _many(64, 16, 2048), plain(lambda lib, *x: lib.cat(x, 0)), ONE),
    Case("cat of 64, dim 1", _many(64, 1024, 32), plain(lambda lib, *x: lib.cat(x, 1)), ALL),
    Case("cat of 64, last dim", _many(64, 8, 256, 16), plain(lambda lib, *x: lib.cat(x, -1)), ONE),
    Case("stack of 64, dim 0", _many(64, 128, 256), plain(lambda lib, *x: lib.stack(x)), ONE),
    Case("stack of 64, dim 1", _many(64, 128, 256), plain(lambda lib, *x: lib.stack(x, 1)), ONE),
    Case("stack of 64, dim -1", _many(64, 128, 256), plain(lambda lib, *x: lib.stack(x, -1)),
         ("float32", "bfloat16")),
    Case("cat of images dim 1", [_IMAGE, normal(8, 32, 64, 64)],
         plain(lambda lib, x, y: lib.cat([x, y], 1)), ONE),
    Case("cat of channels_last", [_IMAGE, normal(8, 32, 64, 64)],
         prepared(lambda lib, x, y: (channels_last(lib, x), channels_last(lib, y)),
                  lambda lib, x, y: lib.cat([x, y], 1)), ONE),
    Case("split and cat", [_T],
         plain(lambda lib, x: lib.cat([p + 1 for p in x.split(256, 1)], 1)), ONE),
    Case("to channels_last", [_IMAGE], plain(channels_last), ALL),
    Case("from channels_last", [_IMAGE],
         prepared(channels_last, lambda lib, x: x.contiguous()), ALL),
    Case("heads apart", [normal(4, 256, 8, 256)],
         plain(lambda lib, x: x.transpose(1, 2).contiguous()), ALL),
    Case("x.T.contiguous()", [_T], plain(lambda lib, x: x.T.contiguous()), ("float16",)),
    Case("x.T.contiguous() of uint8", [integers(0, 256, *TABLE, dtype=np.uint8)],
         plain(lambda lib, x: x.T.contiguous()), ("uint8",)),
    Case("x.mT.contiguous() of int64", [integers(0, 9, *TABLE)],
         plain(lambda lib, x: x.T.contiguous()), ("int64",)),
    Case("x[:, ::2].contiguous()", [_T], plain(lambda lib, x: x[:, ::2].contiguous()), ALL),
    Case("x[:, :1000].contiguous()", [_T], plain(lambda lib, x: x[:, :1000].contiguous()), ALL),
    Case("permute(2, 0, 1).contiguous()", [_CUBE],
         plain(lambda lib, x: x.permute(2, 0, 1).contiguous()), ALL),
    Case("permute(2, 1, 0).contiguous()", [_CUBE],
         plain(lambda lib, x: x.permute(2, 1, 0).contiguous()), ONE),
    Case("x[::2] = y", [_T, normal(512, 2048)],
         plain(lambda lib, x, y: x[::2].copy_(y)), ONE),
    Case("x[:, ::2] = 0", [_T], plain(lambda lib, x: x[:, ::2].zero_()), ONE),
    Case("masked_select", [_T, mask(*TABLE)], named("masked_select"), ("float64", *HALVES)),
    Case("nonzero, few", [lambda random: random.random(TABLE) > 0.99], named("nonzero"),
         ("bool",)),
    Case("x[mask] of rows", [_T, mask(1024)], plain(lambda lib, x, m: x[m]), ONE),
    Case("x[:, i]", [_T, integers(0, 2048, 1024)], plain(lambda lib, x, i: x[:, i]), TWO),
    Case("x[i] in half", [_T, integers(0, 1024, 1024)], plain(lambda lib, x, i: x[i]), HALVES),
    Case("index_put accumulate", [normal(1024, 64), integers(0, 1024, 16384), normal(16384, 64)],
         plain(lambda lib, x, i, y: x.index_put((i,), y, accumulate=True)), ONE),
    Case("gather 1", [_T, _PLACES], plain(lambda lib, x, i: lib.gather(x, 1, i)), HALVES),
    Case("gather int64", [_PLACES, integers(0, 2048, *TABLE)],
         plain(lambda lib, x, i: lib.gather(x, 1, i)), ("int64",)),
    Case("scatter of a tensor", [_T, _PLACES, normal(*TABLE)],
         plain(lambda lib, x, i, y: lib.scatter(x, 1, i[:, :1], y)), ONE),
    *(Case(f"scatter_add {dim}", [_T, integers(0, 1024, *TABLE), normal(*TABLE)],
           plain(lambda lib, x, i, y, dim=dim: lib.scatter_add(x, dim, i, y)),
           ("float64", "bfloat16")) for dim in (0, 1)),
    Case("scatter_reduce mean", [normal(1024, 2048), integers(0, 1024, *TABLE), normal(*TABLE)],
         plain(lambda lib, x, i, y: lib.scatter_reduce(x, 0, i, y, "mean")), ONE),
    Case("index_add 0", [normal(1024, 2048), integers(0, 1024, 1024), normal(1024, 2048)],
         plain(lambda lib, x, i, y: lib.index_add(x, 0, i, y)), ("float64", "bfloat16")),
    Case("one_hot of classes", [integers(0, 1000, 2048)], functional("one_hot", 1000),
         ("int64",)),
    Case("repeat_interleave by a tensor", [normal(65536, 16), integers(0, 4, 65536)],
         plain(lambda lib, x, i: lib.repeat_interleave(x, i, dim=0)), ONE),
]

# -- training steps and layers

_WORDS = normal(128, 50257)
_ANSWERS = integers(0, 50257, 128)
_HEADS = normal(4, 8, 256, 64)
_TOKENS = normal(2048, 1024)


def _attention(lib: Any, q: Any, k: Any, v: Any, **options: Any) -> Any:
    return lib.nn.functional.scaled_dot_product_attention(q, k, v, **options)


def _batch_norm(lib: Any, x: Any, *affine: Any) -> Any:
    return lib.nn.functional.batch_norm(x, None, None, *affine, training=True)


def _layer_norm(lib: Any, x: Any, *affine: Any) -> Any:
    return lib.nn.functional.layer_norm(x, x.shape[-1:], *affine)


def _group_norm(lib: Any, x: Any, *affine: Any) -> Any:
    return lib.nn.functional.group_norm(x, 8, *affine)


def _cross_entropy(lib: Any, x: Any, y: Any, **options: Any) -> Any:
    return lib.nn.functional.cross_entropy(x, y, **options)


def _bag(lib: Any, weight: Any, places: Any) -> Any:
    return lib.nn.functional.embedding_bag(places, weight)


def _embedding(lib: Any, weight: Any, places: Any) -> Any:
    return lib.nn.functional.embedding(places, weight)


def _pair(name: str, inputs: list[Any], function: Callable[..., Any],
          dtypes: tuple[str, ...] = ONE) -> list[Case]:  # fmt: skip
    """A function and the gradients of all it was given."""
    return [Case(name, inputs, plain(function), dtypes),
            Case(f"{name} backward", inputs, backward_of_all(function), dtypes)]


_CHANNELS, _FEATURES = [normal(64), normal(64)], [normal(1024), normal(1024)]
NEURAL = [
    *_pair("cross_entropy 50k", [_WORDS, _ANSWERS], _cross_entropy, ("float32", "bfloat16")),
    *_pair("cross_entropy smoothed 50k", [_WORDS, _ANSWERS],
           lambda lib, x, y: _cross_entropy(lib, x, y, label_smoothing=0.1)),
    *_pair("log_softmax 50k", [_WORDS], lambda lib, x: x.log_softmax(-1)),
    *_pair("softmax 50k", [_WORDS], lambda lib, x: x.softmax(-1)),
    *_pair("logsumexp 50k", [_WORDS], lambda lib, x: x.logsumexp(-1)),
    *_pair("affine layer_norm", [_TOKENS, *_FEATURES], _layer_norm, ("float32", "bfloat16")),
    *_pair("affine rms_norm", [_TOKENS, normal(1024)],
           lambda lib, x, w: lib.nn.functional.rms_norm(x, (1024,), w), ("float32", "bfloat16")),
    *_pair("affine batch_norm", [_IMAGE, *_CHANNELS], _batch_norm, ("float32", "float64")),
    *_pair("affine batch_norm 8x64x17x17", [normal(8, 64, 17, 17), *_CHANNELS], _batch_norm),
    *_pair("batch_norm of features", [_TOKENS, *_FEATURES], _batch_norm),
    *_pair("affine group_norm", [_IMAGE, *_CHANNELS], _group_norm),
    *_pair("batch_norm of channels_last", [_IMAGE, *_CHANNELS],
           lambda lib, x, *a: _batch_norm(lib, channels_last(lib, x), *a)),
    *_pair("attention", [_HEADS, _HEADS, _HEADS], _attention, ("float32", "bfloat16")),
    *_pair("causal attention", [_HEADS, _HEADS, _HEADS],
           lambda lib, q, k, v: _attention(lib, q, k, v, is_causal=True)),
    *_pair("masked attention", [_HEADS, _HEADS, _HEADS, mask(4, 1, 256, 256)],
           lambda lib, q, k, v, m: _attention(lib, q, k, v, attn_mask=m)),
    *_pair("attention 2x12x512x64", [normal(2, 12, 512, 64)] * 3, _attention),
    *_pair("scores q @ k.mT", [_HEADS, _HEADS], lambda lib, q, k: q @ k.mT),
    *_pair("linear", [normal(2048, 512), normal(512, 512), normal(512)],
           lambda lib, *x: lib.nn.functional.linear(*x), ("float32", "float64", "bfloat16")),
    *_pair("bmm", [normal(64, 128, 128)] * 2, lambda lib, x, y: x @ y),
    *_pair("dropout 0", [NORMAL], lambda lib, x: lib.nn.functional.dropout(x, 0.0)),
    *_pair("max_pool2d 3x3", [_IMAGE], lambda lib, x: lib.nn.functional.max_pool2d(x, 3, 2, 1)),
    *_pair("avg_pool2d 3x3", [_IMAGE], lambda lib, x: lib.nn.functional.avg_pool2d(x, 3, 2, 1)),
    *_pair("adaptive_avg_pool2d(1)", [_IMAGE],
           lambda lib, x: lib.nn.functional.adaptive_avg_pool2d(x, 1)),
    *_pair("interpolate bilinear", [normal(8, 64, 32, 32)],
           lambda lib, x: lib.nn.functional.interpolate(x, scale_factor=2, mode="bilinear")),
    *_pair("embedding 50k", [normal(50257, 128), integers(0, 50257, 8192)], _embedding),
    *_pair("embedding_bag", [normal(10000, 64), integers(0, 10000, 2048, 16)], _bag),
    *_pair("x + row", [_T, normal(2048)], lambda lib, x, y: x + y, TWO),
    *_pair("x * row", [_T, normal(2048)], lambda lib, x, y: x * y, TWO),
    *_pair("x * column", [_T, normal(1024, 1)], lambda lib, x, y: x * y),
    *_pair("x * channels", [_IMAGE, normal(64, 1, 1)], lambda lib, x, y: x * y),
    *_pair("cat of 64", _many(64, 1024, 32), lambda lib, *x: lib.cat(x, 1)),
    *_pair("stack of 64", _many(64, 128, 256), lambda lib, *x: lib.stack(x, 1)),
    *_pair("x.T * y", [_T, normal(2048, 1024)], lambda lib, x, y: x.T * y),
    *_pair("x[:, ::2]", [_T], lambda lib, x: x[:, ::2] * 1),
    *_pair("x[i]", [_T, integers(0, 1024, 1024)], lambda lib, x, i: x[i]),
    *_pair("x[mask]", [_T, mask(*TABLE)], lambda lib, x, m: x[m]),
    *_pair("masked_fill", [_T, mask(*TABLE)], lambda lib, x, m: x.masked_fill(m, 0.0)),
    *_pair("mse_loss", [NORMAL, normal(N)], lambda lib, *x: lib.nn.functional.mse_loss(*x)),
    *_pair("l1_loss", [NORMAL, normal(N)], lambda lib, *x: lib.nn.functional.l1_loss(*x)),
    *_pair("kl_div", [uniform(-3, -1, N), uniform(0.1, 0.9, N)],
           lambda lib, *x: lib.nn.functional.kl_div(*x, reduction="sum")),
    *_pair("mean over (2, 3)", [_IMAGE], lambda lib, x: x.mean((2, 3))),
    *_pair("var over (0, 2, 3)", [_IMAGE], lambda lib, x: x.var((0, 2, 3))),
    *_pair("norm of rows", [_T], lambda lib, x: x.norm(dim=1)),
    *_pair("max of rows", [_T], lambda lib, x: x.max(1).values),
    *_pair("sort of rows", [normal(512, 1024)], lambda lib, x: x.sort(1).values),
    *_pair("outer", [normal(1024), normal(2048)], lambda lib, x, y: lib.outer(x, y)),
    *(Case(f"{name} backward", [NORMAL],
           backward_of(lambda lib, x, name=name: getattr(lib.nn.functional, name)(x)), HALVES)
      for name in words("relu gelu silu")),
    *(Case(f"{name} step", [normal(3 << 20), normal(1 << 20), normal(1024, 1024)],
           step_of(name, **options))
      for name, options in (("AdamW", {}), ("Adam", {}), ("RMSprop", {}), ("Adagrad", {}),
                            ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-4}))),
    Case("AdamW step of 10 M", [normal(10_000_000)], step_of("AdamW")),
]

# Points: rows of few elements.
_PAIRS = normal(512, 512, 3)
POINTS: list[Case] = [
    Case("points p - q", [normal(512, 1, 3), normal(512, 3)], plain(lambda lib, p, q: p - q)),
    Case("points * weights", [_PAIRS, normal(512, 512, 1)], plain(lambda lib, p, w: p * w)),
    Case("features x - centres", [normal(2000, 1, 16), normal(20, 16)],
         plain(lambda lib, x, c: x - c)),
    *(Case(f"{name} of points", [_PAIRS], named(name, dim=-1))
      for name in words("sum mean prod amax any norm")),
    Case("max of points", [_PAIRS], plain(lambda lib, p: p.max(-1))),
]

FORMS: list[Case] = [*POINTWISE, *REDUCTION, *MOVE, *NEURAL, *POINTS]
