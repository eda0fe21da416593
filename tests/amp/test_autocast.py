"""Autocast: which op runs in which dtype, where it holds, and what gradients look like."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.amp import policy
from graphwright.nn import functional as F
from graphwright.runtime import _core
from graphwright.runtime.ops.table import TABLE

A = gw.arange(16, dtype=gw.float32).reshape(4, 4) / 8
IMAGE = gw.arange(32, dtype=gw.float32).reshape(1, 2, 4, 4) / 16
KERNEL = gw.ones(3, 2, 3, 3)
HALF = A.to(gw.bfloat16)
Program = Callable[[], Any]

PRODUCTS: dict[str, Program] = {
    "matmul": lambda: A @ A,
    "mm": lambda: gw.mm(A, A),
    "bmm": lambda: gw.bmm(A[None], A[None]),
    "addmm": lambda: gw.addmm(A, A, A),
    "baddbmm": lambda: gw.baddbmm(A[None], A[None], A[None]),
    "linear": lambda: F.linear(A, A, A[0]),
    "conv2d": lambda: F.conv2d(IMAGE, KERNEL),
    "conv_transpose2d": lambda: F.conv_transpose2d(IMAGE, gw.ones(2, 3, 3, 3)),
    "attention": lambda: F.scaled_dot_product_attention(A[None], A[None], A[None]),
    "prelu": lambda: F.prelu(A, gw.ones(1)),
    "einsum": lambda: gw.einsum("ij,jk->ik", A, A),
    "tensordot": lambda: gw.tensordot(A, A, 1),
    "multi_dot": lambda: gw.linalg.multi_dot([A, A, A]),
}
IN_FLOAT32: dict[str, Program] = {
    "mse_loss": lambda: F.mse_loss(HALF, HALF),
    "cross_entropy": lambda: F.cross_entropy(HALF, gw.tensor([0, 1, 2, 3])),
    "binary_cross_entropy": lambda: F.binary_cross_entropy(HALF.sigmoid(), HALF.sigmoid()),
    "kl_div": lambda: F.kl_div(HALF, HALF.exp(), reduction="sum"),
    "prod": lambda: HALF.prod(),
    "trace": lambda: HALF.trace(),
    "quantile": lambda: gw.quantile(HALF, 0.5),
    "cdist": lambda: gw.cdist(HALF, HALF),
    "svdvals": lambda: gw.linalg.svdvals(HALF),
    "inv": lambda: gw.linalg.inv(gw.eye(3, dtype=gw.bfloat16)),
    "avg_pool3d": lambda: F.avg_pool3d(HALF.reshape(1, 1, 2, 2, 4), 2),
    "reflect": lambda: F.pad(HALF[None], (1, 1), mode="reflect"),
}
AS_THEY_ARE: dict[str, tuple[Program, gw.dtype]] = {
    "add": (lambda: A + A, gw.float32),
    "add of bfloat16": (lambda: HALF + HALF, gw.bfloat16),
    "relu of bfloat16": (lambda: HALF.relu(), gw.bfloat16),
    "softmax": (lambda: A.softmax(-1), gw.float32),
    "layer_norm": (lambda: F.layer_norm(A, (4,)), gw.float32),
    "sum of bfloat16": (lambda: HALF.sum(), gw.bfloat16),
    "mv": (lambda: gw.mv(A, A[0]), gw.float32),
    "pad with zeros": (lambda: F.pad(HALF, (1, 1)), gw.bfloat16),
    "matmul of float64": (lambda: A.double() @ A.double(), gw.float64),
    "loss of float64": (lambda: F.mse_loss(A.double(), A.double()), gw.float64),
    "in place": (lambda: A.clone().addmm_(A, A), gw.float32),
    "out": (lambda: gw.mm(A, A, out=gw.empty(4, 4)), gw.float32),
    "stack of bfloat16": (lambda: gw.stack([HALF, HALF]), gw.bfloat16),
    "cat of both": (lambda: gw.cat([A, HALF]), gw.float32),
    "stack of both": (lambda: gw.stack([HALF, A]), gw.float32),
    "stack of integers": (lambda: gw.stack([gw.arange(2), gw.arange(2)]), gw.int64),
}


@pytest.mark.parametrize("dtype", [gw.bfloat16, gw.float16])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_run_in_16_bits(name: str, dtype: gw.dtype) -> None:
    expected = PRODUCTS[name]()
    with gw.autocast("cpu", dtype=dtype):
        result = PRODUCTS[name]()
    assert (result.dtype, expected.dtype) == (dtype, gw.float32)
    assert gw.allclose(result.float(), expected, rtol=3e-2, atol=3e-2)


@pytest.mark.parametrize("name", IN_FLOAT32)
def test_what_needs_precision_runs_in_float32(name: str) -> None:
    with gw.autocast("cpu"):
        result = IN_FLOAT32[name]()
    assert result.dtype is gw.float32


@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_the_rest_keeps_its_dtype(name: str) -> None:
    program, dtype = AS_THEY_ARE[name]
    with gw.autocast("cpu"):
        assert program().dtype is dtype


@pytest.mark.parametrize(
    "function",
    [
        lambda x: gw.geqrf(x)[0],
        lambda x: gw.orgqr(x, x[0]),
        lambda x: gw.lu_solve(x, x, gw.arange(1, 4, dtype=gw.int32)),
        lambda x: gw.triangular_solve(x, x)[0],
        lambda x: gw.fft.irfft(gw.fft.rfft(x)),
        lambda x: gw.fft.hfft(x),
    ],
)
def test_kernels_without_16_bits_take_float32(function: Any) -> None:
    with gw.autocast("cpu"):
        assert function((gw.eye(3) + 0.5).bfloat16()).dtype is gw.float32


PRECISE: dict[str, Program] = {
    "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(A[None], (3, 2)),
    "interpolate": lambda: F.interpolate(A[None, None], size=(3, 2), mode="area"),
    "ormqr": lambda: gw.ormqr(*gw.geqrf(A), A),
}


@pytest.mark.parametrize("name", PRECISE)
def test_products_that_are_a_detail_are_not_rounded(name: str) -> None:
    want = PRECISE[name]()
    with gw.autocast("cpu"):
        assert gw.equal(PRECISE[name](), want)


@pytest.mark.parametrize("rules", [policy.CPU, policy.CUDA], ids=["cpu", "cuda"])
def test_every_op_of_the_table_exists_and_stands_in_one_list(rules: policy.Policy) -> None:
    lists = vars(rules).values()
    names = [name for some in lists for name in some]
    assert set(names) <= set(TABLE)
    assert len(names) == len(set(names))


def test_tensors_of_two_16_bit_dtypes_are_not_put_together() -> None:
    with gw.autocast("cpu"), pytest.raises(RuntimeError, match="stack: tensors of bfloat16, floa"):
        gw.stack([HALF, A.half()])


# -- where it holds


def state() -> tuple[bool, gw.dtype, bool]:
    enabled = gw.is_autocast_enabled("cpu")
    return enabled, gw.get_autocast_dtype("cpu"), gw.is_autocast_cache_enabled()


def test_regions_nest_and_end() -> None:
    before = state()
    assert before == (False, gw.bfloat16, True)
    with gw.autocast("cpu", dtype=gw.float16, cache_enabled=False) as region:
        assert region.fast_dtype is gw.float16
        assert state() == (True, gw.float16, False)
        with gw.amp.autocast("cpu", enabled=False):
            assert not gw.is_autocast_enabled("cpu")
            assert (A @ A).dtype is gw.float32
            with region:
                assert (A @ A).dtype is gw.float16
        assert state() == (True, gw.float16, False)
    assert state() == before


def test_a_region_ends_with_an_exception() -> None:
    with pytest.raises(ValueError, match="inside"), gw.autocast("cpu"):
        raise ValueError("inside")
    assert not gw.is_autocast_enabled("cpu")


def test_functions_and_generators_are_decorated() -> None:
    @gw.autocast("cpu")
    def product(x: Any) -> Any:
        return x @ x

    @gw.autocast("cpu")
    def products(x: Any) -> Any:
        yield x @ x
        yield x @ x

    assert product(A).dtype is gw.bfloat16
    for result in products(A):
        assert result.dtype is gw.bfloat16
        assert not gw.is_autocast_enabled("cpu")
    assert product.__name__ == "product"


def test_threads_have_their_own_state() -> None:
    seen = []
    with gw.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((A @ A).dtype))
        thread.start()
        thread.join()
    assert seen == [gw.float32]


def test_settings_of_the_thread() -> None:
    gw.set_autocast_enabled("cpu", True)
    gw.set_autocast_dtype("cpu", gw.float16)
    gw.set_autocast_cache_enabled(False)
    try:
        assert state() == (True, gw.float16, False)
        assert (A @ A).dtype is gw.float16
        with gw.autocast("cpu") as region:
            assert region.fast_dtype is gw.float16
    finally:
        gw.set_autocast_enabled("cpu", False)
        gw.set_autocast_dtype("cpu", gw.bfloat16)
        gw.set_autocast_cache_enabled(True)
    assert _core.modes() == 0


def test_what_is_not_supported_is_switched_off_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="Disabling"), gw.autocast("cuda"):
        assert (A @ A).dtype is gw.float32
    with pytest.warns(UserWarning, match="bfloat16 and float16"):
        region = gw.autocast("cpu", dtype=gw.float32)
    with region:
        assert not gw.is_autocast_enabled("cpu")
    with pytest.raises(RuntimeError, match="unsupported autocast device_type"):
        gw.autocast("tpu")
    with pytest.raises(TypeError, match="Expected `device_type` of type `str`"):
        gw.autocast(gw.bfloat16)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="not supported"):
        gw.set_autocast_dtype("cpu", gw.float32)


# -- gradients


def test_gradients_have_the_dtype_of_the_parameters() -> None:
    layer = gw.nn.Linear(4, 2)
    x = A.clone().requires_grad_()
    with gw.autocast("cpu"):
        loss = F.mse_loss(layer(x), gw.zeros(4, 2))
    loss.backward()
    assert (loss.dtype, x.grad.dtype, layer.weight.grad.dtype) == (gw.float32,) * 3
    expected = gw.autograd.grad(F.mse_loss(layer(x), gw.zeros(4, 2)), layer.weight)[0]
    assert gw.allclose(layer.weight.grad, expected, rtol=0.05, atol=0.02)


def test_second_derivatives() -> None:
    x = A.clone().requires_grad_()
    with gw.autocast("cpu"):
        loss = F.mse_loss(x @ x, gw.zeros(4, 4))
    (first,) = gw.autograd.grad(loss, x, create_graph=True)
    (second,) = gw.autograd.grad(first.sum(), x)
    assert second.dtype is gw.float32
    (expected,) = gw.autograd.grad(F.mse_loss(x @ x, gw.zeros(4, 4)), x, create_graph=True)
    (expected,) = gw.autograd.grad(expected.sum(), x)
    assert gw.allclose(second, expected, rtol=0.05, atol=0.05)


def cast_of(layer: gw.nn.Linear) -> Any:
    """The grad_fn of the weight's cast, found from a product's result."""
    node = layer(A).grad_fn
    edges = [edge[0] for edge in node.next_functions if edge[0] is not None]
    return next(edge for edge in edges if "ToCopy" in edge.name())


def test_casts_of_weights_are_kept_until_the_region_ends() -> None:
    layer = gw.nn.Linear(4, 4, bias=False)
    with gw.autocast("cpu"):
        assert cast_of(layer) is cast_of(layer)
        with gw.no_grad():
            layer.weight.add_(1)
        changed = layer(A)
    assert gw.allclose(changed.float(), layer(A), rtol=0.02)
    with gw.autocast("cpu", cache_enabled=False):
        assert cast_of(layer) is not cast_of(layer)


def test_a_cast_made_without_gradients_is_not_kept() -> None:
    layer = gw.nn.Linear(4, 4)
    with gw.autocast("cpu"):
        with gw.no_grad():
            layer(A)
        layer(A).sum().backward()
    assert layer.weight.grad is not None


def test_a_kept_cast_is_differentiated_twice() -> None:
    layer = gw.nn.Linear(4, 4)
    with gw.autocast("cpu"):
        for _ in range(2):
            layer(A).float().sum().backward()
    once = gw.autograd.grad(layer(A).sum(), layer.weight)[0]
    assert gw.allclose(layer.weight.grad, 2 * once, rtol=0.02)


def test_under_a_shape_rule() -> None:
    with gw.autocast("cpu"):
        fake = gw.empty(2, 4, device="meta") @ gw.empty(4, 3, device="meta")
    assert fake.dtype is gw.float32
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gw.amp.is_autocast_available("cpu")
        assert not gw.amp.is_autocast_available("cuda")
