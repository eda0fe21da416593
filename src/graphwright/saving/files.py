"""Named tensors as safetensors files.

Format: https://github.com/huggingface/safetensors (an 8-byte header length, a JSON header of
dtypes, shapes and byte ranges, then the bytes).
"""

from __future__ import annotations

import json
import math
import mmap
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.temporary import new_file, remove_stale_once
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.header import InvalidFile, entries, quoted
from graphwright.saving.layouts import is_shape, is_size

NAMES = {
    dtypes.bool: "BOOL",
    dtypes.uint8: "U8",
    dtypes.int8: "I8",
    dtypes.int16: "I16",
    dtypes.uint16: "U16",
    dtypes.int32: "I32",
    dtypes.uint32: "U32",
    dtypes.int64: "I64",
    dtypes.uint64: "U64",
    dtypes.float16: "F16",
    dtypes.bfloat16: "BF16",
    dtypes.float32: "F32",
    dtypes.float64: "F64",
    dtypes.complex64: "C64",
    dtypes.float8_e4m3fn: "F8_E4M3",
    dtypes.float8_e5m2: "F8_E5M2",
    dtypes.float8_e4m3fnuz: "F8_E4M3FNUZ",
    dtypes.float8_e5m2fnuz: "F8_E5M2FNUZ",
    dtypes.float8_e8m0fnu: "F8_E8M0",
}
_DTYPES = {name: kind for kind, name in NAMES.items()}
_MAX_HEADER = 100_000_000
ALIGNMENT = 64
"""Of the data in files that are written, in bytes: what vectors want of memory."""
_NEW = ".new-"

Array = np.ndarray[Any, Any]
Path = str | os.PathLike[str]
Entry = tuple[dtypes.dtype, tuple[int, ...], tuple[int, int]]


def save_file(
    tensors: Mapping[str, Tensor], path: Path, metadata: Mapping[str, str] | None = None
) -> None:
    """Write named tensors, such as a `state_dict`, to a safetensors file.

    The file appears whole or not at all. Tensors are written contiguously, each for itself
    even where they share memory.

    Args:
        tensors: tensors by name.
        path: the file.
        metadata: texts by name, kept in the file's header; none if None.

    Raises:
        TypeError: for what is not a tensor, or a dtype that the format lacks.

    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> gw.save_file({"a": gw.tensor([1, 2])}, f"{folder.name}/a.safetensors")
        >>> gw.load_file(f"{folder.name}/a.safetensors")["a"]
        tensor([1, 2])
        >>> folder.cleanup()
    """
    write_atomically(path, encoded_tensors(tensors, metadata))


