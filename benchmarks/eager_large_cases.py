"""The cases of `benchmarks.eager_large`: names, inputs, the op in a library of PyTorch's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Make = Callable[[np.random.Generator], np.ndarray]
N = 2 << 20
TABLE = (1024, 2048)

ONE = ("float32",)
TWO = ("float32", "float64")
THREE = ("float32", "float64", "bfloat16")


class Case(NamedTuple):
    """An op on large tensors. `prepare(lib, *tensors)` gives the call that is timed.

    `random`: the results are not compared, as they are drawn or equal elements may change places.
    """

    name: str
    inputs: Sequence[Make]
    prepare: Callable[..., Callable[[], Any]]
    dtypes: tuple[str, ...] = ONE
    random: bool = False


def words(*lines: str) -> list[str]:
    return " ".join(lines).split()


# -- inputs


def normal(*shape: int) -> Make:
    return lambda random: random.standard_normal(shape, dtype=np.float32)


def uniform(low: float, high: float, *shape: int) -> Make:
    def make(random: np.random.Generator) -> np.ndarray:
        return (random.random(shape, dtype=np.float32) * (high - low) + low).astype(np.float32)

    return make


def integers(low: int, high: int, *shape: int, dtype: Any = np.int64) -> Make:
    return lambda random: random.integers(low, high, shape, dtype=dtype)


def mask(*shape: int) -> Make:
    return lambda random: random.random(shape) > 0.5


# -- calls


def plain(function: Callable[..., Any]) -> Callable[..., Callable[[], Any]]:
    return lambda lib, *tensors: lambda: function(lib, *tensors)


def named(name: str, *rest: Any, **options: Any) -> Callable[..., Callable[[], Any]]:
    """The function of that name, dots followed, with `rest` after the tensors."""

    def prepare(lib: Any, *tensors: Any) -> Callable[[], Any]:
        function = lib
        for part in name.split("."):
            function = getattr(function, part)
        return lambda: function(*tensors, *rest, **options)

    return prepare


def backward_of(function: Callable[..., Any]) -> Callable[..., Callable[[], Any]]:
    """The gradient of the first tensor; only the backward is timed."""

    def prepare(lib: Any, x: Any, *rest: Any) -> Callable[[], Any]:
        x = x.requires_grad_()
        out = function(lib, x, *rest)
        seed = lib.ones_like(out)

        def call() -> Any:
            x.grad = None
            out.backward(seed, retain_graph=True)
            return x.grad

        return call

    return prepare


def functional(name: str, *rest: Any, **options: Any) -> Callable[..., Callable[[], Any]]:
    return named(f"nn.functional.{name}", *rest, **options)


# -- pointwise

NORMAL, POSITIVE, UNIT = normal(N), uniform(0.1, 9, N), uniform(-0.99, 0.99, N)
ANY_SIGN = uniform(-8, 8, N)

_UNARY: dict[str, Make] = {
    **dict.fromkeys(
        words("abs neg ceil floor round trunc frac sign sgn signbit isnan isinf isfinite isposinf",
         "exp exp2 expm1 sin cos tan sinh cosh tanh asinh atan erf erfc sigmoid sinc square relu",
         "deg2rad nan_to_num logical_not special.i0 special.ndtr special.log_ndtr",
         "nn.functional.softplus nn.functional.mish nn.functional.silu nn.functional.gelu",
         "nn.functional.leaky_relu nn.functional.elu nn.functional.selu nn.functional.celu",
         "nn.functional.hardswish nn.functional.hardsigmoid nn.functional.hardtanh",
         "nn.functional.relu6 nn.functional.softsign nn.functional.logsigmoid",
         "nn.functional.tanhshrink nn.functional.hardshrink nn.functional.softshrink"),
        NORMAL,
    ),
    **dict.fromkeys(words("sqrt rsqrt reciprocal log log2 log10 log1p lgamma digamma"), POSITIVE),
    **dict.fromkeys(words("asin acos atanh erfinv"), UNIT),
    "acosh": uniform(1, 9, N),
    "logit": uniform(0.01, 0.99, N),
    "special.entr": uniform(0.01, 0.99, N),
}
_NO_BFLOAT16 = ("special.log_ndtr",)    # of PyTorch
UNARY = [Case(name, [make], named(name), TWO if name in _NO_BFLOAT16 else THREE)
         for name, make in _UNARY.items()]
UNARY += [
    Case("gelu tanh", [NORMAL], functional("gelu", approximate="tanh"), TWO),
    Case("clamp", [NORMAL], named("clamp", -0.5, 0.5), THREE),
    Case("clamp_min", [NORMAL], named("clamp_min", 0.1), TWO),
    Case("x ** 2", [NORMAL], named("pow", 2), TWO),
    Case("x ** 3", [NORMAL], named("pow", 3), TWO),
    Case("x ** 2.5", [POSITIVE], named("pow", 2.5), TWO),
    Case("2 ** x", [NORMAL], plain(lambda lib, x: 2.0**x), TWO),
    Case("round decimals", [NORMAL], named("round", decimals=2), TWO),
    Case("threshold", [NORMAL], functional("threshold", 0.1, 2.0), TWO),
    Case("glu", [normal(*TABLE)], functional("glu"), ONE),
    Case("dropout", [NORMAL], functional("dropout", 0.3), ONE, True),
    Case("polygamma 1", [POSITIVE], plain(lambda lib, x: lib.polygamma(1, x)), ONE),
    Case("frexp", [NORMAL], plain(lambda lib, x: tuple(lib.frexp(x))), ONE),
]

_BINARY: dict[str, tuple[Make, Make]] = {
    **dict.fromkeys(words("add sub mul div maximum minimum fmax fmin eq lt ge logical_and",
                          "copysign hypot atan2 logaddexp logaddexp2 heaviside nextafter isclose"),
                    (NORMAL, normal(N))),
    **dict.fromkeys(words("fmod remainder floor_divide"), (ANY_SIGN, POSITIVE)),
    **dict.fromkeys(words("pow xlogy"), (POSITIVE, uniform(0.5, 3, N))),
}
BINARY = [Case(name, pair, named(name), THREE) for name, pair in _BINARY.items()]
BINARY += [
    Case("div trunc", [ANY_SIGN, POSITIVE], named("div", rounding_mode="trunc"), TWO),
    Case("remainder by a number", [ANY_SIGN], named("remainder", 0.7), TWO),
    Case("fmod by a number", [ANY_SIGN], named("fmod", 0.7), TWO),
    Case("floor_divide by a number", [ANY_SIGN], named("floor_divide", 0.7), TWO),
    Case("add alpha", [NORMAL, normal(N)], named("add", alpha=2.0), TWO),
    Case("lerp", [NORMAL, normal(N)], named("lerp", 0.3), THREE),
    Case("lerp by a tensor", [NORMAL, normal(N), uniform(0, 1, N)], named("lerp"), TWO),
    Case("addcmul", [NORMAL, normal(N), normal(N)], named("addcmul", value=0.5), THREE),
    Case("addcdiv", [NORMAL, normal(N), POSITIVE], named("addcdiv", value=0.5), THREE),
    Case("clamp with tensors", [NORMAL, uniform(-1, 0, N), uniform(0, 1, N)], named("clamp"), TWO),
    Case("where", [mask(N), NORMAL, normal(N)], named("where"), THREE),
    Case("masked_fill", [NORMAL, mask(N)], named("masked_fill", 0.5), THREE),
    Case("prelu", [normal(32, 64, 1024), normal(64)], named("prelu"), ONE),
    Case("mse_loss", [NORMAL, normal(N)], functional("mse_loss"), TWO),
    Case("smooth_l1_loss", [NORMAL, normal(N)], functional("smooth_l1_loss"), ONE),
    Case("bce with logits", [NORMAL, uniform(0, 1, N)],
         functional("binary_cross_entropy_with_logits"), ONE),
]

_SMALL, _WHOLE = integers(1, 20, N), integers(-1000, 1000, N)
INTEGER = [
    *(Case(f"{name} int64", [_WHOLE, _SMALL], named(name), ("int64",))
      for name in ("add", "mul", "fmod", "remainder", "floor_divide", "gcd", "lcm", "bitwise_and",
                   "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "eq", "lt",
                   "maximum", "div", "logical_and")),
    *(Case(f"{name} int32", [integers(-1000, 1000, N, dtype=np.int32),
                             integers(1, 20, N, dtype=np.int32)], named(name), ("int32",))
      for name in ("add", "mul", "remainder", "floor_divide", "gcd", "bitwise_left_shift")),
    Case("pow int64", [_SMALL], named("pow", 3), ("int64",)),
    Case("remainder int64 by a number", [_WHOLE], named("remainder", 7), ("int64",)),
    Case("bitwise_not int64", [_WHOLE], named("bitwise_not"), ("int64",)),
    Case("abs int64", [_WHOLE], named("abs"), ("int64",)),
    Case("sign int64", [_WHOLE], named("sign"), ("int64",)),
    Case("sum int64", [_WHOLE], named("sum"), ("int64",)),
    Case("exp int64", [_SMALL], named("exp"), ("int64",)),
    Case("int64 + 0.5", [_WHOLE], named("add", 0.5), ("int64",)),
    Case("int64 + float32", [_WHOLE, NORMAL], named("add"), ONE),
    Case("float32 < int64", [NORMAL, _WHOLE], named("lt"), ONE),
    Case("mask & mask", [mask(N), mask(N)], named("logical_and"), ("bool",)),
    Case("~mask", [mask(N)], named("logical_not"), ("bool",)),
    Case("mask sum", [mask(N)], named("sum"), ("bool",)),
    Case("float to int64", [ANY_SIGN], plain(lambda lib, x: x.to(lib.int64)), TWO),
    Case("float to bfloat16", [ANY_SIGN], plain(lambda lib, x: x.to(lib.bfloat16)), TWO),
    Case("float to float16", [ANY_SIGN], plain(lambda lib, x: x.to(lib.float16)), TWO),
    Case("float to float64", [ANY_SIGN], plain(lambda lib, x: x.to(lib.float64)), ONE),
]

_T = normal(*TABLE)
LAYOUT = [
    Case("x.T + y", [_T, normal(TABLE[1], TABLE[0])], plain(lambda lib, x, y: x.T + y), TWO),
    Case("x.T + y.T", [_T, normal(*TABLE)], plain(lambda lib, x, y: x.T + y.T), TWO),
    Case("x + row", [_T, normal(TABLE[1])], named("add"), THREE),
    Case("x + column", [_T, normal(TABLE[0], 1)], named("add"), THREE),
    Case("x * channels", [normal(16, 64, 45, 45), normal(64, 1, 1)], named("mul"), TWO),
    Case("exp(x.T)", [_T], plain(lambda lib, x: lib.exp(x.T)), TWO),
    Case("exp(x[:, ::2])", [_T], plain(lambda lib, x: lib.exp(x[:, ::2])), TWO),
    Case("erfc(x.T)", [_T], plain(lambda lib, x: lib.erfc(x.T)), ONE),
    Case("x.T.contiguous()", [_T], plain(lambda lib, x: x.T.contiguous()), THREE),
    Case("x.permute(0, 2, 1).contiguous()", [normal(32, 256, 256)],
         plain(lambda lib, x: x.permute(0, 2, 1).contiguous()), TWO),
    Case("x.permute(0, 2, 3, 1).contiguous()", [normal(16, 64, 45, 45)],
         plain(lambda lib, x: x.permute(0, 2, 3, 1).contiguous()), TWO),
    Case("fmod(x.T, row)", [_T, uniform(0.1, 9, TABLE[0])],
         plain(lambda lib, x, y: lib.fmod(x.T, y)), ONE),
    Case("lerp broadcast", [_T, normal(TABLE[1])], named("lerp", 0.3), ONE),
    Case("x > row", [_T, normal(TABLE[1])], named("gt"), ONE),
]

INPLACE = [
    Case("add_", [NORMAL, normal(N)], plain(lambda lib, x, y: x.add_(y, alpha=0.0)), TWO),
    Case("mul_ by a number", [NORMAL], plain(lambda lib, x: x.mul_(1.0)), TWO),
    Case("clamp_", [NORMAL], plain(lambda lib, x: x.clamp_(-2, 2)), ONE),
    Case("addcmul_", [NORMAL, normal(N), normal(N)],
         plain(lambda lib, x, y, z: x.addcmul_(y, z, value=0.0)), ONE),
    Case("lerp_", [NORMAL, normal(N)], plain(lambda lib, x, y: x.lerp_(y, 0.5)), ONE),
    Case("masked_fill_", [NORMAL, mask(N)], plain(lambda lib, x, m: x.masked_fill_(m, 0.0)), ONE),
    Case("zero_", [NORMAL], plain(lambda lib, x: x.zero_()), ONE),
    Case("fill_", [NORMAL], plain(lambda lib, x: x.fill_(0.5)), ONE),
    Case("copy_ transposed", [_T, normal(TABLE[1], TABLE[0])],
         plain(lambda lib, x, y: x.copy_(y.T)), ONE),
    *(Case(f"{name}, out=", [POSITIVE, normal(N)],
           plain(lambda lib, x, out, name=name: getattr(lib, name)(x, out=out)), TWO)
      for name in words("log exp sqrt")),
    Case("add, out=", [NORMAL, normal(N), normal(N)],
         plain(lambda lib, x, y, out: lib.add(x, y, out=out)), THREE),
    Case("leaky_relu_", [NORMAL],
         plain(lambda lib, x: lib.nn.functional.leaky_relu_(x, 0.5)), ONE),
]

# -- reductions, scans, orders

_REDUCED = words("sum mean prod amax amin argmax argmin std var logsumexp nansum count_nonzero",
            "linalg.vector_norm")
_POSITIVE_CUBE = uniform(0.99, 1.01, 128, 64, 256)
REDUCTION = [
    *(Case(f"{name} dim {dim}", [_POSITIVE_CUBE], named(name, dim=dim), TWO)
      for name in _REDUCED for dim in (0, 1, 2)),
    *(Case(f"{name} of all", [uniform(0.999, 1.001, N)], named(name), THREE)
      for name in _REDUCED if name != "logsumexp"),
    *(Case(f"{name} dim {dim}", [mask(1024, 2048)], named(name, dim=dim), ("bool",))
      for name in ("any", "all") for dim in (0, 1)),
    *(Case(f"{name} of all", [lambda random: np.ones(N, bool)], named(name), ("bool",))
      for name in ("all", "any", "count_nonzero")),
    *(Case(f"any of numbers dim {dim}", [normal(1024, 2048)], named("any", dim=dim), ONE)
      for dim in (0, 1)),
    *(Case(f"max with indices dim {dim}", [_T],
           plain(lambda lib, x, dim=dim: tuple(lib.max(x, dim))), TWO) for dim in (0, 1)),
    Case("norm 1", [NORMAL], named("norm", 1), ONE),
    Case("norm 3", [NORMAL], named("norm", 3), ONE),
    Case("norm dim 1", [_T], named("norm", dim=1), ONE),
    Case("var_mean dim 1", [_T], plain(lambda lib, x: tuple(lib.var_mean(x, 1))), TWO),
    Case("sum of x.T dim 1", [_T], plain(lambda lib, x: x.T.sum(1)), TWO),
    Case("sum of x[:, ::2]", [_T], plain(lambda lib, x: x[:, ::2].sum()), ONE),
    Case("median", [NORMAL], named("median"), ONE),
    Case("median dim 1", [normal(256, 4096)],
         plain(lambda lib, x: lib.median(x, 1).values), ONE),
    Case("kthvalue dim 1", [normal(256, 4096)],
         plain(lambda lib, x: lib.kthvalue(x, 100, 1).values), ONE),
    Case("quantile", [normal(N // 4)], named("quantile", 0.3), ONE),
    *(Case(f"{name} dim {dim}", [_T], named(name, dim=dim), TWO)
      for name in ("cumsum", "cumprod", "logcumsumexp") for dim in (0, 1)),
    *(Case(f"cummax dim {dim}", [_T],
           plain(lambda lib, x, dim=dim: tuple(lib.cummax(x, dim))), ONE) for dim in (0, 1)),
    Case("cumsum of all", [NORMAL], named("cumsum", 0), ONE),
    Case("diff", [_T], named("diff"), ONE),
    Case("sort", [normal(N // 4)], plain(lambda lib, x: lib.sort(x).values), TWO),
    Case("sort dim 1", [normal(512, 1024)], plain(lambda lib, x: lib.sort(x, 1).values), ONE),
    Case("sort dim 0", [normal(1024, 512)], plain(lambda lib, x: lib.sort(x, 0).values), ONE),
    Case("argsort dim 1", [normal(512, 1024)], named("argsort", 1), ONE, True),
    Case("sort int64", [integers(-(1 << 40), 1 << 40, N // 4)],
         plain(lambda lib, x: lib.sort(x).values), ("int64",)),
    Case("topk dim 1", [_T], plain(lambda lib, x: lib.topk(x, 10, 1).values), ONE),
    Case("topk of all", [NORMAL], plain(lambda lib, x: lib.topk(x, 10).values), ONE),
    Case("unique", [integers(0, 1000, N // 4)], named("unique"), ("int64",)),
    Case("bincount", [integers(0, 1000, N)], named("bincount"), ("int64",)),
    Case("histc", [NORMAL], named("histc", 100, -3, 3), ONE),
    Case("searchsorted", [lambda random: np.sort(random.random(4096, np.float32)),
                          uniform(0, 1, N // 4)], named("searchsorted"), ONE),
    Case("bucketize", [uniform(0, 1, N // 4),
                       lambda random: np.sort(random.random(100, np.float32))],
         named("bucketize"), ONE),
    Case("isin", [integers(0, 1000, N // 4), integers(0, 1000, 50)], named("isin"), ("int64",)),
]

# -- moves and indexing

MOVE = [
    Case("flip 0", [_T], named("flip", [0]), THREE),
    Case("flip 1", [_T], named("flip", [1]), THREE),
    Case("flip both", [_T], named("flip", [0, 1]), ONE),
    Case("roll 0", [_T], named("roll", 100, 0), TWO),
    Case("roll 1", [_T], named("roll", 100, 1), TWO),
    Case("roll flat", [_T], named("roll", 100), ONE),
    Case("rot90", [_T], named("rot90"), ONE),
    Case("tril", [_T], named("tril"), TWO),
    Case("triu", [_T], named("triu", 1), TWO),
    Case("cat 0", [_T, normal(*TABLE)], plain(lambda lib, x, y: lib.cat([x, y], 0)), THREE),
    Case("cat 1", [_T, normal(*TABLE)], plain(lambda lib, x, y: lib.cat([x, y], 1)), TWO),
    Case("stack 0", [_T, normal(*TABLE)], plain(lambda lib, x, y: lib.stack([x, y], 0)), ONE),
    Case("stack 2", [_T, normal(*TABLE)], plain(lambda lib, x, y: lib.stack([x, y], 2)), ONE),
    Case("repeat", [normal(512, 1024)], plain(lambda lib, x: x.repeat(2, 3)), TWO),
    Case("repeat_interleave", [normal(512, 1024)], named("repeat_interleave", 4, 1), ONE),
    Case("tile", [normal(512, 1024)], named("tile", (4, 1)), ONE),
    Case("pad constant", [normal(8, 16, 128, 128)], functional("pad", (1, 1, 1, 1)), ONE),
    Case("pad reflect", [normal(8, 16, 128, 128)],
         functional("pad", (2, 2, 2, 2), mode="reflect"), ONE),
    Case("unfold copy", [normal(N)], plain(lambda lib, x: x.unfold(0, 4, 4).contiguous()), ONE),
    Case("diag_embed", [normal(64, 181)], named("diag_embed"), ONE),
    Case("kron", [normal(32, 32), normal(45, 45)], named("kron"), ONE),
    Case("outer", [normal(1024), normal(2048)], named("outer"), ONE),
    Case("clone", [NORMAL], named("clone"), THREE),
    Case("x.expand().contiguous()", [normal(1, TABLE[1])],
         plain(lambda lib, x: x.expand(*TABLE).contiguous()), ONE),
    Case("pixel_shuffle", [normal(8, 64, 64, 64)], functional("pixel_shuffle", 2), ONE),
    Case("meshgrid", [normal(1024), normal(2048)],
         plain(lambda lib, x, y: [g.contiguous() for g in lib.meshgrid(x, y, indexing="ij")]),
         ONE),
]

_COLUMN = integers(0, 1024, *TABLE)
INDEX = [
    Case("index_select 0", [_T, integers(0, 1024, 1024)],
         plain(lambda lib, x, i: lib.index_select(x, 0, i)), TWO),
    Case("index_select 1", [_T, integers(0, 2048, 1024)],
         plain(lambda lib, x, i: lib.index_select(x, 1, i)), ONE),
    Case("x[i]", [_T, integers(0, 1024, 1024)], plain(lambda lib, x, i: x[i]), TWO),
    Case("x[i, j]", [_T, integers(0, 1024, N // 2), integers(0, 2048, N // 2)],
         plain(lambda lib, x, i, j: x[i, j]), ONE),
    Case("x[mask]", [_T, mask(*TABLE)], plain(lambda lib, x, m: x[m]), ONE),
    Case("masked_select", [_T, mask(*TABLE)], named("masked_select"), ONE),
    Case("nonzero", [mask(*TABLE)], named("nonzero"), ("bool",)),
    Case("x[i] = y", [_T, integers(0, 1024, 1024), normal(2048)],
         plain(lambda lib, x, i, y: x.index_put_((i,), y)), ONE),
    Case("x[mask] = 0", [_T, mask(*TABLE)],
         plain(lambda lib, x, m: x.__setitem__(m, 0.0)), ONE, True),
    Case("take", [_T, integers(0, N, N)], named("take"), ONE),
    Case("gather 0", [_T, _COLUMN], plain(lambda lib, x, i: lib.gather(x, 0, i)), TWO),
    Case("gather 1", [_T, _COLUMN], plain(lambda lib, x, i: lib.gather(x, 1, i)), TWO),
    Case("scatter 0", [_T, _COLUMN], plain(lambda lib, x, i: lib.scatter(x, 0, i, 0.5)), ONE),
    Case("scatter 1", [_T, _COLUMN], plain(lambda lib, x, i: lib.scatter(x, 1, i, 0.5)), ONE),
    Case("scatter_add 0", [_T, _COLUMN, normal(*TABLE)],
         plain(lambda lib, x, i, y: lib.scatter_add(x, 0, i, y)), ONE),
    Case("scatter_add 1", [_T, _COLUMN, normal(*TABLE)],
         plain(lambda lib, x, i, y: lib.scatter_add(x, 1, i, y)), ONE),
    Case("index_add 0", [normal(1024, 2048), integers(0, 1024, 1024), normal(1024, 2048)],
         plain(lambda lib, x, i, y: lib.index_add(x, 0, i, y)), ONE),
    Case("index_add 0 of numbers", [normal(1024), integers(0, 1024, N), NORMAL],
         plain(lambda lib, x, i, y: lib.index_add(x, 0, i, y)), ("float64",)),
    Case("index_copy", [_T, integers(0, 1024, 1), normal(1, 2048)],
         plain(lambda lib, x, i, y: lib.index_copy(x, 0, i, y)), ONE),
    Case("scatter_reduce amax", [_T, _COLUMN, normal(*TABLE)],
         plain(lambda lib, x, i, y: lib.scatter_reduce(x, 0, i, y, "amax")), ONE),
    Case("embedding", [integers(0, 30000, 32, 256), normal(30000, 256)],
         functional("embedding"), ONE),
    Case("one_hot", [integers(0, 100, N // 100)], functional("one_hot", 100), ("int64",)),
    Case("take_along_dim", [_T, integers(0, 2048, *TABLE)],
         plain(lambda lib, x, i: lib.take_along_dim(x, i, 1)), ONE),
]

# -- neural

_IMAGE = normal(8, 64, 64, 64)


def _norm(name: str) -> Callable[..., Any]:
    calls = {
        "layer_norm": lambda lib, x: lib.nn.functional.layer_norm(x, x.shape[1:]),
        "group_norm": lambda lib, x: lib.nn.functional.group_norm(x, 8),
        "instance_norm": lambda lib, x: lib.nn.functional.instance_norm(x),
        "batch_norm": lambda lib, x: lib.nn.functional.batch_norm(x, None, None, training=True),
        "rms_norm": lambda lib, x: lib.nn.functional.rms_norm(x, x.shape[-1:]),
        "normalize": lambda lib, x: lib.nn.functional.normalize(x, dim=1),
        "local_response_norm": lambda lib, x: lib.nn.functional.local_response_norm(x, 5),
    }
    return calls[name]


_NORMS = words("layer_norm group_norm instance_norm batch_norm rms_norm normalize")
NEURAL = [
    *(Case(f"{name}", [_IMAGE], plain(_norm(name)), TWO) for name in _NORMS),
    Case("local_response_norm", [_IMAGE], plain(_norm("local_response_norm")), ONE),
    *(Case(f"{name} backward", [_IMAGE], backward_of(_norm(name)), ONE) for name in _NORMS),
    *(Case(f"{name} dim {dim}", [normal(64, 32, 1024)], named(name, dim), TWO)
      for name in ("softmax", "log_softmax") for dim in (0, 1, 2)),
    *(Case(f"{name} backward dim {dim}", [normal(64, 32, 1024)],
           backward_of(lambda lib, x, name=name, dim=dim: getattr(lib, name)(x, dim)), ONE)
      for name in ("softmax", "log_softmax") for dim in (0, 1, 2)),
    *(Case(f"{name} backward", [NORMAL],
           backward_of(lambda lib, x, name=name: getattr(lib.nn.functional, name)(x)), TWO)
      for name in words("relu gelu silu mish softplus elu selu celu leaky_relu hardswish",
                         "hardsigmoid hardtanh logsigmoid softsign hardshrink softshrink",
                         "tanhshrink relu6")),
    *(Case(f"{name} backward", [POSITIVE],
           backward_of(lambda lib, x, name=name: getattr(lib, name)(x)), ONE)
      for name in words("tanh sigmoid exp log sqrt rsqrt sin cos atan erf erfc lgamma log1p",
                         "expm1 abs reciprocal tan sinh asinh square logit sinc")),
    *(Case(f"{name} backward", [POSITIVE, uniform(0.5, 3, N)],
           backward_of(lambda lib, x, y, name=name: getattr(lib, name)(x, y)), ONE)
      for name in words("mul div pow atan2 hypot maximum logaddexp xlogy")),
    Case("where backward", [NORMAL, mask(N)],
         backward_of(lambda lib, x, m: lib.where(m, x, 0.0)), ONE),
    Case("clamp backward", [NORMAL], backward_of(lambda lib, x: lib.clamp(x, -0.5, 0.5)), ONE),
    Case("gelu tanh backward", [NORMAL],
         backward_of(lambda lib, x: lib.nn.functional.gelu(x, approximate="tanh")), ONE),
    Case("sum dim 1 backward", [_T], backward_of(lambda lib, x: x.sum(1)), ONE),
    Case("amax dim 1 backward", [_T], backward_of(lambda lib, x: x.amax(1)), ONE),
    Case("prod dim 1 backward", [uniform(0.99, 1.01, *TABLE)],
         backward_of(lambda lib, x: x.prod(1)), ONE),
    Case("std dim 1 backward", [_T], backward_of(lambda lib, x: x.std(1)), ONE),
    Case("logsumexp dim 1 backward", [_T], backward_of(lambda lib, x: x.logsumexp(1)), ONE),
    Case("cumsum backward", [_T], backward_of(lambda lib, x: x.cumsum(1)), ONE),
    Case("cumprod backward", [uniform(0.99, 1.01, *TABLE)],
         backward_of(lambda lib, x: x.cumprod(1)), ONE),
    Case("gather backward", [_T, _COLUMN], backward_of(lambda lib, x, i: x.gather(1, i)), ONE),
    Case("index_select backward", [_T, integers(0, 1024, 1024)],
         backward_of(lambda lib, x, i: x.index_select(0, i)), ONE),
    Case("embedding backward", [normal(30000, 256), integers(0, 30000, 32, 256)],
         backward_of(lambda lib, w, i: lib.nn.functional.embedding(i, w)), ONE),
    Case("cross_entropy", [normal(2048, 1000), integers(0, 1000, 2048)],
         functional("cross_entropy"), ONE),
    Case("cross_entropy backward", [normal(2048, 1000), integers(0, 1000, 2048)],
         backward_of(lambda lib, x, y: lib.nn.functional.cross_entropy(x, y)), ONE),
    Case("avg_pool2d", [_IMAGE], functional("avg_pool2d", 2), ONE),
    Case("max_pool2d", [_IMAGE], functional("max_pool2d", 2), ONE),
    Case("max_pool2d backward", [_IMAGE],
         backward_of(lambda lib, x: lib.nn.functional.max_pool2d(x, 2)), ONE),
    Case("avg_pool2d backward", [_IMAGE],
         backward_of(lambda lib, x: lib.nn.functional.avg_pool2d(x, 2)), ONE),
    Case("adaptive_avg_pool2d", [_IMAGE], functional("adaptive_avg_pool2d", 7), ONE),
    Case("interpolate nearest", [_IMAGE], functional("interpolate", scale_factor=2), ONE),
    Case("interpolate bilinear", [_IMAGE],
         functional("interpolate", scale_factor=2, mode="bilinear"), ONE),
    Case("unfold 3x3", [_IMAGE], functional("unfold", 3), ONE),
    Case("cosine_similarity", [_T, normal(*TABLE)], functional("cosine_similarity"), ONE),
    Case("cdist", [normal(1024, 64), normal(1024, 64)], named("cdist"), ONE),
]

# -- making tensors

CREATION = [
    Case("rand", [], named("rand", N), ONE, True),
    Case("rand float64", [], plain(lambda lib: lib.rand(N, dtype=lib.float64)), ONE, True),
    Case("randn", [], named("randn", N), ONE, True),
    Case("randint", [], named("randint", 0, 1000, (N,)), ONE, True),
    Case("randperm", [], named("randperm", N // 2), ONE, True),
    Case("bernoulli", [uniform(0, 1, N)], named("bernoulli"), ONE, True),
    Case("normal_", [NORMAL], plain(lambda lib, x: x.normal_()), ONE, True),
    Case("uniform_", [NORMAL], plain(lambda lib, x: x.uniform_(-1, 1)), ONE, True),
    Case("exponential_", [NORMAL], plain(lambda lib, x: x.exponential_()), ONE, True),
    Case("multinomial", [uniform(0, 1, 64, 4096)], named("multinomial", 16, True), ONE, True),
    Case("zeros", [], named("zeros", N), ONE),
    Case("full", [], named("full", (N,), 0.5), ONE),
    Case("arange", [], named("arange", N), ("int64",)),
    Case("linspace", [], named("linspace", 0.0, 1.0, N), ONE),
    Case("eye", [], named("eye", 1448), ONE),
]

CASES: list[Case] = [*UNARY, *BINARY, *INTEGER, *LAYOUT, *INPLACE, *REDUCTION, *MOVE, *INDEX,
                     *NEURAL, *CREATION]
