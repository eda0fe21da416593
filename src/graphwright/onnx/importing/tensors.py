"""Tensors of a model's file as values: their sizes, types and data checked, external data read."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

import graphwright as gw
from graphwright.onnx.element_types import (
    DTYPES,
    ELEMENT_TYPES,
    FLOAT4E2M1,
    INT2,
    INT4,
    NARROW,
    STRING,
    UINT2,
    UINT4,
)
from graphwright.onnx.errors import InvalidModel
from graphwright.onnx.importing.values import Narrow, as_tensor, of_objects

_NARROW_ARRAYS = {
    UINT4: "uint4", INT4: "int4", FLOAT4E2M1: "float4_e2m1fn", UINT2: "uint2", INT2: "int2",
}  # fmt: skip
LARGEST = 2**40
"""Bytes of one tensor, beyond which sizes are not believed."""


def value_of(proto: Any, folder: Path | None) -> Any:
    """What a TensorProto says: a Tensor, a Narrow, or a NumPy array of str.

    Args:
        proto: an onnx.TensorProto.
        folder: where the files of external data are; None where there can be none.

    Raises:
        InvalidModel: its data do not fit its sizes, or lie where they must not.
    """
    title = f"tensor {proto.name!r}"
    kind = proto.data_type
    if kind not in DTYPES and kind not in NARROW and kind != STRING:
        raise InvalidModel(f"{title}: element type {kind} is none of ONNX's")
    shape = tuple(proto.dims)
    if any(size < 0 for size in shape):
        raise InvalidModel(f"{title}: a size is negative in {list(shape)}")
    count = math.prod(shape)
    if kind == STRING:
        return _strings(proto, shape, count, title)
    n_bytes = _bytes_of(kind, count)
    if n_bytes > LARGEST:
        raise InvalidModel(f"{title}: sizes {list(shape)} need {n_bytes} bytes")
    if proto.data_location == proto.EXTERNAL:
        raw: Any = read_external(proto, folder, n_bytes, title)
    elif proto.HasField("raw_data"):
        raw = proto.raw_data
    else:
        return _of_fields(proto, count, title)
    if len(raw) != n_bytes:
        raise InvalidModel(
            f"{title}: {len(raw)} bytes of data, where sizes {list(shape)} need {n_bytes}"
        )
    if kind in NARROW:
        whole = type(proto)(dims=shape, data_type=kind, raw_data=bytes(raw))
        return _by_library(whole, title)
    array = np.frombuffer(raw, array_dtype(kind).newbyteorder("<")).reshape(shape)
    return gw.from_numpy(array.astype(array_dtype(kind), copy=True))


def array_dtype(kind: int) -> np.dtype[Any]:
    """NumPy's dtype of an element type, ml_dtypes' for those that NumPy lacks."""
    if kind in _NARROW_ARRAYS:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, _NARROW_ARRAYS[kind]))
    return DTYPES[kind].numpy


def from_array(array: np.ndarray) -> Any:
    """A NumPy array as a value: a Tensor, a Narrow, or the array itself where it has text."""
    if array.dtype.kind in "OUS":
        return array.astype(object)
    for kind, name in _NARROW_ARRAYS.items():
        if array.dtype.name == name:
            return Narrow(gw.from_numpy(array.astype(NARROW[kind].numpy)), kind)
    array = np.ascontiguousarray(array).reshape(array.shape)
    return gw.from_numpy(array if array.flags.writeable else array.copy())


def to_array(value: Any) -> Any:
    """A value as a NumPy array, a list of them, or None."""
    if isinstance(value, list):
        return [to_array(item) for item in value]
    if isinstance(value, Narrow):
        return value.tensor.detach().numpy().astype(array_dtype(value.kind))
    value = as_tensor(value)
    return value.detach().numpy() if isinstance(value, gw.Tensor) else value


def element_type(value: Any) -> int:
    """The number of a value's element type in ONNX."""
    if isinstance(value, Narrow):
        return value.kind
    value = as_tensor(value)
    return ELEMENT_TYPES[value.dtype] if isinstance(value, gw.Tensor) else STRING