def encoded_tensors(
    tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> Iterable[Any]:
    """The parts of a file of these tensors. Raises TypeError for what `save_file` refuses."""
    arrays = {name: _array_of(name, tensor) for name, tensor in tensors.items()}
    return encoded(arrays, {name: tensor.dtype for name, tensor in tensors.items()}, metadata)


def encoded(
    arrays: Mapping[str, Array],
    kinds: Mapping[str, dtypes.dtype],
    metadata: Mapping[str, str] | None,
) -> Iterable[Any]:
    """The parts of a file: the header, then each array's bytes. The arrays are contiguous.

    The first begins at a multiple of `ALIGNMENT` bytes, so that mapped tensors are aligned as far
    as the sizes before them are."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        header[name] = {
            "dtype": NAMES[kinds[name]],
            "shape": list(array.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    if len(text) > _MAX_HEADER:
        raise ValueError(f"the header takes {len(text)} bytes, more than {_MAX_HEADER}")
    yield len(text).to_bytes(8, "little") + text
    for array in arrays.values():
        yield array.reshape(-1).view(np.uint8).data


def write_atomically(path: Path, parts: Iterable[Any]) -> None:
    """Write a file that appears whole or not at all, also where the machine stops.

    What a link leads to is replaced, not the link. Devices and pipes are written to.
    """
    path = os.fspath(path)
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        with open(path, "wb") as device:
            device.writelines(parts)
        return
    folder, name = os.path.split(os.path.realpath(path))
    remove_stale_once(folder, re.escape(_NEW))
    handle, temporary = new_file(folder, _NEW, 0o666)
    try:
        with open(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def load_file(
    path: Path, device: Device | str | int = "cpu", *, mmap: bool = False
) -> dict[str, Tensor]:
    """Tensors of a safetensors file by name, in the file's order.

    Args:
        path: the file.
        device: where the tensors are made: the CPU, or a GPU such as "cuda:0", also as its index.
        mmap: use the file's memory, read when first touched; what is written to the tensors
            stays in this process.

    Returns: a dict of tensors.

    Raises:
        InvalidFile: (a ValueError) for anything malformed: sizes, overlaps and gaps are
            checked before a byte of data is read.
        OSError: where the file cannot be read.
        RuntimeError: there is no such device.

    Example:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> gw.save_file({"a": gw.tensor([1, 2])}, f"{folder.name}/a.safetensors")
        >>> gw.load_file(f"{folder.name}/a.safetensors")
        {'a': tensor([1, 2])}
        >>> folder.cleanup()
    """
    place = Device("cuda", device) if isinstance(device, int) else Device(device)
    if place.type == "cpu":
        return Reader(content_of(path, mmap), mmap).tensors()
    mapped = Reader(content_of(path, True), True).tensors()
    return {name: tensor.to(place) for name, tensor in mapped.items()}


def load_metadata(path: Path) -> dict[str, str]:
    """The text values that were given to `save_file` as `metadata`."""
    return Reader(content_of(path, True), True).metadata


class Reader:
    """A checked file: `entries` by name, `metadata`, and `tensor(name)`.

    Takes what `content_of` gives, and whether tensors are to lie in that memory.
    """

    def __init__(self, content: Array, mapped: bool) -> None:
        self._bytes, self._mapped = content, mapped
        header, self._start = _read_header(self._bytes)
        size = self._bytes.size - self._start
        self.metadata: dict[str, str] = {}
        self.entries: dict[str, Entry] = {}
        for name, entry in entries(header):
            if name == "__metadata__":
                self.metadata = entry
            else:
                self.entries[name] = _checked(quoted(name), entry, size)
        _check_cover([ranges for _, _, ranges in self.entries.values()], size)

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        return {name: self.tensor(name) for name in self.entries}

    def tensor(self, name: str) -> Tensor:
        """One tensor: over the mapped pages, or a copy in memory of its own."""
        kind, shape, (begin, end) = self.entries[name]
        raw = self._bytes[self._start + begin : self._start + end]
        if kind is dtypes.bool and raw.size and raw.max() > 1:
            raise InvalidFile(f"{quoted(name)}: a bool that is neither 0 nor 1")
        aligned = raw.ctypes.data % kind.itemsize == 0
        if self._mapped and aligned and raw.size:
            return _core.from_ndarray(Tensor, raw.view(kind.numpy).reshape(shape), kind)
        tensor: Tensor = _core.empty(Tensor, shape, kind)
        np.copyto(tensor._nd.reshape(-1).view(np.uint8), raw)
        return tensor


def content_of(source: Path | BinaryIO, mapped: bool) -> Array:
    """The bytes of a file: of a path mapped, of a binary file object those that are left.

    With `mapped` the memory may be written to, which never reaches the file. Replacing the file
    is harmless; truncating it while it is mapped kills the process where a lost page is touched.
    """
    if not isinstance(source, str | os.PathLike):
        content = source.read()
        if isinstance(content, str):
            raise TypeError("load: the file is opened as text; open it in mode 'rb'")
        return np.frombuffer(bytearray(content), np.uint8)
    with open(source, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return np.empty(0, np.uint8)
        access = mmap.ACCESS_COPY if mapped else mmap.ACCESS_READ
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=access), np.uint8)


def _array_of(name: str, tensor: Tensor) -> Array:
    if not isinstance(name, str):
        raise TypeError(f"tensor names must be strings, got {type(name).__name__}")
    if name == "__metadata__":
        raise ValueError("a tensor cannot be named __metadata__")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"only tensors can be saved; '{name}' is {type(tensor).__name__}")
    if tensor.dtype not in NAMES:
        raise TypeError(f"'{name}' has dtype {tensor.dtype}, which safetensors does not support")
    return contiguous(tensor)


def contiguous(tensor: Tensor) -> Array:
    """The tensor's values as a contiguous array, not copied where they are that already."""
    array = tensor.detach().cpu()._nd
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
"""How pickles begin."""


def _read_header(data: Array) -> tuple[bytes, int]:
    """The header's text, and where the data begins."""
    start = data[:8].tobytes()
    length = int.from_bytes(start, "little")
    if data.size < 8 or length > min(data.size - 8, _MAX_HEADER):
        if start.startswith(b"PK\x03\x04"):
            raise InvalidFile("not a safetensors file, but one of torch.save: use gw.load")
        if start.startswith(_PICKLES):
            raise InvalidFile(
                "not a safetensors file, but a pickle, which is never read: save the state_dict "
                "with torch.save of PyTorch 1.6 or later, or as safetensors"
            )
        raise InvalidFile("not a safetensors file: the header does not fit in the file")
    return data[8 : 8 + length].tobytes(), 8 + length


def _checked(name: str, entry: Any, size: int) -> Entry:
    """dtype, shape and byte range of one header entry."""
    if set(entry) != {"dtype", "shape", "data_offsets"}:
        raise InvalidFile(f"{name}: malformed entry")
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in _DTYPES:
        raise InvalidFile(f"{name}: unsupported dtype {quoted(str(entry['dtype']))}")
    kind = _DTYPES[entry["dtype"]]
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not is_shape(shape):
        raise InvalidFile(f"{name}: malformed shape")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(is_size, offsets)):
        raise InvalidFile(f"{name}: malformed data_offsets")
    begin, end = offsets
    if end > size or end - begin != math.prod(shape) * kind.itemsize:
        raise InvalidFile(f"{name}: shape and bytes do not agree")
    if math.prod(n for n in shape if n) * kind.itemsize >= 2**63:
        raise InvalidFile(f"{name}: malformed shape")
    return kind, tuple(shape), (begin, end)


def _check_cover(ranges: list[tuple[int, int]], size: int) -> None:
    position = 0
    for begin, end in sorted(ranges):
        if begin != position:
            raise InvalidFile("the tensors' bytes overlap or leave gaps")
        position = end
    if position != size:
        raise InvalidFile("the file holds bytes that belong to no tensor")
