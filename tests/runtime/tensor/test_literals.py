"""`tensor()` of Python data: dtypes that are inferred, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (1, gw.int64),
        (1.5, gw.float32),
        (True, gw.bool),
        (1j, gw.complex64),
        ([], gw.float32),
        ([True, 2], gw.int64),
        ([1, 2.5], gw.float32),
        ([[1], [2j]], gw.complex64),
        (np.float64(1), gw.float64),
        ([np.float64(1), 2], gw.float64),
        ([[np.float16(1)]], gw.float16),
        (np.int16(1), gw.int16),
        ([gw.tensor(1), 2.5], gw.float32),
        ([gw.tensor(1), gw.tensor(2)], gw.int64),
        ([[gw.tensor(1.0)], [gw.tensor(2.0)]], gw.float32),
        ([gw.tensor(True), gw.tensor(False)], gw.bool),
        ([gw.tensor(1), gw.tensor(2.0)], gw.float32),
        ([gw.tensor(1), True], gw.int64),
        ([gw.tensor(1j), gw.tensor(2j)], gw.complex64),
        (range(3), gw.int64),
        ([np.ones(2), np.zeros(2)], gw.float64),
        ([[np.ones(2)], [np.ones(2, np.int32)]], gw.float64),
        ((np.ones(2), [1, 2]), gw.float64),
        ([np.ones(2, np.float32), [1.5, 2]], gw.float32),
        ([np.ones(2, np.int32), [1.5, 2]], gw.float32),
        ([np.ones(1, np.float32), np.ones(1, np.int64)], gw.float32),
        ([1, np.ones(())], gw.float64),
        ([np.zeros(0, np.int16)], gw.int16),
        ([gw.tensor(1.0), np.float64(1)], gw.float64),
    ],
)
def test_inferred_dtypes(data: Any, dtype: gw.dtype) -> None:
    assert gw.tensor(data).dtype is dtype


@pytest.mark.parametrize(
    ("data", "dtype", "error", "text"),
    [
        ("a", None, TypeError, "invalid data type 'str'"),
        (["a"], gw.float32, ValueError, "too many dimensions"),
        ([1, "a"], None, TypeError, "invalid data type 'str'"),
        (["1"], gw.float32, ValueError, "too many dimensions"),
        (None, None, RuntimeError, "Could not infer dtype of NoneType"),
        ([None], gw.float32, TypeError, "not NoneType"),
        ({1: 2}, None, RuntimeError, "Could not infer dtype of dict"),
        ([[1, 2], [3]], None, ValueError, "expected sequence of length 2 at dim 1"),
        ([[[1, 2], [3]]], None, ValueError, "at dim 2"),
        ([[1], 2], None, TypeError, "not a sequence"),
        (2**63, None, ValueError, "Overflow"),
        ([2**70], None, ValueError, "Overflow"),
        ([300], gw.uint8, RuntimeError, "without overflow"),
        ([-256], gw.uint8, RuntimeError, "without overflow"),
        ([1e10], gw.int32, RuntimeError, "without overflow"),
        ([1j], gw.int64, TypeError, "'complex' object cannot be interpreted as an integer"),
        ([np.complex64(1)], gw.int8, TypeError, "cannot be interpreted as an integer"),
        ([float("nan")], gw.int64, RuntimeError, "without overflow"),
        (np.array([1], ">i4"), None, ValueError, "byte order"),
        ([1.0], "float32", TypeError, "must be a dtype"),
    ],
)
def test_what_is_no_tensor(data: Any, dtype: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        gw.tensor(data, dtype=dtype)


def test_unsigned_dtypes_take_small_negative_numbers_around() -> None:
    assert gw.tensor([-1, -255], dtype=gw.uint8).tolist() == [255, 1]
    assert gw.tensor(-1, dtype=gw.uint64).item() == 2**64 - 1
    assert gw.tensor(2**63, dtype=gw.uint64).item() == 2**63


def test_a_scalar_formats_as_its_number() -> None:
    assert f"{gw.tensor(1.5)}" == "1.5"
    assert f"{gw.tensor([1.5])}" == "tensor([1.5000])"
    assert f"{gw.tensor(1.256):.2f}" == "1.26"


def test_tensors_in_lists_stand_for_their_one_number() -> None:
    assert gw.tensor([gw.ones(1), gw.tensor(2.0)]).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="only one element"):
        gw.tensor([gw.ones(2), gw.ones(2)])
    with pytest.warns(UserWarning, match="detach"):
        gw.tensor(gw.ones(2))


def test_types_of_python_are_dtypes() -> None:
    assert gw.tensor([1], dtype=float).dtype is gw.float64  # type: ignore[arg-type]
    assert gw.as_tensor([1], dtype=bool).dtype is gw.bool  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a dtype"):
        gw.tensor([1], dtype="float32")  # type: ignore[arg-type]


def test_buffers() -> None:
    assert gw.asarray(bytearray(b"\1\2"), dtype=gw.uint8, copy=True).tolist() == [1, 2]
    with pytest.raises(ValueError, match="do not lie in"):
        gw.frombuffer(bytearray(8), dtype=gw.int32, count=0)
    with pytest.raises(ValueError, match="buffer protocol"):
        gw.frombuffer([1], dtype=gw.int32)


@pytest.mark.oracle
@pytest.mark.parametrize("beside", [None, 1, 1.5, True])
@pytest.mark.parametrize(
    "name", ["float64", "float16", "bfloat16", "float32", "int64", "int32", "uint8", "bool"]
)
def test_tensors_among_numbers_count_with_their_dtypes(name: str, beside: Any) -> None:
    torch = pytest.importorskip("torch")

    def dtype_of(library: Any) -> str:
        one = library.ones((), dtype=getattr(library, name))
        items = [one, one] if beside is None else [one, beside]
        nested = library.tensor([items, items]).dtype
        assert nested == library.tensor(items).dtype
        return str(nested).rpartition(".")[2]

    assert dtype_of(gw) == dtype_of(torch)


def _in_itself(copies: int, *others: Any) -> list[Any]:
    data: list[Any] = [*others]
    data.extend([data] * copies)
    return data


def _mutual() -> list[Any]:
    first: list[Any] = []
    second = (first, first)
    first.extend([second, second])
    return first


def _deep(depth: int, copies: int = 1) -> Any:
    data: Any = 1.0
    for _ in range(depth):
        data = [data] * copies
    return data


ENDLESS = {
    "in itself": lambda: _in_itself(1),
    "twice in itself": lambda: _in_itself(2),
    "behind a number": lambda: _in_itself(2, 1.0),
    "behind a list": lambda: _in_itself(2, [1.0, 2.0, 3.0]),
    "beside a tensor": lambda: _in_itself(2, gw.tensor(1.0)),
    "beside an array": lambda: _in_itself(2, np.ones(3)),
    "of each other": _mutual,
    "deeper than tensors": lambda: _deep(33),
    "very deep": lambda: _deep(100_000),
    "of few lists in many places": lambda: _deep(60, 2),
}
READERS: dict[str, Any] = {
    "tensor": gw.tensor,
    "tensor of a dtype": lambda data: gw.tensor(data, dtype=gw.int32),
    "as_tensor": gw.as_tensor,
    "asarray": gw.asarray,
    "Tensor": gw.Tensor,
    "LongTensor": gw.LongTensor,
    "new_tensor": gw.ones(1).new_tensor,
    "FloatStorage": gw.FloatStorage,
    "index": lambda data: gw.ones(3, 3)[data, 0],
}


@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("reader", READERS)
def test_sequences_nested_without_end_are_refused(reader: str, kind: str) -> None:
    with pytest.raises(ValueError, match=r"no array|too many dimensions") as raised:
        READERS[reader](ENDLESS[kind]())
    assert len(str(raised.value)) < 1000


def test_compiled_code_refuses_them_too() -> None:
    data = _in_itself(1)
    with pytest.raises(ValueError, match="too many dimensions"):
        gw.compile(lambda x: x + gw.tensor(data))(gw.ones(3))


def test_as_many_dims_as_a_tensor_has() -> None:
    assert gw.tensor(_deep(32)).shape == (1,) * 32
    shared = [[1, 2]] * 3
    assert gw.tensor([shared, shared]).tolist() == [shared, shared]


def test_more_elements_than_there_is_memory_for() -> None:
    data = _deep(5, 1000)
    with pytest.raises(gw.OutOfMemoryError, match="8000000000000000 bytes"):
        gw.tensor(data)
