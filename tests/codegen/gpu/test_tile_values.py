"""Compiled kernels, simulated instruction by instruction, give what the CPU's give."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.loops import Message
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.symbolic.expr import Int

from ..lowered import tensor
from .functions import CASES, EXACT, INDEX, floats, integers
from .programs import check, check_eager, program_of
from .simulated import run_program

F = gw.nn.functional


@pytest.fixture(autouse=True)
def needs_triton() -> None:
    pytest.importorskip("triton")


def check_floats(name: str, dynamic: bool) -> None:
    function, inputs = CASES[name]
    check(function, *inputs, dynamic=dynamic)


def check_exact(name: str, dynamic: bool) -> None:
    function, inputs = EXACT[name]
    check(function, *inputs, dynamic=dynamic, tolerance=0)


kinds = pytest.mark.parametrize(("checked", "names"), [
    (check_floats, list(CASES)), (check_exact, list(EXACT))], ids=["floats", "exact"])
DAILY, DAILY_DYNAMIC = 12, 3


@kinds
@pytest.mark.parametrize("part", range(2))
def test_drawn_functions(
    draw: random.Random, checked: Callable[..., None], names: list[str], part: int
) -> None:
    for name in draw.sample(names[part::2], k=DAILY // 2):
        print(name)
        checked(name, dynamic=False)


@kinds
def test_drawn_functions_of_dynamic_sizes(
    draw: random.Random, checked: Callable[..., None], names: list[str]
) -> None:
    for name in draw.sample([name for name in names if name != "empty"], k=DAILY_DYNAMIC):
        print(name)
        checked(name, dynamic=True)


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(("checked", "name"), [
    *[(check_floats, name) for name in CASES], *[(check_exact, name) for name in EXACT]])
def test_a_function(checked: Callable[..., None], name: str, dynamic: bool) -> None:
    if name != "empty" or not dynamic:      # sizes of 0 are no symbols
        checked(name, dynamic)


@pytest.mark.parametrize("dtype", ["int8", "bool", "bfloat16", "float64", *(
    pytest.param(name, marks=pytest.mark.slow) for name in ("uint8", "float16", "int64"))])
def test_writes_at_equal_indices(dtype: str) -> None:
    kind = getattr(gw, dtype)
    x, v = integers(0, 5, 20, 6, dtype=kind), integers(0, 5, 50, 6, dtype=kind)
    check(lambda x, i, v: x.index_put((i,), v), x, INDEX, v, tolerance=0)
    check(lambda x, i, v: x.index_put((i,), v, accumulate=True), x, INDEX, v, tolerance=0)
    check(lambda x, i, v: x.index_put_((i,), v) + x, x, INDEX, v, tolerance=0)
    check(lambda x, i, v: x.index_put_((i,), v, accumulate=True), x, INDEX, v, tolerance=0)


def test_writes_after_writes() -> None:
    def function(x: Any, i: Any, v: Any, w: Any) -> Any:
        y = x.clone()
        y[i] = v
        y[2:5] = w
        y[i[:5]] += 1
        return y
    check(function, floats(20, 6), INDEX, floats(50, 6), floats(3, 6), tolerance=0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_types_round_as_on_the_cpu(dtype: str) -> None:
    kind = getattr(gw, dtype)
    x, y = floats(6, 100, dtype=kind), floats(6, 100, dtype=kind)
    check(lambda x, y: (x * y + x) / 3 - y, x, y, tolerance=0)
    check(lambda x: F.gelu(x), x, tolerance=2.0**-7)
    check(lambda x: gw.softmax(x, -1), x, tolerance=2.0**-7)
    check(lambda x, y: gw.relu(x @ y.t()), x, y, tolerance=2.0**-6)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
                                   "float8_e5m2fnuz", "float8_e8m0fnu"])
def test_float8_is_stored(dtype: str) -> None:
    kind = getattr(gw, dtype)
    codes = gw.from_numpy(np.arange(256, dtype=np.uint8)).view(kind)
    check(lambda x: (x.to(gw.float32) * 3.0).to(kind), codes, tolerance=0)
    check(lambda x: x.to(kind), floats(400) * 20, tolerance=0)


@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_float8_is_moved_filled_and_cast_as_codes(dtype: str, arch: int) -> None:
    """On sm_80 too, which has no instructions for it: GPU programs need none."""
    kind = getattr(gw, dtype)
    codes = gw.from_numpy(np.arange(256, dtype=np.uint8)).view(kind).view(16, 16)
    check(lambda x: (x.t().contiguous(), gw.cat([x, x[:, 3:]], 1)), codes, tolerance=0, arch=arch)
    check(lambda x: (gw.full((5,), -1.7, dtype=kind), gw.zeros_like(x)), codes, tolerance=0,
          arch=arch)
    check(lambda x: (x.to(kind), x.to(kind).to(gw.bfloat16), (x * 99).to(kind).to(gw.float64)),
          floats(400) * 3, tolerance=0, arch=arch)


def test_views_are_read_where_they_are() -> None:
    x = floats(40, 50)
    check(lambda x: x * 2, x[3:, 5:40:3], tolerance=0)
    check(lambda x: x.sum(-1), x.t()[::2])


@pytest.mark.parametrize("dtype", [
    "float32", "bfloat16", pytest.param("float64", marks=pytest.mark.slow)])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
def test_attention_without_its_weights(dtype: str, causal: bool) -> None:
    kind = getattr(gw, dtype)
    q, k, v = (floats(2, rows, size, dtype=kind) for rows, size in ((50, 20), (70, 20), (70, 24)))
    program = check_eager(lambda q, k, v: ops.fused_attention(q, k, v, None, causal, 0.3), q, k, v,
                          tolerance=2.0**-7 if dtype == "bfloat16" else 2e-6)
    assert [step.name for step in program.steps] == ["k0_attention", "k1_attention"]


@pytest.mark.parametrize("kind", ["bool", "float32"])
def test_attention_with_a_mask_of_permuted_operands(kind: str) -> None:
    q, k, v = floats(2, 30, 3, 16), floats(2, 40, 3, 16), floats(2, 40, 3, 16)
    mask = floats(30, 40) > -1 if kind == "bool" else floats(30, 40)
    check_eager(lambda q, k, v, m: ops.fused_attention(
        q.transpose(1, 2), k.transpose(1, 2) * 2, v.transpose(1, 2), m, False, 0.3), q, k, v, mask)


def test_gradients_of_attention_are_products() -> None:
    q, k, v = floats(2, 30, 16), floats(2, 40, 16), floats(2, 40, 16)
    out, levels = ops.fused_attention(q, k, v, None, False, 0.3)
    grad = floats(2, 30, 16)
    check_eager(lambda *given: ops.attention_backward(*given[:4], None, *given[4:], False, 0.3),
                grad, q, k, v, out, levels, tolerance=1e-5)


CONVOLUTIONS = [
    ((2, 3, 20), (5, 3, 4), dict(stride=2, padding=1)),
    ((2, 4, 9, 10), (6, 4, 3, 3), dict(padding=1)),
    ((2, 4, 9, 10), (6, 2, 3, 2), dict(stride=2, dilation=2, groups=2)),
    ((1, 2, 5, 6, 7), (3, 2, 2, 2, 2), dict(padding=1)),
]


@pytest.mark.parametrize(("x", "w", "options"), CONVOLUTIONS)
def test_convolutions(x: Any, w: Any, options: Any) -> None:
    function = getattr(F, f"conv{len(x) - 2}d")
    check_eager(lambda x, w, b: function(x, w, b, **options), floats(*x), floats(*w),
                floats(w[0]), tolerance=1e-5)


@pytest.mark.parametrize("groups", [1, 2])
def test_gradients_of_convolutions(groups: int) -> None:
    x, w = floats(2, 4, 9, 10), floats(6, 4 // groups, 3, 3)
    options = ((2, 1), (1, 1), (1, 2), groups)
    grad = F.conv2d(x, w, None, *options)
    check_eager(lambda g, w: ops.conv_input_grad(g, w, (2, 4, 9, 10), *options), grad, w,
                tolerance=1e-5)
    check_eager(lambda g, x: ops.conv_weight_grad(g, x, w.shape, *options), grad, x,
                tolerance=1e-5)
    check_eager(lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1, groups), grad,
                floats(6, 3, 3, 3), tolerance=1e-5)


def test_special_functions() -> None:
    x = gw.abs(floats(60)) / 5 + 0.01
    check_eager(lambda x: (gw.erfc(x), gw.lgamma(x), gw.erfinv(x), gw.special.ndtri(x)), x,
                tolerance=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["i0", "i1", "erfcx", "bessel_j0", "bessel_j1", "bessel_y0",
                                  "bessel_y1"])
def test_bessel_functions(name: str) -> None:
    check_eager(lambda x: getattr(gw.special, name)(x), gw.abs(floats(60)) + 0.01, tolerance=1e-5)


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16, gw.float32, gw.float64])
def test_bits_of_floats(dtype: Any) -> None:
    numbers = np.array([0, -0.0, 1, -1, 1e-40, -1e-40, np.inf, -np.inf, np.nan, 65504, 2.0**-24])
    one, two = (tensor(v).to(dtype) for v in (np.repeat(numbers, 11), np.tile(numbers, 11)))
    check_eager(lambda x, y: (gw.nextafter(x, y), *gw.frexp(x)), one, two, tolerance=0)


def test_masks_of_nan_and_infinity() -> None:
    x = tensor(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0] * 5, "f4"))
    check(lambda x: (gw.maximum(x, -x), x.clamp(min=0.0), gw.isnan(x), gw.isinf(x), gw.sign(x),
                     x.amax(), x.argmax(), gw.nan_to_num(x)), x, tolerance=0)


@pytest.mark.parametrize("columns", [3000, 5])
def test_long_rows_with_infinities(columns: int) -> None:
    """Their maximum and sum of exponentials come from one pass."""
    x = floats(7, columns)
    for row, (first, second) in enumerate(((np.inf, 0), (-np.inf, 0), (np.nan, 1),
                                           (-np.inf, np.inf))):
        x[row, 0], x[row, 3] = first, second
    x[5], x[6, 2:] = -np.inf, -np.inf
    check(lambda x: (gw.softmax(x, -1), gw.log_softmax(x, -1), gw.logsumexp(x, -1)), x,
          dynamic=True)


def test_an_index_out_of_range_is_reported_and_not_read() -> None:
    x, index = floats(10, 4), tensor(np.array([1, 12, 3]))
    program = program_of(lambda x, i: gw.gather(x, 0, i[:, None].expand(3, 4)), x, index)
    _, device = run_program(program, [x.numpy().reshape(-1), index.numpy()])
    word = int(device.error[0])
    (site,) = program.checks
    assert 1023 - (word >> 53) == 0 and (word & ((1 << 53) - 1)) - (1 << 52) == 12
    assert site.message == Message(
        "gather(): index {value} is out of bounds for a dimension of size {bound}; the tensor is "
        "float32[{0}, {1}]", (Int(10), Int(4)))
    assert site.bound == 10
