"""DLPack, `__array__` and `__array_ufunc__`: memory shared with NumPy and PyTorch."""

from __future__ import annotations

import ctypes
import gc
import operator
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.tensor import dtypes

NUMPY_KNOWS = [d for d in dtypes.BY_CODE if d not in {dtypes.bfloat16, *dtypes.FLOAT8}]


def _values(dtype: Any) -> gw.Tensor:
    return gw.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)


@pytest.mark.parametrize("dtype", NUMPY_KNOWS, ids=lambda d: d.name)
def test_numpy_reads_and_writes_the_same_memory(dtype: Any) -> None:
    x = _values(dtype)
    array = np.from_dlpack(x)
    assert array.dtype == dtype.numpy and array.tolist() == x.tolist()
    array[0, 0] = 1
    assert x[0, 0].item() == 1
    back = gw.from_dlpack(array)
    assert back.dtype is dtype and back.data_ptr() == x.data_ptr()


@pytest.mark.parametrize("view", ["x.t()", "x[:, 1:]", "x[:, ::2]", "x[0]", "x[0, 0]", "x[:0]"])
def test_layouts(view: str) -> None:
    x = eval(view, {"x": gw.arange(6.0).reshape(2, 3)})
    array = np.from_dlpack(x)
    assert array.tolist() == x.tolist() and array.shape == x.shape
    y = gw.from_dlpack(array)
    assert y.tolist() == x.tolist()
    assert y.numel() == 0 or y.data_ptr() == x.data_ptr()


def test_copies() -> None:
    x = gw.ones(3)
    own = np.from_dlpack(x, copy=True)
    own[0] = 5
    assert x.tolist() == [1.0, 1.0, 1.0]
    array = np.ones(3)
    assert gw.from_dlpack(array, copy=True).data_ptr() != array.ctypes.data
    assert gw.from_dlpack(array, copy=False).data_ptr() == array.ctypes.data
    assert gw.from_dlpack(array, device="cpu").data_ptr() == array.ctypes.data


def test_memory_lives_as_long_as_either_side() -> None:
    x = gw.arange(100_000.0)
    array = np.from_dlpack(x)
    del x
    gc.collect()
    assert array[-1] == 99_999.0
    source = np.arange(1000.0)
    gone = weakref.ref(source)
    y = gw.from_dlpack(source)
    del source
    gc.collect()
    assert gone() is not None and y[999].item() == 999.0
    del y
    gc.collect()
    assert gone() is None


def test_capsules_that_nobody_takes_leak_nothing() -> None:
    x = gw.ones(3)
    storage = x._storage
    before = sys.getrefcount(storage)
    for version in (None, (1, 0)):
        for _ in range(50):
            x.__dlpack__(max_version=version)
    assert sys.getrefcount(storage) == before
    held = [np.from_dlpack(x) for _ in range(50)]
    assert sys.getrefcount(storage) == before + 50
    del held
    gc.collect()
    assert sys.getrefcount(storage) == before


def test_a_capsule_is_taken_once() -> None:
    for version in (None, (1, 0)):
        capsule = gw.ones(3).__dlpack__(max_version=version)
        assert ("versioned" in repr(capsule)) is (version is not None)
        assert gw.from_dlpack(capsule).tolist() == [1.0, 1.0, 1.0]
        assert "used_dltensor" in repr(capsule)
        with pytest.raises(RuntimeError, match="only once"):
            gw.from_dlpack(capsule)
    assert gw.from_dlpack(gw.to_dlpack(gw.ones(2))).tolist() == [1.0, 1.0]


def test_read_only_memory() -> None:
    array = np.ones(3)
    array.flags.writeable = False
    x = gw.from_dlpack(array)
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    assert not np.from_dlpack(x).flags.writeable
    with pytest.warns(UserWarning, match="not writable"):
        gw.from_numpy(array)


class _Legacy:
    """A producer that knows nothing of versions."""

    def __init__(self, tensor: gw.Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self) -> Any:
        return self.tensor.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def test_producers_without_versions() -> None:
    x = gw.ones(2)
    assert gw.from_dlpack(_Legacy(x)).data_ptr() == x.data_ptr()
    assert gw.from_dlpack(_Legacy(x), copy=True).data_ptr() != x.data_ptr()


def test_what_is_refused() -> None:
    x = gw.ones(3)
    with pytest.raises(BufferError, match="require gradient"):
        gw.ones(3, requires_grad=True).__dlpack__()
    with pytest.raises(BufferError, match="stream"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="device"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="negative"):
        gw.from_dlpack(np.ones(3)[::-1])
    with pytest.raises(ValueError, match="negative"):
        gw.from_numpy(np.ones(3)[::-1])
    with pytest.raises(TypeError, match="__dlpack__"):
        gw.from_dlpack([1.0])
    with pytest.raises(BufferError, match="on cpu is not on meta, and copy is False"):
        gw.from_dlpack(x, device="meta", copy=False)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", dtypes.BY_CODE, ids=lambda d: d.name)
def test_pytorch_both_ways(dtype: Any) -> None:
    torch = pytest.importorskip("torch")
    x = _values(dtype)
    theirs = torch.from_dlpack(x)
    assert str(theirs.dtype) == f"torch.{dtype.name}" and theirs.data_ptr() == x.data_ptr()
    assert theirs.tolist() == x.tolist()
    back = gw.from_dlpack(theirs.t())
    assert back.dtype is dtype and back.stride() == (1, 3) and back.tolist() == x.t().tolist()


