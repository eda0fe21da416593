"""Whether all writes to a tensor's memory are counted: not while others share it who may write."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core

counted = _core.writes_are_counted

HOLDERS: list[Callable[[gw.Tensor], Any]] = [
    lambda t: t.numpy(), lambda t: t.numpy()[1:], lambda t: t.numpy().data,
    lambda t: t.detach().numpy(), lambda t: t[2:].numpy(), lambda t: np.asarray(t),
    lambda t: np.from_dlpack(t), lambda t: t.__dlpack__(), lambda t: gw.from_numpy(t.numpy()),
    lambda t: gw.from_dlpack(t), lambda t: t.data, lambda t: t.data.view(-1)[3:],
    lambda t: t.data.numpy(),
]


@pytest.mark.parametrize("size", [100, 1 << 16], ids=["small", "large"])
@pytest.mark.parametrize("hold", HOLDERS, ids=range(len(HOLDERS)))
def test_until_the_holder_is_gone(hold: Callable[[gw.Tensor], Any], size: int) -> None:
    t = gw.zeros(size)
    assert counted(t)
    held = hold(t)
    assert not counted(t)
    del held
    gc.collect()
    assert counted(t)


@pytest.mark.parametrize("hand_out", [
    lambda t: t.data_ptr(), lambda t: t.detach().data_ptr(), lambda t: t.data.data_ptr(),
    lambda t: t.untyped_storage().data_ptr(), lambda t: t.untyped_storage()[4:8],
])
def test_for_good(hand_out: Callable[[gw.Tensor], Any]) -> None:
    t = gw.zeros(10)
    hand_out(t)
    gc.collect()
    assert not counted(t)
    assert counted(t.clone())


def test_what_shares_the_version_is_counted() -> None:
    t = gw.zeros(10, 3)
    held: list[Any] = [t.detach(), t[2:], t.t(), t.view(-1), t.untyped_storage()]
    assert held and counted(t) and counted(gw.nn.Parameter(t))


def test_memory_that_came_from_elsewhere() -> None:
    array = np.zeros(10, "f")
    t = gw.from_numpy(array)
    assert not counted(t)
    part = array[2:]
    del array
    assert not counted(t)
    del part
    assert counted(t)
    assert not counted(gw.from_numpy(np.zeros(10, "f")[1:]))
    assert not counted(gw.frombuffer(bytearray(40), dtype=gw.float32))
    assert not counted(gw.zeros(4).share_memory_())


def test_memory_given_as_data() -> None:
    t, source = gw.zeros(4), gw.ones(4)
    t.data = source
    assert not counted(t) and not counted(source)
    del source
    assert counted(t)
    other = t.data
    assert not counted(t)
    del other
    assert counted(t)


def test_copies_and_pickles_hold_nothing() -> None:
    t = gw.zeros(100)
    pickle.loads(pickle.dumps(t))
    t.tolist(), t.sum().item(), repr(t), t.clone().numpy()
    assert counted(t)
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(t, protocol=5, buffer_callback=buffers.append)
    assert not buffers or not counted(t)
    del data, buffers
    assert counted(t)