def _bytes_of(kind: int, count: int) -> int:
    if kind in NARROW:
        return -(-count // (4 if kind in (UINT2, INT2) else 2))
    return count * DTYPES[kind].itemsize


def _strings(proto: Any, shape: tuple[int, ...], count: int, title: str) -> np.ndarray:
    if len(proto.string_data) != count:
        raise InvalidModel(
            f"{title}: {len(proto.string_data)} strings, where sizes {list(shape)} need {count}"
        )
    try:
        texts = [item.decode() for item in proto.string_data]
    except UnicodeDecodeError as error:
        raise InvalidModel(f"{title}: a string is not UTF-8") from error
    return of_objects(texts, shape)


def _of_fields(proto: Any, count: int, title: str) -> Any:
    """The value of a tensor whose elements stand in a field of their own type."""
    from onnx import helper

    kind = proto.data_type
    field = helper.tensor_dtype_to_field(kind)
    needed = _bytes_of(kind, count) if kind in NARROW else count
    if kind in DTYPES and DTYPES[kind].is_complex:
        needed = 2 * count
    if len(getattr(proto, field)) != needed:
        raise InvalidModel(
            f"{title}: {len(getattr(proto, field))} elements in {field}, where sizes "
            f"{list(proto.dims)} need {needed}"
        )
    return _by_library(proto, title)


def _by_library(proto: Any, title: str) -> Any:
    from onnx import numpy_helper

    try:
        return from_array(numpy_helper.to_array(proto))
    except (OverflowError, TypeError, ValueError) as error:
        raise InvalidModel(f"{title}: {error}") from error


def sparse_value_of(proto: Any, folder: Path | None) -> gw.Tensor:
    """What a SparseTensorProto says, as a dense tensor.

    Raises:
        InvalidModel: its indices do not fit its sizes.
    """
    values, indices = value_of(proto.values, folder), value_of(proto.indices, folder)
    shape = tuple(proto.dims)
    if not isinstance(values, gw.Tensor) or not isinstance(indices, gw.Tensor):
        raise InvalidModel("a sparse tensor's values and indices are numbers")
    size = math.prod(shape)
    if any(s < 0 for s in shape) or size * values.element_size() > LARGEST:
        raise InvalidModel(f"a sparse tensor cannot have sizes {list(shape)}")
    flat = indices.numpy()
    if flat.ndim == 2 and flat.shape == (len(values), len(shape)):
        if (flat < 0).any() or (flat >= np.array(shape)).any():
            raise InvalidModel(f"a sparse tensor's indices lie outside of {list(shape)}")
        flat = np.ravel_multi_index(tuple(flat.T), shape)
    if flat.shape != (len(values),) or (flat < 0).any() or (flat >= size).any():
        raise InvalidModel(f"a sparse tensor's indices do not fit sizes {list(shape)}")
    dense = np.zeros(size, dtype=values.numpy().dtype)
    dense[flat] = values.numpy()
    return gw.from_numpy(dense.reshape(shape))


def read_external(proto: Any, folder: Path | None, n_bytes: int, title: str) -> bytes:
    """The bytes of a tensor that stand in another file of the model's folder.

    Raises:
        InvalidModel: the place is outside of the folder, no plain file, or too short.
    """
    where = {entry.key: entry.value for entry in proto.external_data}
    location = where.get("location", "")
    if folder is None:
        raise InvalidModel(f"{title}: external data in {location!r}, but the model has no folder")
    path = _inside(folder, location, title)
    offset = _number(where.get("offset", "0"), f"{title}: offset")
    length = _number(where.get("length", str(n_bytes)), f"{title}: length")
    if length != n_bytes:
        raise InvalidModel(f"{title}: {length} bytes of external data, {n_bytes} are needed")
    with open(path, "rb") as file:
        available = os.fstat(file.fileno()).st_size
        if offset + length > available:
            raise InvalidModel(
                f"{title}: bytes {offset} to {offset + length} of {location!r}, which has "
                f"{available}"
            )
        file.seek(offset)
        return file.read(length)


def _inside(folder: Path, location: str, title: str) -> Path:
    root = folder.resolve()
    try:
        path = (root / location).resolve()
    except (OSError, ValueError) as error:
        raise InvalidModel(f"{title}: {location!r} names no file") from error
    if os.path.isabs(location) or not path.is_relative_to(root) or path == root:
        raise InvalidModel(
            f"{title}: external data in {location!r}, outside of the model's folder"
        )
    if not path.is_file():
        raise InvalidModel(f"{title}: {location!r} is no file in {str(root)!r}")
    return path


def _number(text: str, title: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InvalidModel(f"{title} is {text[:40]!r}, no number of bytes")
    return int(text)