def test_ufuncs_give_tensors() -> None:
    x = gw.tensor([1.0, 4.0])
    array = np.array([1.0, 2.0])
    for result in (np.add(array, x), array + x, x.__array_ufunc__(np.add, "__call__", x, array)):
        assert isinstance(result, gw.Tensor) and result.tolist() == [2.0, 6.0]
    assert np.sqrt(x).tolist() == [1.0, 2.0] and np.sqrt(x).dtype is gw.float32
    assert np.add.reduce(x).item() == 5.0
    fraction, whole = np.modf(x)
    assert fraction.tolist() == [0.0, 0.0] and whole.tolist() == [1.0, 4.0]
    assert np.equal(x, 1).dtype is gw.bool


@pytest.mark.parametrize("name", ["leaky_relu", "elu", "celu", "softplus", "hardshrink"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_options_of_activations_may_be_numbers_of_numpy(name: str, kind: Any) -> None:
    function = getattr(gw.nn.functional, name)
    for x in (gw.linspace(-2, 2, 5), gw.linspace(-2, 2, 5, requires_grad=True)):
        for call in (function, gw.compile(function)):
            gw.testing.assert_close(call(x, kind(0.5)), function(x, 0.5))


def test_numpy_scalars_are_numbers() -> None:
    x = gw.ones(2, requires_grad=True)
    product = np.float64(2) * x
    assert product.dtype is gw.float32 and product.grad_fn is not None
    assert (np.float32(3) - x).tolist() == [2.0, 2.0] and (np.int64(1) == x).all()


def test_ufuncs_write_into_tensors() -> None:
    x, out = gw.tensor([1.0, 4.0]), gw.empty(2)
    version = out._version
    assert np.multiply(x, 2, out=out) is out
    assert out.tolist() == [2.0, 8.0] and out._version == version + 1
    array = np.zeros(2)
    assert np.add(x, 1, out=array) is array and array.tolist() == [2.0, 5.0]


def test_ufuncs_refuse_gradients() -> None:
    with pytest.raises(RuntimeError, match="requires grad"):
        np.sin(gw.ones(2, requires_grad=True))


def test_array_protocol() -> None:
    x = gw.ones(2)
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert not np.shares_memory(np.array(x), x.numpy())
    assert np.asarray(x, dtype=np.int8).dtype == np.int8
    with pytest.raises(ValueError, match="copy"):
        x.__array__(dtype=np.int8, copy=False)


@pytest.mark.parametrize("name", ["add", "mul", "pow", "and_", "or_", "xor", "lshift", "rshift"])
@pytest.mark.parametrize("backend", ["plain", "llvm"])
def test_operators_take_scalars_of_numpy_as_numbers(name: str, backend: str) -> None:
    """On either side: their dtype does not change the tensor's."""
    function = getattr(operator, name)
    u = gw.tensor([1, 2], dtype=gw.uint8)
    run = function if backend == "plain" else gw.compile(lambda a, b: function(a, b))
    for pair, numbers in (((np.int64(2), u), (2, u)), ((u, np.int64(2)), (u, 2))):
        result, expected = run(*pair), function(*numbers)
        assert (result.dtype, result.tolist()) == (expected.dtype, expected.tolist())


# -- what another library hands over, field by field


class _Fields(ctypes.Structure):
    """DLPack's DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


def _taken(fields: _Fields) -> gw.Tensor:
    """What is made of a capsule over the structure, which has to live as long."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                     ctypes.c_void_p]
    return gw.from_dlpack(make(ctypes.addressof(fields), b"dltensor", None))


def _longs(values: tuple[int, ...]) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


MEMORY = (ctypes.c_float * 6)(*range(6))
EMPTY, SHAPE, LONG, WIDE, NEGATIVE = map(
    _longs, [(0, 3), (2, 3), (2**31, 2**32), (2**62, 1), (-1, 3)])


def _fields(**changed: Any) -> _Fields:
    given: dict[str, Any] = {
        "data": ctypes.addressof(MEMORY), "device_type": 1, "ndim": 2, "code": 2, "bits": 32,
        "lanes": 1, "shape": ctypes.addressof(SHAPE), **changed,
    }
    return _Fields(**given)


@pytest.mark.parametrize("changed", [
    {"shape": None}, {"ndim": 1, "shape": None}, {"ndim": -1}, {"ndim": 1 << 30}, {"data": None},
    {"lanes": 0}, {"lanes": 2}, {"bits": 0}, {"bits": 24}, {"code": 99}, {"device_type": 0},
    {"device_type": 2}, {"byte_offset": 1}, {"byte_offset": 2**64 - 4}, {"data": 2**64 - 4},
    {"shape": ctypes.addressof(LONG)}, {"shape": ctypes.addressof(NEGATIVE)},
    {"strides": ctypes.addressof(WIDE)}, {"strides": ctypes.addressof(NEGATIVE)},
], ids=lambda changed: "-".join(changed))
def test_hostile_fields_are_refused(changed: dict[str, Any]) -> None:
    fields = _fields(**changed)
    with pytest.raises((BufferError, RuntimeError)):
        _taken(fields)


def test_fields_that_may_be_missing() -> None:
    whole, number = _fields(), _fields(ndim=0, shape=None)
    empty = _fields(data=None, shape=ctypes.addressof(EMPTY))
    assert _taken(whole).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert _taken(empty).shape == (0, 3) and _taken(number).item() == 0
