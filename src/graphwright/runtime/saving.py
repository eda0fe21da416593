"""Saving and loading tensors by name as safetensors files. No pickle, no code, is ever loaded.

Format: https://github.com/huggingface/safetensors (an 8-byte header length, a JSON header of
dtypes, shapes and byte ranges, then the bytes).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

from graphwright.runtime import _core, dtypes
from graphwright.runtime.tensor import Tensor

_NAMES = {
    dtypes.bool: "BOOL",
    dtypes.uint8: "U8",
    dtypes.int8: "I8",
    dtypes.int16: "I16",
    dtypes.int32: "I32",
    dtypes.int64: "I64",
    dtypes.float16: "F16",
    dtypes.bfloat16: "BF16",
    dtypes.float32: "F32",
    dtypes.float64: "F64",
}
_DTYPES = {name: kind for kind, name in _NAMES.items()}
_MAX_HEADER = 100_000_000


class InvalidFile(ValueError):
    """A file that is not a well-formed safetensors file; the message says in what."""


def save_file(
    tensors: Mapping[str, Tensor],
    path: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write named tensors, such as a `state_dict`, to a safetensors file.

    The file appears whole or not at all. Tensors are written contiguously, each for itself even
    where they share memory. TypeError for what is not a tensor, or a dtype that the format lacks.
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    arrays = []
    end = 0
    for name, tensor in tensors.items():
        array = _array_of(name, tensor)
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
        arrays.append(array)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    folder, file_name = os.path.split(path)
    temporary = os.path.join(folder, f".{file_name}.{os.urandom(8).hex()}")
    try:
        with open(temporary, "xb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for array in arrays:
                file.write(array.reshape(-1).view(np.uint8).data)
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def load_file(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """The tensors of a safetensors file by name, in the file's order.

    InvalidFile (a ValueError) for anything malformed: sizes, overlaps and gaps are checked before
    a byte of data is read.
    """
    with open(path, "rb") as file:
        header, size = _read_header(file)
        entries = [
            (name, _checked(name, entry, size))
            for name, entry in header.items()
            if name != "__metadata__"
        ]
        _check_cover([ranges for _, (_, _, ranges) in entries], size)
        data_start = file.tell()
        return {
            name: _read_tensor(file, data_start, kind, shape, ranges)
            for name, (kind, shape, ranges) in entries
        }


def load_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The text values that were given to `save_file` as `metadata`."""
    with open(path, "rb") as file:
        header, _ = _read_header(file)
    metadata = header.get("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise InvalidFile("__metadata__ is not a map of strings")
    return metadata


def _array_of(name: str, tensor: Tensor) -> np.ndarray:
    if not isinstance(name, str):
        raise TypeError(f"tensor names must be strings, got {type(name).__name__}")
    if name == "__metadata__":
        raise ValueError("a tensor cannot be named __metadata__")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"only tensors can be saved; '{name}' is {type(tensor).__name__}")
    if tensor.dtype not in _NAMES:
        raise TypeError(f"'{name}' has dtype {tensor.dtype}, which safetensors does not support")
    return np.ascontiguousarray(tensor.detach().cpu()._nd)


def _read_header(file: BinaryIO) -> tuple[dict[str, Any], int]:
    """The JSON header, and how many bytes of data follow it."""
    total = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if total < 8 or length > min(total - 8, _MAX_HEADER):
        raise InvalidFile("not a safetensors file: the header does not fit in the file")
    try:
        header = json.loads(file.read(length), object_pairs_hook=_no_duplicates)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InvalidFile(f"not a safetensors file: the header is not JSON ({error})") from None
    if not isinstance(header, dict):
        raise InvalidFile("not a safetensors file: the header is not a map")
    return header, total - 8 - length


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise InvalidFile("the header names a key twice")
    return result


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _checked(
    name: str, entry: Any, size: int
) -> tuple[dtypes.dtype, tuple[int, ...], tuple[int, int]]:
    """dtype, shape and byte range of one header entry."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise InvalidFile(f"'{name}': malformed entry")
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in _DTYPES:
        raise InvalidFile(f"'{name}': unsupported dtype {entry['dtype']!r}")
    kind = _DTYPES[entry["dtype"]]
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not isinstance(shape, list) or not all(map(_is_size, shape)) or len(shape) > 64:
        raise InvalidFile(f"'{name}': malformed shape")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_size, offsets)):
        raise InvalidFile(f"'{name}': malformed data_offsets")
    begin, end = offsets
    if end > size or end - begin != math.prod(shape) * kind.itemsize:
        raise InvalidFile(f"'{name}': shape and bytes do not agree")
    return kind, tuple(shape), (begin, end)


def _check_cover(ranges: list[tuple[int, int]], size: int) -> None:
    position = 0
    for begin, end in sorted(ranges):
        if begin != position:
            raise InvalidFile("the tensors' bytes overlap or leave gaps")
        position = end
    if position != size:
        raise InvalidFile("the file holds bytes that belong to no tensor")


def _read_tensor(
    file: BinaryIO,
    data_start: int,
    kind: dtypes.dtype,
    shape: tuple[int, ...],
    ranges: tuple[int, int],
) -> Tensor:
    tensor: Tensor = _core.empty(Tensor, shape, kind)
    file.seek(data_start + ranges[0])
    raw = tensor._nd.reshape(-1).view(np.uint8)
    if file.readinto(raw.data) != ranges[1] - ranges[0]:  # type: ignore[attr-defined]
        raise InvalidFile("the file ended while it was read")
    if kind is dtypes.bool:
        np.not_equal(raw, 0, out=tensor._nd.reshape(-1))
    return tensor
