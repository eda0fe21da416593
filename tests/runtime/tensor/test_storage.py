"""A tensor's memory as an object: what it says, and tensors made of it by `set_`."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw


def _row() -> gw.Tensor:
    return gw.tensor([1.0, 2.0, 3.0, 4.0])


def test_views_share_one_storage() -> None:
    x = _row()
    assert x[1:].untyped_storage() == x.untyped_storage()
    assert hash(x[1:].storage()) == hash(x.storage())
    assert x.clone().untyped_storage() != x.untyped_storage()
    assert x[2:].untyped_storage().data_ptr() == x.data_ptr()


def test_an_untyped_storage_is_bytes() -> None:
    storage = gw.tensor([258], dtype=gw.int32).untyped_storage()
    assert (len(storage), storage.nbytes(), storage.element_size()) == (4, 4, 1)
    assert storage.tolist() == list(storage) == [2, 1, 0, 0]
    assert storage[1] == storage[-3] == 1 and storage[1:3].tolist() == [1, 0]
    with pytest.raises(IndexError):
        _ = storage[4]


def test_a_typed_storage_is_elements() -> None:
    storage = _row()[1:].storage()
    assert type(storage) is gw.TypedStorage and storage.dtype is gw.float32
    assert (len(storage), storage.nbytes(), storage.element_size()) == (4, 16, 4)
    assert storage.tolist() == [1.0, 2.0, 3.0, 4.0] and storage[-1] == 4.0
    assert isinstance(storage, gw.FloatStorage) and not isinstance(storage, gw.LongStorage)
    assert _row().storage_type() is gw.FloatStorage
    assert storage.untyped() == storage and storage.int().tolist() == [1, 2, 3, 4]


def test_writes_are_seen_by_tensors() -> None:
    x = _row()
    x.storage()[2] = 9
    x.untyped_storage()[0:4] = 0
    assert x.tolist() == [0.0, 2.0, 9.0, 4.0]
    x.storage().fill_(7)
    assert x.tolist() == [7.0] * 4
    x.storage().copy_(gw.LongStorage([1, 2, 3, 4]))
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(RuntimeError, match="size does not match"):
        x.storage().copy_(gw.FloatStorage(3))


def test_storages_are_made_from_sizes_and_values() -> None:
    assert len(gw.UntypedStorage(5)) == 5 and len(gw.FloatStorage()) == 0
    assert gw.DoubleStorage([1, 2]).tolist() == [1.0, 2.0]
    again = gw.TypedStorage(wrap_storage=_row().untyped_storage(), dtype=gw.int32)
    assert len(again) == 4 and again.dtype is gw.int32
    with pytest.raises(TypeError):
        gw.FloatStorage(1, 2)


@pytest.mark.parametrize("of", [gw.Tensor.storage, gw.Tensor.untyped_storage])
def test_copies_have_memory_of_their_own(of: Any) -> None:
    storage = of(_row())
    for other in (storage.clone(), copy.deepcopy(storage), pickle.loads(pickle.dumps(storage))):
        assert type(other) is type(storage) and other != storage
        assert other.tolist() == storage.tolist()


def test_set_reads_a_storage() -> None:
    x, y = _row(), gw.empty(0)
    assert y.set_(x.storage(), 1, (2, 2), (1, 1)).tolist() == [[2.0, 3.0], [3.0, 4.0]]
    assert y.set_(x.untyped_storage()).tolist() == x.tolist()
    y[0] = 5
    assert x[0] == 5 and y.is_set_to(x)
    with pytest.raises(RuntimeError):
        y.set_(x.storage(), 3, (2,), (1,))
    with pytest.raises(RuntimeError, match="float32"):
        gw.empty(0, dtype=gw.int32).set_(x.storage())


def test_a_storage_keeps_its_size() -> None:
    storage = _row().untyped_storage()
    assert not storage.resizable() and storage.resize_(16) is storage
    with pytest.raises(RuntimeError, match="not resizable"):
        storage.resize_(4)


def test_resize_counts_as_a_write() -> None:
    x = _row()
    assert x.resize_(2, 2)._version == 1 and x.resize_((2, 2))._version == 2
    like = gw.empty(0).resize_(2, 3, 2, 2, memory_format=gw.channels_last)
    assert like.stride() == (12, 1, 6, 3)
    with pytest.raises(TypeError):
        x.resize_()


def test_map_reads_tensors_of_one_dtype() -> None:
    x = _row()
    assert x.map_(_row(), lambda a, b: a * b).tolist() == [1.0, 4.0, 9.0, 16.0]
    assert x.map2_(gw.ones(1), _row(), lambda a, b, c: a + b - c).tolist() == [1, 3, 7, 13]
    assert x.apply_(lambda a: a + 1).tolist() == [2, 4, 8, 14] and x._version == 0
    with pytest.raises(TypeError, match="float32"):
        x.map_(gw.ones(4, dtype=gw.int64), lambda a, b: a)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.requires_grad_().apply_(lambda a: a)
    with pytest.raises(TypeError, match="callable"):
        _row().apply_(3)  # type: ignore[arg-type]


def test_assigning_data_keeps_the_version() -> None:
    w, q = gw.ones(3, requires_grad=True), gw.ones(3, requires_grad=True)
    product = (w * q).sum()
    w.data -= 0.5
    w.data = w.data * 2
    assert w._version == 0
    product.backward()
    assert q.grad is not None and q.grad.tolist() == [1.0] * 3


def test_assigned_data_is_the_same_memory() -> None:
    w = gw.ones(3)
    memory = w.data
    for _ in range(3):
        w.data = w.data
    assert w.is_set_to(memory) and memory.is_set_to(w)
    assert not w.is_set_to(gw.ones(3))


def test_a_file_is_memory(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abcdefgh")
    private = gw.UntypedStorage.from_file(str(path), nbytes=4)
    private[0] = 65
    assert bytes(private.tolist()) == b"Abcd" and path.read_bytes() == b"abcdefgh"
    shared = gw.UntypedStorage.from_file(path, True, 12)
    shared[0] = 66
    assert path.read_bytes() == b"Bbcdefgh\0\0\0\0"
    made = gw.UntypedStorage.from_file(tmp_path / "new", shared=True, nbytes=3).fill_(7)
    assert (tmp_path / "new").read_bytes() == b"\7\7\7" and len(made) == 3
    assert len(gw.UntypedStorage.from_file(path)) == 0
    with pytest.raises(RuntimeError, match="size <12> is smaller than the required mapping size"):
        gw.UntypedStorage.from_file(path, False, 13)
    with pytest.raises(FileNotFoundError):
        gw.UntypedStorage.from_file(tmp_path / "none", False, 1)


def test_a_storage_as_a_tensor_shares_its_memory() -> None:
    x = gw.tensor([1.0, 2.0])
    storage = x.untyped_storage()
    raw = gw.asarray(storage[4:], dtype=gw.uint8)
    raw.fill_(0)
    assert x.tolist() == [1, 0] and raw.data_ptr() == x.data_ptr() + 4
    assert gw.asarray(storage, dtype=gw.float32).tolist() == [1, 0]
    assert gw.asarray(storage).dtype is gw.int64 and len(gw.asarray(storage[:3])) == 0
    assert gw.asarray(x.storage()).data_ptr() == x.data_ptr()
    assert gw.asarray(storage, dtype=gw.uint8, copy=True).data_ptr() != x.data_ptr()
    with pytest.raises(RuntimeError, match="expected an untyped storage, or one of int32"):
        gw.asarray(x.storage(), dtype=gw.int32)
