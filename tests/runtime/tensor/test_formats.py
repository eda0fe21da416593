"""Constructors by type, orders of dims in memory, and where tensors are made."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

import graphwright as gw

IMAGES = gw.arange(120, dtype=gw.float32).reshape(2, 3, 4, 5)


def test_constructors_take_sizes_or_data() -> None:
    assert gw.Tensor(2, 3).shape == (2, 3)
    assert gw.Tensor().shape == (0,)
    assert gw.Tensor(IMAGES.shape).shape == IMAGES.shape
    assert gw.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert gw.LongTensor([1, 2]).dtype is gw.int64
    assert gw.DoubleTensor(3).dtype is gw.float64
    assert gw.LongTensor([1]).new(2).dtype is gw.int64


@pytest.mark.parametrize("given", ["a", 2.5, (gw.zeros(1, dtype=gw.int64),), object()])
def test_constructors_refuse_other_arguments(given: Any) -> None:
    with pytest.raises(TypeError):
        gw.Tensor(*given) if isinstance(given, tuple) else gw.Tensor(given)


def test_types_know_their_tensors_and_convert_to_them() -> None:
    assert isinstance(gw.zeros(1), gw.FloatTensor)
    assert not isinstance(gw.zeros(1), gw.LongTensor)
    assert gw.zeros(1).type(gw.LongTensor).type() == "graphwright.LongTensor"
    gw.set_default_tensor_type(gw.DoubleTensor)
    assert gw.zeros(1).dtype is gw.float64
    gw.set_default_tensor_type("graphwright.FloatTensor")
    assert gw.zeros(1).dtype is gw.float32


def test_subclasses_share_memory() -> None:
    class Named(gw.Tensor):
        pass

    plain = gw.zeros(2)
    named = plain.as_subclass(Named)
    plain.fill_(3)
    assert type(named) is Named and named.tolist() == [3.0, 3.0]
    assert type(Named([1.0])) is Named
    with pytest.raises(TypeError, match="subclass"):
        plain.as_subclass(int)


def test_orders_of_dims() -> None:
    last = IMAGES.contiguous(memory_format=gw.channels_last)
    assert last.stride() == (60, 1, 15, 3) and last.equal(IMAGES)
    assert last.is_contiguous(memory_format=gw.channels_last) and not last.is_contiguous()
    assert last.contiguous(memory_format=gw.channels_last) is not None
    assert last.clone().stride() == last.stride()
    assert last.clone(memory_format=gw.contiguous_format).is_contiguous()
    assert gw.zeros_like(last, memory_format=gw.preserve_format).stride() == last.stride()
    assert IMAGES.to(memory_format=gw.channels_last).stride() == last.stride()
    leaf = gw.empty(2, 3, 4, 5, memory_format=gw.channels_last, requires_grad=True)
    assert leaf.is_leaf and leaf.stride() == last.stride()
    module = gw.nn.Conv2d(2, 3, 3).to(memory_format=gw.channels_last)
    assert module.weight.stride() == (18, 1, 6, 2)
    with pytest.raises(RuntimeError, match="rank 4"):
        gw.zeros(2).contiguous(memory_format=gw.channels_last)
    with pytest.raises(TypeError, match="memory_format"):
        gw.zeros(2).clone(memory_format="channels_last")


def test_orders_of_dims_compiled() -> None:
    @gw.compile(fullgraph=True)
    def reordered(x: Any) -> Any:
        return x.contiguous(memory_format=gw.channels_last) * 2, gw.zeros_like(
            x, memory_format=gw.preserve_format, layout=gw.strided, pin_memory=False
        )

    doubled, zeros = reordered(IMAGES)
    assert doubled.equal(IMAGES * 2) and not zeros.any()


@pytest.mark.parametrize("constant", [gw.channels_last, gw.preserve_format])
def test_constants_are_one_object(constant: Any) -> None:
    assert copy.deepcopy(constant) is constant
    assert pickle.loads(pickle.dumps(constant)) is constant


def test_the_older_name_of_contiguous_format_is_the_same_object() -> None:
    assert gw.legacy_contiguous_format is gw.contiguous_format
    last = IMAGES.contiguous(memory_format=gw.channels_last)
    assert last.clone(memory_format=gw.legacy_contiguous_format).is_contiguous()


def test_layout() -> None:
    assert gw.zeros(1, layout=gw.strided, pin_memory=False).layout is gw.strided
    with pytest.raises(TypeError, match="strided"):
        gw.zeros(1, layout="sparse")


@pytest.mark.usefixtures("no_gpu")
def test_pinning_needs_a_gpu() -> None:
    with pytest.raises(RuntimeError, match="accelerator"):
        gw.zeros(1, pin_memory=True)


def test_default_device() -> None:
    with gw.device("meta"):
        module = gw.nn.Linear(2, 3)
        assert gw.get_default_device() == gw.device("meta")
        assert gw.tensor([1.0]).is_meta and gw.zeros(2, device="cpu").is_cpu
    assert module.weight.is_meta and gw.zeros(1).is_cpu
    gw.set_default_device("meta")
    assert gw.zeros(1).is_meta
    gw.set_default_device(None)
    assert gw.zeros(1).is_cpu
    assert module.to_empty(device="cpu").weight.is_cpu


def test_each_thread_has_its_default_device() -> None:
    def blocks(entered: Barrier) -> Any:
        with gw.device("meta"):
            entered.wait()              # another thread enters its block in this one
            inner = gw.zeros(1)
            entered.wait()              # and leaves it first
            return inner.is_meta, gw.rand(1).is_meta, gw.get_default_device().type

    def others(entered: Barrier) -> Any:
        entered.wait()
        with gw.device("cpu"):
            made = gw.zeros(1), gw.tensor([2.0])
        entered.wait()
        return [tensor.is_cpu for tensor in made]

    both = Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(blocks, both), pool.submit(others, both)
        assert first.result(60) == (True, True, "meta")
        assert second.result(60) == [True, True]
    gw.set_default_device("meta")
    try:
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(gw.zeros, 1).result(60).is_cpu
    finally:
        gw.set_default_device(None)


def test_to_the_meta_device_and_back() -> None:
    assert IMAGES.to("meta").shape == IMAGES.shape and IMAGES.to("meta").is_meta
    with pytest.raises(NotImplementedError, match="no data"):
        IMAGES.to("meta").to("cpu")


@pytest.mark.parametrize(
    "call",
    [
        lambda: gw.is_signed(1),
        lambda: gw.numel([1]),
        lambda: gw.is_same_size(IMAGES, "a"),
        lambda: IMAGES.clone().set_("a"),
        lambda: IMAGES.clone().resize_("a"),
        lambda: IMAGES.clone().resize_as_(3),
        lambda: IMAGES.type_as(3),
        lambda: gw.nn.functional.mse_loss("a", IMAGES),
        lambda: gw.nn.functional.margin_ranking_loss(1, 2, 3),
        lambda: gw.nn.functional.embedding(IMAGES, (1,)),
    ],
)
def test_what_is_no_tensor_is_told(call: Any) -> None:
    with pytest.raises(TypeError, match=r"must be (Tensor|ints|tuple of ints)"):
        call()
