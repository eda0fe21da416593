"""SharedMemory, tensors over it, and tensors that move into it."""

from __future__ import annotations

import gc
import os
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime import _core


def file_of(nbytes: int) -> int:
    fd = os.memfd_create("graphwright-test")
    os.truncate(fd, nbytes)
    return fd


def memory(nbytes: int, keep: bool = True) -> _core.SharedMemory:
    return _core.SharedMemory(file_of(nbytes), nbytes, keep)


def test_memory_has_its_file_as_long_as_it_is_kept() -> None:
    kept, closed = memory(100), memory(100, keep=False)
    assert kept.nbytes == closed.nbytes == 100 and kept.fd >= 0 and closed.fd == -1
    fd = kept.fd
    del kept
    with pytest.raises(OSError):
        os.fstat(fd)


def test_two_mappings_of_a_file_are_one_memory() -> None:
    fd = file_of(64)
    one, other = _core.SharedMemory(os.dup(fd), 64, True), _core.SharedMemory(fd, 64, False)
    here, there = (_core.shared_tensor(gw.Tensor, each, 16, 8) for each in (one, other))
    here.fill_(7)
    del one, here
    assert there.tolist() == [7] * 8 and there.dtype is gw.uint8


def test_a_tensor_tells_where_it_lies() -> None:
    place = memory(64)
    tensor = _core.shared_tensor(gw.Tensor, place, 32, 16)
    assert _core.shared_place(tensor._storage) == (place, 32)
    assert _core.shared_place(tensor.data._storage) == (place, 32)
    assert _core.shared_place(tensor[4:]._storage) == (place, 32)
    assert _core.shared_place(gw.ones(2)._storage) is None
    assert _core.shared_place(gw.ones(2, device="meta")._storage) is None
    array = tensor.numpy()
    del place, tensor
    gc.collect()
    array[:] = 1        # the array keeps the memory
    assert array.sum() == 16


def test_who_owns_memory_alone() -> None:
    tensor = gw.ones(3)
    assert _core.owns_alone(tensor)
    repr(tensor)
    assert _core.owns_alone(tensor)
    array = tensor.numpy()
    assert not _core.owns_alone(tensor)
    del array
    for other in (tensor[1:], tensor.detach(), tensor.data):
        assert not _core.owns_alone(tensor) and not _core.owns_alone(other)
        del other


def test_tensors_move_together_and_once() -> None:
    tensor = gw.arange(4.0)
    view, alias, array = tensor[2:], tensor.data, tensor.numpy()
    tensor.add_(0)
    place = memory(64)
    _core.shared_tensor(gw.Tensor, place, 32, 16).copy_(tensor.view(gw.uint8))
    held: dict[int, list[Any]] = {tensor.data_ptr(): [tensor]}
    _core.find_holders([1, "a", view, tensor, gw.ones(1), alias, object()], held)
    (found,) = held.values()
    assert [id(each) for each in found] == [id(each) for each in (tensor, view, tensor, alias)]
    _core.relocate(tuple(found), place, 32)
    tensor.zero_()
    assert view.tolist() == [0, 0] and alias.tolist() == [0] * 4 and array.sum() == 6
    assert tensor._storage is view._storage and tensor._version == view._version == 2
    assert alias._storage is not tensor._storage and alias.data_ptr() == tensor.data_ptr()
    assert _core.shared_place(view._storage) == (place, 32)


@pytest.mark.parametrize("call", [
    lambda: _core.SharedMemory(file_of(4), 5, True),
    lambda: _core.SharedMemory(file_of(4), 0, True),
    lambda: _core.shared_tensor(gw.Tensor, memory(8), 4, 5),
    lambda: _core.shared_tensor(gw.Tensor, memory(8), -1, 2),
    lambda: _core.shared_tensor(gw.Tensor, memory(8), 9, 0),
    lambda: _core.relocate((gw.ones(3),), memory(8), 0),
])  # fmt: skip
def test_what_does_not_fit(call: Any) -> None:
    with pytest.raises(ValueError, match=r"shared memory|no \d to share"):
        call()


@pytest.mark.parametrize("call", [
    lambda: _core.shared_tensor(int, memory(8), 0, 1),  # type: ignore[type-var]
    lambda: _core.shared_tensor(gw.Tensor, b"memory", 0, 1),  # type: ignore[arg-type]
    lambda: _core.shared_place(gw.ones(1)),  # type: ignore[arg-type]
    lambda: _core.owns_alone(1),  # type: ignore[arg-type]
    lambda: _core.relocate((1,), memory(8), 0),  # type: ignore[arg-type]
    lambda: _core.find_holders((), {}),  # type: ignore[arg-type]
])  # fmt: skip
def test_what_is_of_the_wrong_type(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_a_closed_descriptor() -> None:
    fd = file_of(8)
    os.close(fd)
    with pytest.raises(OSError):
        _core.SharedMemory(fd, 8, True)
