"""TensorBase: layout, memory, views, lifetimes, and what must be refused."""

from __future__ import annotations

import copy
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

from graphwright.runtime import _core
from graphwright.runtime.tensor import device, dtypes


class Plain(_core.TensorBase):
    """A subclass as thin as they get."""

    __slots__ = ()


def tensor(values: Any) -> Plain:
    return _core.from_ndarray(Plain, np.array(values, "float32"), dtypes.float32)


class Rich(_core.TensorBase):
    """A subclass with a dict, a destructor and a field."""

    deleted = 0

    def __del__(self) -> None:
        Rich.deleted += 1


class Slotted(_core.TensorBase):
    __slots__ = ("extra",)


def test_layout_of_a_new_tensor() -> None:
    t = _core.empty(Plain, (2, 3, 4), dtypes.int16)
    assert (t.shape, t.stride(), t.storage_offset()) == ((2, 3, 4), (12, 4, 1), 0)
    assert (t.ndim, t.dim(), t.numel(), t.element_size()) == (3, 3, 24, 2)
    assert t.size(-1) == 4 and t.size(dim=0) == 2 and t.stride(1) == 4
    assert t.is_contiguous() and t.is_leaf and not t.requires_grad and not t.is_fake
    assert t.dtype is dtypes.int16 and t.device is device.cpu
    assert t.data_ptr() % 64 == 0
    with pytest.raises(IndexError, match="out of range"):
        t.size(3)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (0, 3), (1, 1), (2, 1, 3)])
def test_contiguous_strides_as_in_pytorch(shape: tuple[int, ...]) -> None:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    t = _core.empty(Plain, shape, dtypes.float32)
    assert t.stride() == tuple(reversed(strides))
    assert t.is_contiguous()
    assert t._nd.shape == shape
    assert _core.from_ndarray(Plain, np.zeros(shape, "f"), dtypes.float32).stride() == t.stride()


def test_more_dimensions_than_fit_inline() -> None:
    t = _core.empty(Plain, (1,) * 31 + (2,), dtypes.uint8)
    assert t.ndim == 32 and t.numel() == 2 and t.is_contiguous()
    assert _core.detach(Plain, t).shape == t.shape
    with pytest.raises(ValueError, match="at most 32"):
        _core.empty(Plain, (1,) * 33, dtypes.uint8)


def test_the_array_is_shared_but_never_the_object() -> None:
    mine = np.arange(6, dtype="f").reshape(2, 3)
    t = _core.from_ndarray(Plain, mine, dtypes.float32)
    assert t._nd is not mine and np.shares_memory(t._nd, mine)
    assert t.data_ptr() == mine.ctypes.data
    mine.shape = (6,)
    assert t._nd.shape == (2, 3)
    t._nd[0, 0] = 9
    assert mine[0] == 9


def test_numpy_outlives_the_tensor() -> None:
    gc.collect()
    t = _core.empty(Plain, (1 << 20,), dtypes.float32)
    live = _core.memory_stats()["live"]
    array = t._nd
    array[:] = 7
    del t
    gc.collect()
    assert _core.memory_stats()["live"] == live
    assert (array == 7).all()
    del array
    assert _core.memory_stats()["live"] == live - (4 << 20)


def test_strided_arrays() -> None:
    base = np.arange(24, dtype="f").reshape(4, 6)
    t = _core.from_ndarray(Plain, base[::2, 1::2], dtypes.float32)
    assert t.stride() == (12, 2) and not t.is_contiguous()
    np.testing.assert_array_equal(t._nd, base[::2, 1::2])
    wide = _core.from_ndarray(Plain, np.broadcast_to(np.float32(3), (2, 5)), dtypes.float32)
    assert wide.stride() == (0, 0) and not wide._nd.flags.writeable


@pytest.mark.parametrize(
    ("array", "dtype", "error"),
    [
        (np.zeros(4, "f")[::-1], dtypes.float32, ValueError),
        (np.zeros(4, ">f4"), dtypes.float32, TypeError),
        (np.zeros(4, "f"), dtypes.float64, TypeError),
        (np.zeros(4, "u2"), dtypes.bfloat16, TypeError),
        (np.zeros(9, "u1")[1:].view("f"), dtypes.float32, ValueError),
        (np.zeros(2, [("a", "f4"), ("b", "u1")])["a"], dtypes.float32, ValueError),
        ([1.0], dtypes.float32, TypeError),
        (np.zeros(4, "f"), np.float32, TypeError),
    ],
)
def test_arrays_that_are_no_tensors(array: object, dtype: object, error: type) -> None:
    with pytest.raises(error):
        _core.from_ndarray(Plain, array, dtype)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", dtypes.BY_CODE, ids=repr)
def test_every_dtype(dtype: dtypes.dtype) -> None:
    t = _core.empty(Plain, (3,), dtype)
    assert t.dtype is dtype and t._nd.dtype == dtype.numpy and t.element_size() == dtype.itemsize
    t.requires_grad = False
    if dtype.is_floating_point or dtype.is_complex:
        t.requires_grad = True
        assert t.requires_grad
    else:
        with pytest.raises(RuntimeError, match="floating point"):
            t.requires_grad = True


