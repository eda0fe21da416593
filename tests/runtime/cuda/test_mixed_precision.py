"""Autocast and GradScaler for tensors of GPUs. What needs a kernel runs on the CPU here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.runtime.cuda.host_kernels import host_kernels

import graphwright as gw
from graphwright.nn import functional as F

pytestmark = pytest.mark.usefixtures("gpu", "kernels")


@pytest.fixture
def kernels() -> Iterator[None]:
    with host_kernels():
        yield


def matrix(dtype: gw.dtype = gw.float32, device: str = "cuda") -> Any:
    return (gw.arange(16, dtype=gw.float32).reshape(4, 4) / 8).to(device, dtype)


Program = Callable[[Any], Any]
IN_16_BITS: dict[str, Program] = {
    "matmul": lambda a: a @ a, "mv": lambda a: gw.mv(a, a[0]),
    "addmm": lambda a: gw.addmm(a, a, a),
    "linear": lambda a: F.linear(a, a, a[0]), "einsum": lambda a: gw.einsum("ij,jk->ik", a, a),
    "attention": lambda a: F.scaled_dot_product_attention(a[None], a[None], a[None]),
}
IN_FLOAT32: dict[str, Program] = {
    "exp": gw.exp, "pow": lambda a: a ** 2, "layer_norm": lambda a: F.layer_norm(a, (4,)),
    "softmax": lambda a: a.softmax(-1), "sum": lambda a: a.sum(), "cumsum": lambda a: a.cumsum(0),
    "mse_loss": lambda a: F.mse_loss(a, a), "logsumexp": lambda a: a.logsumexp(0),
    "cross_entropy": lambda a: F.cross_entropy(a, gw.tensor([0, 1, 2, 3]).to(a.device)),
    "nearest": lambda a: F.interpolate(a[None, None], scale_factor=2.0),
}


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
@pytest.mark.parametrize("name", IN_16_BITS)
def test_products_run_in_16_bits(name: str, dtype: gw.dtype) -> None:
    program = IN_16_BITS[name]
    with gw.autocast("cuda", dtype=dtype):
        found, elsewhere = program(matrix()), program(matrix(device="cpu"))
    assert found.dtype is dtype and found.is_cuda and elsewhere.dtype is gw.float32
    gw.testing.assert_close(found.float().cpu(), elsewhere, rtol=3e-2, atol=3e-2)


@pytest.mark.parametrize("name", IN_FLOAT32)
def test_what_needs_precision_runs_in_float32(name: str) -> None:
    with gw.autocast("cuda"):
        assert IN_FLOAT32[name](matrix(gw.float16)).dtype is gw.float32


def test_the_rest_keeps_its_dtype() -> None:
    half = matrix(gw.float16)
    with gw.autocast("cuda"):
        assert (half + half).dtype is gw.float16 and half.relu().dtype is gw.float16
        assert half.sum(dtype=gw.float16).dtype is gw.float16
        assert (matrix(gw.float64) @ matrix(gw.float64)).dtype is gw.float64
        assert gw.addcmul(half, half, matrix()).dtype is gw.float32
        assert gw.addcmul(half, half, half).dtype is gw.float16
        area = F.interpolate(half[None, None], scale_factor=0.5, mode="area")
        assert area.dtype is gw.float16
        with pytest.raises(RuntimeError, match="use binary_cross_entropy_with_logits"):
            F.binary_cross_entropy(half, half)


def state() -> tuple[bool, bool, gw.dtype, gw.dtype]:
    return (gw.is_autocast_enabled("cpu"), gw.is_autocast_enabled("cuda"),
            gw.get_autocast_dtype("cpu"), gw.get_autocast_dtype("cuda"))


def test_devices_are_switched_apart() -> None:
    off = (False, False, gw.bfloat16, gw.float16)
    assert state() == off and gw.amp.is_autocast_available("cuda")
    with gw.autocast("cpu"):
        with gw.autocast("cuda", dtype=gw.bfloat16) as region:
            assert state() == (True, True, gw.bfloat16, gw.bfloat16)
            assert (region.device, region.fast_dtype) == ("cuda", gw.bfloat16)
            here, there = matrix(device="cpu"), matrix()
            assert (here @ here).dtype is (there @ there).dtype is gw.bfloat16
            with gw.autocast("cpu", enabled=False):
                assert state() == (False, True, gw.bfloat16, gw.bfloat16)
                assert (here @ here).dtype is gw.float32
                assert (there @ there).dtype is gw.bfloat16
        assert state() == (True, False, gw.bfloat16, gw.float16)
        assert (there @ there).dtype is gw.float32
    assert state() == off

    @gw.autocast("cuda")
    def product(x: Any, y: Any) -> tuple[gw.dtype, gw.dtype]:
        return (x @ x).dtype, (y @ y).dtype

    with gw.autocast("cpu"):
        assert product(there, here) == (gw.float16, gw.bfloat16)
    assert product(there, here) == (gw.float16, gw.float32)


def test_switches_of_a_thread() -> None:
    gw.set_autocast_enabled(True)           # which a bool alone says of GPUs
    gw.set_autocast_gpu_dtype(gw.bfloat16)
    try:
        assert state() == (False, True, gw.bfloat16, gw.bfloat16)
        assert (matrix() @ matrix()).dtype is gw.bfloat16
    finally:
        gw.set_autocast_enabled("cuda", False)
        gw.set_autocast_dtype("cuda", gw.float16)
    with pytest.warns(UserWarning, match="CUDA Autocast only supports dtypes of bfloat16 and"):
        gw.autocast("cuda", dtype=gw.float32)


def test_custom_functions() -> None:
    class Double(gw.autograd.Function):
        @staticmethod
        @gw.amp.custom_fwd(device_type="cuda", cast_inputs=gw.float16)
        def forward(ctx: Any, x: Any) -> Any:
            seen.append((x.dtype, gw.is_autocast_enabled("cuda")))
            return x + x

        @staticmethod
        @gw.amp.custom_bwd(device_type="cuda")
        def backward(ctx: Any, grad: Any) -> Any:
            return grad + grad

    seen: list[Any] = []
    with gw.autocast("cuda"):
        Double.apply(matrix())
    Double.apply(matrix())
    assert seen == [(gw.float16, False), (gw.float32, False)]


@pytest.mark.parametrize("device", ["cuda:0", "both"])
def test_losses_are_scaled(device: str) -> None:
    places = ["cuda:0", "cuda:1"] if device == "both" else [device]
    parameters = [gw.nn.Parameter(gw.ones(2).to(place)) for place in places]
    optimizer = gw.optim.SGD(parameters, lr=1.0)
    scaler = gw.amp.GradScaler("cuda", init_scale=4.0)
    assert scaler.is_enabled()
    for factor, expected in ((2.0, [-1.0, -1.0]), (float("inf"), [-1.0, -1.0])):
        optimizer.zero_grad()
        for parameter in parameters:
            scaler.scale((parameter * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert [p.tolist() for p in parameters] == [expected] * len(places)
    assert scaler.get_scale() == 2.0


def test_the_older_names() -> None:
    with pytest.warns(FutureWarning, match=r"cuda\.amp\.autocast"):
        region = gw.cuda.amp.autocast()
    with region:
        assert (matrix() @ matrix()).dtype is gw.float16
    with pytest.warns(FutureWarning, match=r"cuda\.amp\.GradScaler"):
        assert gw.cuda.amp.GradScaler().is_enabled()
