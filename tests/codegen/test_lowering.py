"""Every primitive, through lowering and scheduling, against eager ops, over layouts of memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes

from .lowered import check, tensor

RNG = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


LAYOUTS: dict[str, Callable[[], np.ndarray]] = {
    "contiguous": lambda: normal(5, 7),
    "transposed": lambda: normal(7, 5).T,
    "strided": lambda: normal(10, 21)[::2, ::3],
    "broadcast": lambda: np.broadcast_to(normal(7), (5, 7)),
    "column": lambda: normal(5, 1),
    "empty": lambda: normal(0, 7),
    "scalar": lambda: normal(),
    "three": lambda: normal(2, 3, 4).transpose(2, 0, 1),
}

UNARY = ["neg", "abs", "sign", "exp", "expm1", "sin", "cos", "tan", "tanh", "sigmoid", "erf",
         "floor", "ceil", "round", "trunc", "relu", "logical_not", "isnan", "isinf", "isfinite",
         "clone", "contiguous"]
POSITIVE = ["log", "log1p", "log2", "sqrt", "rsqrt", "reciprocal"]
BINARY = ["add", "sub", "mul", "div", "maximum", "minimum", "atan2", "eq", "ne", "lt", "le",
          "gt", "ge", "logical_and", "logical_or", "logical_xor", "fmod", "remainder"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_unary_chain_over_layouts(layout: str, dynamic: bool) -> None:
    check(lambda x: ops.exp(ops.neg(ops.abs(x))), LAYOUTS[layout](), dynamic=dynamic)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    x = normal(5, 7) * 3
    x[0, :3] = [np.nan, np.inf, -np.inf]
    check(getattr(ops, name), x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", POSITIVE)
def test_unary_of_positive(name: str) -> None:
    check(getattr(ops, name), np.abs(normal(5, 7)) + 0.1, rtol=1e-4)


@pytest.mark.parametrize("name", BINARY)
def test_binary_broadcasts(name: str) -> None:
    check(getattr(ops, name), normal(5, 1, 7), normal(3, 1), rtol=1e-4)


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "eq", "bitwise_and", "bitwise_xor"])
def test_binary_of_integers(name: str) -> None:
    a = RNG.integers(-50, 50, (4, 6))
    check(getattr(ops, name), a, a[::-1].astype(np.int32))


def test_scalars_on_either_side() -> None:
    check(lambda x: ops.sub(2.5, ops.div(1, ops.add(ops.pow(x, 2), 1.0))), normal(3, 4))


@pytest.mark.parametrize("mode", [None, "floor", "trunc"])
def test_division_modes(mode: str | None) -> None:
    check(lambda x, y: ops.div(x, y, rounding_mode=mode), normal(9) * 10, normal(9))


def test_where_clamp_and_casts() -> None:
    def fn(x: Any, y: Any) -> Any:
        picked = ops.where(ops.gt(x, 0.0), x, y)
        return ops.clamp(picked, -0.5, 0.5), ops.to_dtype(ops.mul(picked, 10.0), dtypes.int32)
    check(fn, normal(6, 5), normal(5))


def test_half_precision_is_computed_in_float32() -> None:
    x = tensor(normal(4, 8).astype(np.float16))
    check(lambda x: ops.add(ops.exp(x), ops.mul(x, 2.0)), x, rtol=2e-3, atol=4e-3)


JUMPS: dict[str, Callable[[Any], Any]] = {
    "floor": ops.floor,
    "round": ops.round,
    "trunc": lambda y: ops.div(y, 0.25, rounding_mode="trunc"),
    "remainder": lambda y: ops.remainder(y, 0.5),
    "sign": lambda y: ops.sign(ops.mul(y, 1e-9)),
    "comparison": lambda y: ops.ge(y, 3.0),
    "overflow": lambda y: ops.isinf(ops.mul(y, 1e5)),
    "finite": lambda y: ops.isfinite(ops.mul(y, 1e5)),
}


@pytest.mark.parametrize("jump", JUMPS)
def test_what_jumps_sees_half_precision_rounded(jump: str) -> None:
    """The sums round to 3 and 3.5; unrounded they lie below."""
    x = tensor(np.array([2.998046875, 3.498046875], np.float16))
    check(lambda x: JUMPS[jump](ops.add(x, 0.0015)), x)


@pytest.mark.parametrize("half", [dtypes.float16, dtypes.bfloat16])
def test_conversions_to_half_precision_that_are_asked_for_round(half: dtypes.dtype) -> None:
    def lost(x: Any) -> Any:
        there_and_back = ops.to_dtype(ops.to_dtype(x, half), dtypes.float32)
        copied = ops.copy(ops.zeros(x.shape, dtype=half), x)
        return ops.sub(x, there_and_back), ops.sub(x, copied)
    check(lost, normal(3, 5), rtol=0, atol=0)


REDUCTIONS = ["sum", "prod", "amax", "amin", "any", "all"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dim", [(0,), (1,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions(name: str, dim: tuple[int, ...], keepdim: bool) -> None:
    x = normal(3, 4, 5)
    if name in ("any", "all"):
        x = x > 0
        dims: Any = dim[0] if len(dim) == 1 else None
        check(lambda x: getattr(ops, name)(x, dims) if dims is not None
              else getattr(ops, name)(x), x)
        return
    if name == "prod":
        check(lambda x: ops.prod(x, dim[0], keepdim), x, rtol=1e-4)
        return
    check(lambda x: getattr(ops, name)(x, dim, keepdim), x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_sum_over_layouts(layout: str, dynamic: bool) -> None:
    x = LAYOUTS[layout]()
    check(lambda x: ops.sum(x), x, dynamic=dynamic, rtol=1e-4, atol=1e-5)
    if x.ndim:
        check(lambda x: ops.sum(x, (0,)), x, dynamic=dynamic, rtol=1e-4, atol=1e-5)
        check(lambda x: ops.sum(x, (-1,), True), x, dynamic=dynamic, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(3000, 40), (2, 60000), (70000,), (600, 3, 50)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_large_reductions_in_stages(shape: tuple[int, ...], dynamic: bool) -> None:
    x = normal(*shape)
    check(lambda x: (ops.sum(x, (0,)), ops.sum(x), ops.amax(x, (0,))), x, dynamic=dynamic,
          rtol=1e-3, atol=1e-2)
    check(lambda x: ops.sum(x, (-1,)), x, dynamic=dynamic, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dim", [None, 0, 1])
def test_positions(name: str, dim: int | None) -> None:
    check(lambda x: getattr(ops, name)(x, dim), normal(6, 9))


def test_variance() -> None:
    check(lambda x: ops.var(x, (1,), correction=1), normal(6, 9), rtol=1e-4)


def test_sum_of_integers_and_bools_is_int64() -> None:
    check(lambda x: (ops.sum(x, (1,)), ops.sum(ops.gt(x, 3))), RNG.integers(0, 9, (4, 5)))


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("dim", [(0,), (0, 1)])
def test_what_is_summed_in_bool_is_a_truth_first(name: str, dim: tuple[int, ...]) -> None:
    x = np.array([[0.5, -0.5, 0.0], [0.25, 0.5, 0.0]], np.float32)
    dims = dim if name == "sum" else dim[0]
    check(lambda x: getattr(ops, name)(x, dims, dtype=dtypes.bool), x)


VIEWS: dict[str, Callable[[Any], Any]] = {
    "view": lambda x: ops.exp(ops.view(ops.exp(x), (6, 20))),
    "merge": lambda x: ops.exp(ops.view(ops.permute(x, (0, 2, 1)).contiguous(), (4, 30))),
    "split": lambda x: ops.neg(ops.view(x, (2, 2, 3, 5, 2))),
    "permute": lambda x: ops.exp(ops.permute(x, (2, 0, 1))),
    "expand": lambda x: ops.exp(ops.expand(x[:, :1], (4, 6, 5))),
    "slice": lambda x: ops.neg(x[1:3, ::2, -2:]),
    "select": lambda x: ops.neg(ops.select(x, 1, -2)),
    "unsqueeze": lambda x: ops.neg(ops.unsqueeze(x, 1)),
    "transpose": lambda x: ops.transpose(ops.exp(x), 0, 2),
    "diagonal": lambda x: ops.neg(ops.diagonal(x[:, :, 0], 0, 0, 1)),
    "flip": lambda x: ops.neg(ops.flip(x, (0, 2))),
    "as_strided": lambda x: ops.neg(ops.as_strided(x, (3, 4), (7, 2), 1)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name: str) -> None:
    check(VIEWS[name], normal(4, 6, 5))


@pytest.mark.parametrize("shape", [(0, 6), (4, 0)])
def test_strided_views_without_elements(shape: tuple[int, int]) -> None:
    kept = 1 if shape[0] == 0 else 0
    check(lambda x: ops.neg(x.unfold(kept, 2, 2)), normal(*shape))
    check(lambda x: ops.neg(ops.as_strided(x, (0, 3), (3, 1))), normal(*shape))


def test_results_that_are_views_or_repeated() -> None:
    def fn(x: Any) -> Any:
        y = ops.exp(x)
        return y, y, ops.transpose(y, 0, 1), y[1:], ops.expand(ops.unsqueeze(y, 0), (2, 4, 6))
    check(lambda x: fn(x)[:4], normal(4, 6))


def test_creation() -> None:
    check(lambda x: (ops.add(x, ops.arange(0, 12, 2)), ops.full((2, 3), 1.5),
                     ops.arange(0.0, 1.0, 0.25)), normal(6))


@pytest.mark.parametrize("dim", [0, 1])
def test_cat(dim: int) -> None:
    def fn(x: Any, y: Any) -> Any:
        return ops.exp(ops.cat([ops.neg(x), y, x[:0] if dim == 0 else x[:, :0]], dim))
    check(fn, normal(4, 6), normal(4, 6).T.copy().T)


def test_index_select_gather_and_advanced_indices() -> None:
    index = RNG.integers(0, 5, 9)
    spread = RNG.integers(0, 6, (5, 4))

    def fn(x: Any, i: Any, j: Any) -> Any:
        return (ops.exp(ops.index_select(x, 0, i)), ops.gather(x, 1, j),
                ops.index(x, [i, ops.sub(i, 5)]), ops.index(x, [None, i]))
    check(fn, normal(5, 6), index, spread)


def test_scatters() -> None:
    index = RNG.integers(0, 5, 9)
    spread = RNG.integers(0, 6, (3, 4))

    def fn(x: Any, source: Any, i: Any, j: Any) -> Any:
        return (ops.index_add(x, 0, i, source), ops.scatter_add(x, 1, j, source[:3, :4]),
                ops.scatter_add(x, 0, ops.clamp(j, 0, 4), source[:3, :4]),
                ops.index_put(x, [i], source, True), ops.index_put(x, [i[:1]], source[:1], False))
    check(fn, normal(5, 6), normal(9, 6), index, spread, rtol=1e-4)


@pytest.mark.parametrize("pad", [(1, 2), (0, 1, 2, 0), (-1, 2, 0, -1)])
def test_constant_pad(pad: tuple[int, ...]) -> None:
    check(lambda x: ops.constant_pad(ops.exp(x), pad, 0.5), normal(4, 6))


WINDOWS = [((3, 3), (1, 1), (1, 1), (1, 1)), ((2, 3), (1, 1), (0, 1), (2, 1)),
           ((2, 2), (2, 2), (1, 1), (2, 2))]


@pytest.mark.parametrize("window", WINDOWS)
def test_unfold_and_fold(window: Any) -> None:
    kernel, dilation, padding, stride = window

    def fn(x: Any) -> Any:
        columns = ops.im2col(x, kernel, dilation, padding, stride)
        return columns, ops.col2im(columns, (8, 9), kernel, dilation, padding, stride)
    check(fn, normal(2, 3, 8, 9), rtol=1e-4)


@pytest.mark.parametrize("window", [((2, 2), (2, 2), (0, 0)), ((3, 3), (2, 2), (1, 1)),
                                    ((3, 2), (1, 2), (1, 0))])
def test_max_pool_and_its_backward(window: Any) -> None:
    kernel, stride, padding = window

    def fn(x: Any) -> Any:
        values, indices = ops.max_pool_with_indices(
            x, kernel, stride, padding, (1, 1), False)
        grad = ops.max_pool_backward(
            ops.mul(values, 2.0), indices, (2, 3, 8, 9), kernel, stride, padding, (1, 1))
        return values, indices, grad
    check(fn, normal(2, 3, 8, 9), rtol=1e-4)


@pytest.mark.parametrize("dilation", [(1, 1), (2, 1)])
@pytest.mark.parametrize("value", [float("-inf"), float("nan")])
def test_places_of_maxima_of_windows_of_one_value(value: float, dilation: Any) -> None:
    """The first element that is no padding, the last nan."""
    x = normal(1, 1, 6, 7)
    x[..., :5, :5] = value

    def fn(x: Any) -> Any:
        return ops.max_pool_with_indices(x, (3, 3), (1, 2), (1, 1), dilation, False)
    check(fn, x)


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("window", [((2, 2), (2, 2), (0, 0)), ((3, 3), (2, 2), (1, 1)),
                                    ((2, 3, 2), (2, 1, 3), (1, 0, 1)), ((3,), (4,), (1,))])
def test_average_pool_and_its_backward(window: Any, include: bool) -> None:
    kernel, stride, padding = window
    shape = (2, 3, 8, 9, 5)[: 2 + len(kernel)]

    def fn(x: Any) -> Any:
        options = (kernel, stride, padding, False, include, None)
        values = ops.avg_pool(x, *options)
        return values, ops.avg_pool_backward(ops.mul(values, 2.0), shape, *options)
    check(fn, normal(*shape), rtol=1e-4)


def test_matrix_products_of_any_layout() -> None:
    def fn(a: Any, b: Any, c: Any) -> Any:
        return (ops.mm(a, b), ops.mm(ops.transpose(b, 0, 1), ops.transpose(a, 0, 1)),
                ops.mm(ops.exp(a), c), ops.mm(c, c[:, 1:6:2]))
    check(fn, normal(5, 6), normal(6, 4), normal(12, 12)[::2, ::2], rtol=1e-4, atol=1e-5)


def test_batched_products() -> None:
    def fn(a: Any, b: Any) -> Any:
        return ops.bmm(a, b), ops.bmm(ops.transpose(b, 1, 2), ops.transpose(a, 1, 2)), ops.bmm(
            ops.expand(a[:1], (3, 5, 6)), b)
    check(fn, normal(3, 5, 6), normal(3, 6, 4), rtol=1e-4, atol=1e-5)


def test_products_of_integers_and_of_nothing() -> None:
    check(lambda a, b: ops.mm(a, b), RNG.integers(0, 9, (3, 4)), RNG.integers(0, 9, (4, 2)))
    check(lambda a, b: ops.mm(a, b), normal(3, 0), normal(0, 2))


def test_composites() -> None:
    def fn(x: Any, w: Any, b: Any) -> Any:
        return (ops.softmax(x, 1), ops.log_softmax(x, 0), ops.layer_norm(x, (7,), w, b),
                ops.gelu(x), ops.mean(x))
    check(fn, normal(5, 7), normal(7), normal(7), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dynamic", [False, True])
def test_linear_over_three_axes(dynamic: bool) -> None:
    check(lambda x, w, b: ops.relu(ops.linear(x, w, b)), normal(4, 3, 6), normal(5, 6), normal(5),
          dynamic=dynamic, rtol=1e-4, atol=1e-5)
