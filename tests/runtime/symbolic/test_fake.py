"""Fake tensors: metadata through the same rules as real tensors, no values."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import FakeTensor, fake_like, make_fake
from graphwright.runtime.symbolic.shape_env import ShapeEnv


def test_same_metadata_as_the_real_tensor() -> None:
    real = gw.zeros(3, 4, dtype=gw.float64).t().requires_grad_()
    fake = fake_like(real)
    assert (fake.shape, fake.stride(), fake.dtype, fake.device, fake.requires_grad) == (
        real.shape, real.stride(), real.dtype, real.device, True)
    assert repr(fake) == "FakeTensor(float64[4, 3])"


@pytest.mark.parametrize(
    "read", [lambda x: x.item(), bool, int, float, lambda x: x.tolist(), lambda x: x.numpy(),
             lambda x: x.data_ptr(), lambda x: [0][x]])
def test_values_are_refused(read: Any) -> None:
    with pytest.raises(DataDependent, match="float32"):
        read(fake_like(gw.zeros(())))


def test_ops_give_fakes_with_the_rules_of_real_tensors() -> None:
    out = gw.softmax(fake_like(gw.zeros(2, 5)) @ fake_like(gw.zeros(5, 3)), 1)
    assert isinstance(out, FakeTensor) and out.shape == (2, 3)
    with pytest.raises(RuntimeError):
        fake_like(gw.zeros(2, 5)) @ fake_like(gw.zeros(2, 5))


def test_views_share_storage_and_versions() -> None:
    base = fake_like(gw.zeros(4, 6))
    view = base.t()[2:4]
    assert view._storage is base._storage and view.storage_offset() == 2
    view.add_(1)
    assert base._version == view._version == 1
    with pytest.raises(RuntimeError, match="add_"):
        view[0].add_(view)


def test_symbolic_sizes_carry_into_strides_and_offsets() -> None:
    env = ShapeEnv()
    fake = fake_like(gw.zeros(3, 4, 5).permute(2, 0, 1), env, [0, 2])
    assert str(tuple(fake.shape)) == "(s0, 3, s1)"
    assert str(tuple(fake.stride())) == "(1, s0*s1, s0)"
    row = fake.permute(1, 2, 0)[1:]
    assert str(row.storage_offset()) == "s0*s1" and str(tuple(row.shape)) == "(2, s1, s0)"
    assert str(tuple(row.reshape(-1).shape)) == "(2*s0*s1,)"
    assert [str(g) for g in env.guards] == ["s0 >= 2", "s1 >= 2"]


def test_strides_with_gaps_stay() -> None:
    fake = fake_like(gw.zeros(6, 8)[:, :4], ShapeEnv(), [0])
    assert str(tuple(fake.shape)) == "(s0, 4)" and fake.stride() == (8, 1)


def test_the_tape_runs_on_fakes() -> None:
    x = fake_like(gw.zeros(2, 3).requires_grad_())
    (grad,) = gw.autograd.grad((x * 2).exp().sum(), [x])
    assert isinstance(grad, FakeTensor) and grad.shape == (2, 3)


GPU = gw.device("cuda:0")


def on_gpu(*shape: int) -> Any:
    return make_fake(shape, tuple([1] * len(shape)), gw.float32, GPU)


def test_results_are_where_the_tensors_with_dims_are() -> None:
    number, there = fake_like(gw.tensor(2.0)), on_gpu(3)
    for result in (
        number * there, there - number, gw.where(there > 0, number, 1.0), number + on_gpu(),
        gw.clamp(there, number, None), there[fake_like(gw.zeros(2).long())],
    ):
        assert result.device == GPU
    assert gw.zeros_like(there, device="cpu").device.type == "cpu"
    assert number.clone().copy_(there[0]).device.type == "cpu"
    assert there.cpu().device.type == "cpu"


@pytest.mark.parametrize("run", [
    lambda number, here, there: here + there,
    lambda number, here, there: here * there[0],
    lambda number, here, there: here.add_(there),
    lambda number, here, there: number.add_(there[0]),
    lambda number, here, there: gw.cat([there, here]),
    lambda number, here, there: here[there.long()],
    lambda number, here, there: gw.add(there, 1, out=here),
])
def test_tensors_of_several_devices_are_refused(run: Any) -> None:
    with pytest.raises(RuntimeError, match=r"on (cpu or on )?the same device"):
        run(fake_like(gw.tensor(2.0)), fake_like(gw.zeros(3)), on_gpu(3))


def test_a_gradient_is_where_its_tensor_is() -> None:
    number = fake_like(gw.tensor(2.0).requires_grad_())
    for there in (on_gpu(3), on_gpu()):
        (grad,) = gw.autograd.grad((number * there).sum(), [number])
        assert grad.device.type == "cpu" and grad.shape == ()