def test_views_share_memory_and_version() -> None:
    t = tensor(np.arange(12).reshape(3, 4))
    view = _core.as_view(Plain, t, (4, 3), (1, 4), 0)
    np.testing.assert_array_equal(view._nd, t._nd.T)
    assert view._base is t and view._storage is t._storage and not view.is_contiguous()
    tail = _core.as_view(Plain, view, (2,), (1,), 10)
    assert tail._base is t and tail._nd.tolist() == [10, 11] and tail.storage_offset() == 10
    _core.bump_version(tail)
    assert t._version == view._version == tail._version == 1
    copy_ = _core.detach(Plain, t)
    assert copy_._storage is t._storage and copy_._version == 1 and copy_._base is None
    other = _core.unversioned(Plain, t)
    _core.bump_version(other)
    assert (other._version, t._version) == (1, 1)
    assert np.shares_memory(other._nd, t._nd)


@pytest.mark.parametrize(
    ("shape", "strides", "offset"),
    [
        ((3, 5), (4, 1), 0),
        ((2,), (1,), 11),
        ((2,), (1,), -1),
        ((1,), (1,), 12),
        ((2, 2), (2**62, 2**62), 0),
        ((2,), (2**63 - 1,), 0),
        ((2,), (1,), 2**63 - 1),
        ((-1,), (1,), 0),
        ((2,), (-1,), 5),
        ((2**40, 2**40), (0, 0), 0),
    ],
)
def test_views_out_of_the_storage(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    t = tensor(np.arange(12).reshape(3, 4))
    with pytest.raises((RuntimeError, OverflowError)):
        _core.as_view(Plain, t, shape, strides, offset)


def test_views_at_the_edge() -> None:
    t = tensor(np.arange(12).reshape(3, 4))
    assert _core.as_view(Plain, t, (1,), (100,), 11)._nd.tolist() == [11]
    for offset in (0, 12, 13, 2**62):
        empty = _core.as_view(Plain, t, (0, 2), (1, 1), offset)
        assert empty.numel() == 0 and empty.storage_offset() == offset and empty._nd.size == 0
    assert _core.as_view(Plain, t, (), (), 3)._nd == 3
    assert _core.as_view(Plain, t, (2, 12), (0, 1), 0)._nd.shape == (2, 12)


def test_sizes_that_do_not_fit() -> None:
    with pytest.raises(RuntimeError, match="63 bits"):
        _core.empty(Plain, (2**40, 2**40), dtypes.float32)
    with pytest.raises(RuntimeError, match="63 bits"):
        _core.empty(Plain, (2**62,), dtypes.float32)
    with pytest.raises(MemoryError):
        _core.empty(Plain, (2**58,), dtypes.float32)
    with pytest.raises(RuntimeError, match="negative"):
        _core.empty(Plain, (-1,), dtypes.float32)
    with pytest.raises(TypeError):
        _core.empty(Plain, (1.5,), dtypes.float32)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _core.empty(int, (1,), dtypes.float32)  # type: ignore[type-var]


def test_uninitialised_tensors_raise() -> None:
    for cls in (_core.TensorBase, Plain, Rich, Slotted):
        t = cls.__new__(cls)
        of_objects = ("_extra",)
        names = [n for n in dir(_core.TensorBase) if not n.startswith("__")]
        names = [n for n in names if n not in of_objects]
        for name in names:
            with pytest.raises(RuntimeError, match="never initialised"):
                value = getattr(t, name)
                value()
        for name in ("grad", "grad_fn", "requires_grad", "output_nr"):
            with pytest.raises(RuntimeError, match="never initialised"):
                setattr(t, name, 0)
        for function in (_core.detach, _core.unversioned):
            with pytest.raises(RuntimeError, match="never initialised"):
                function(Plain, t)
        with pytest.raises(RuntimeError, match="never initialised"):
            _core.as_view(Plain, t, (1,), (1,), 0)
        assert _core.dispatch_flags((t,)) == 0


def test_autograd_fields() -> None:
    t, g = tensor([1.0]), tensor([2.0])
    t.grad = g
    assert t.grad is g
    t.grad = None
    assert t.grad is None
    with pytest.raises(TypeError, match="expected to be a Tensor"):
        t.grad = 3
    with pytest.raises(RuntimeError, match="its own grad"):
        t.grad = t
    t.grad = g
    del t.grad
    assert t.grad is None
    with pytest.raises(RuntimeError, match="must be a bool"):
        t.requires_grad = 1  # type: ignore[assignment]
    t.grad_fn = node = object()
    t.output_nr = 2
    assert t.grad_fn is node and t.output_nr == 2 and t.requires_grad and not t.is_leaf
    with pytest.raises(RuntimeError, match="leaf"):
        t.requires_grad = False
    with pytest.raises(AttributeError):
        del t.grad_fn


def test_subclasses_with_more_than_the_base() -> None:
    Rich.deleted = 0
    for _ in range(3):
        r = _core.empty(Rich, (2,), dtypes.float32)
        r.note = "kept"  # type: ignore[attr-defined]
        plain = _core.detach(Plain, r)
        del r
        assert plain.shape == (2,)
    assert Rich.deleted == 3
    s = _core.empty(Slotted, (2,), dtypes.float32)
    s.extra = 1
    s.other = [s]  # type: ignore[attr-defined]
    assert s.extra == 1 and s.__dict__ == {"other": [s]}


def test_cycles_are_collected() -> None:
    class Node:
        pass

    for cls in (Plain, Rich):
        t = _core.empty(cls, (2,), dtypes.float32)
        node = Node()
        node.saved = t  # type: ignore[attr-defined]
        t.grad_fn = node
        t.own = t  # type: ignore[attr-defined]
        seen = weakref.ref(node)
        del t, node
        gc.collect()
        assert seen() is None


def test_weak_references() -> None:
    t = tensor([1.0])
    called = []
    reference = weakref.ref(t, called.append)
    assert reference() is t
    del t
    assert reference() is None and called == [reference]


def test_long_chains_are_destroyed() -> None:
    class Node:
        __slots__ = ("saved",)

    t = tensor([1.0])
    for _ in range(100_000):
        node = Node()
        node.saved = t
        t = tensor([1.0])
        t.grad_fn = node
    view = t
    for _ in range(1000):
        view = _core.as_view(Plain, view, (1,), (1,), 0)
    del t, view, node


def test_no_reference_leaks() -> None:
    array = np.zeros(4, "f")
    shape = (2, 3)
    for _ in range(3):
        before = sys.getrefcount(array), sys.getrefcount(shape), sys.getrefcount(Plain)
        for _ in range(500):
            t = _core.from_ndarray(Plain, array, dtypes.float32)
            u = _core.empty(Plain, shape, dtypes.float32)
            v = _core.as_view(Plain, u, (3, 2), (1, 3), 0)
            assert t._nd is t._nd and v.shape and v.stride() and v._base is u
        del t, u, v
        after = sys.getrefcount(array), sys.getrefcount(shape), sys.getrefcount(Plain)
        assert before == after


def test_meta_tensors_have_no_data() -> None:
    t = _core.meta(Plain, (2, 3), (3, 1), dtypes.bfloat16, device.cpu, fake=True)
    assert t.is_fake and t.device is device.cpu and t.numel() == 6 and t.data_ptr() == 0
    with pytest.raises(RuntimeError, match="no data"):
        _ = t._nd
    view = _core.as_view(Plain, t, (3, 2), (1, 3), 0)
    assert view.is_fake and view._storage is t._storage and view._base is t
    assert _core.detach(Plain, t).is_fake
    m = _core.meta(Plain, (2,), (1,), dtypes.float32, device.device("cuda:3"))
    assert m.device == device.device("cuda", 3) and not m.is_fake
    with pytest.raises(TypeError, match="device"):
        _core.meta(Plain, (2,), (1,), dtypes.float32, "cpu")  # type: ignore[arg-type]


class Size:
    """A symbolic size, as far as the core is concerned: it multiplies and compares."""

    def __init__(self, hint: int) -> None:
        self.hint = hint

    def __mul__(self, other: object) -> Size:
        return Size(self.hint * getattr(other, "hint", other))

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return self.hint == getattr(other, "hint", other)

    __hash__ = None  # type: ignore[assignment]


def test_symbolic_sizes() -> None:
    n = Size(5)
    t = _core.meta(Plain, (n, 3), (3, 1), dtypes.float32, device.cpu, fake=True)
    assert t.shape[0] is n and t.size(0) is n and t.numel() == 15 and t.is_contiguous()
    turned = _core.as_view(Plain, t, (3, n), (1, 3), 0)
    assert turned.shape == (3, n) and not turned.is_contiguous()
    moved = _core.as_view(Plain, t, (2,), (1,), n)
    assert moved.storage_offset() is n
    wide = _core.meta(Plain, (2, n), (n, 1), dtypes.float32, device.cpu)
    assert wide.is_contiguous() and wide.stride() == (n, 1)
    with pytest.raises(TypeError):
        _core.as_view(Plain, tensor([1.0]), (n,), (1,), 0)


def test_devices_and_dtypes_are_single_objects() -> None:
    assert device.device("cuda:1") is device.device("cuda", 1)
    assert device.device(device.cpu) is device.cpu
    assert copy.deepcopy(device.cpu) is device.cpu
    assert copy.deepcopy(dtypes.float32) is dtypes.float32
    assert repr(device.device("cuda", 1)) == "device(type='cuda', index=1)"
    assert str(device.device("cuda", 1)) == "cuda:1" and repr(dtypes.int8) == "graphwright.int8"
    for bad in ("gpu", "cuda:x", "cuda:99", ""):
        with pytest.raises(RuntimeError):
            device.device(bad)
    assert dtypes.from_numpy_dtype(">f4") is dtypes.float32
    with pytest.raises(TypeError, match="no graphwright dtype"):
        dtypes.from_numpy_dtype("S3")
