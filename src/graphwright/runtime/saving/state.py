"""Nested states in one file: the tensors as safetensors, their arrangement as JSON beside them.

The JSON stands in the file's metadata under "graphwright". A value is null, true, false, a
number, a string, or a map of one key that says what it is: {"list": [..]}, {"tuple": [..]},
{"dict": [[key, value], ..]}, {"ordered": ..}, {"counter": ..}, {"set": ..}, {"size": [..]},
{"state": [{"ordered": ..}, its modules' versions]}, which is what `state_dict` gives,
{"bytes": base64}, {"bytearray": base64}, {"float": "nan"}, {"complex": [re, im]},
{"dtype": name}, {"device": name}, {"layout": name}, {"tensor": number}.
"""

from __future__ import annotations

import binascii
import json
import math
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np

from graphwright.runtime import _core, dtypes
from graphwright.runtime.device import device as Device
from graphwright.runtime.formats import layout, strided
from graphwright.runtime.nn.parameter import Parameter
from graphwright.runtime.nn.state import StateDict
from graphwright.runtime.saving.files import (
    Array,
    InvalidFile,
    Path,
    Reader,
    contiguous,
    encoded,
    is_shape,
    is_size,
    write_atomically,
)
from graphwright.runtime.saving.header import parse_json, quoted
from graphwright.runtime.size import Size
from graphwright.runtime.tensor import Tensor

_KEY = "graphwright"
_VERSION = 1
_MAX_DEPTH = 100


def save(
    obj: Any,
    f: Path | BinaryIO,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write a nested state, such as {"model": .., "optimizer": .., "step": 3}, to one file.

    `obj`: dicts (also OrderedDict, what `state_dict` gives, and Counter), lists, tuples, sets,
    sizes, numbers, strings, bytes, bytearrays, None, bools, dtypes, devices, layouts, and
    tensors of every dtype, nested at most 100 deep. Tensors that share memory share it after
    loading; `requires_grad` and Parameters are kept, gradients and history are not. Subclasses
    of numbers, NumPy's scalars too, are saved as plain numbers.
    `f`: a path, where the file appears whole or not at all, or a binary file object.
    The other arguments are PyTorch's, without effect: there is no pickle in the file.

    Raises:
        TypeError: for any other object; the message names where it is in `obj`.
        ValueError: for what is nested too deep, or contains itself.
    """
    writer = _Writer()
    root = writer.encode(obj, "obj", 0)
    arrays, kinds, infos = writer.arrange()
    text = json.dumps(
        {"version": _VERSION, "tensors": infos, "root": root}, separators=(",", ":")
    )
    parts = encoded(arrays, kinds, {_KEY: text})
    if isinstance(f, str | os.PathLike):
        write_atomically(f, parts)
        return
    for part in parts:
        f.write(part)


def load(
    f: Path | BinaryIO,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
) -> Any:
    """What `save` wrote; of any other safetensors file the tensors by name.

    Unless `mmap` is false (paths only) the tensors' memory is the file's, read when first touched;
    what is written to them stays in this process. The file may be replaced meanwhile, by `save`
    too, but not truncated. Nothing in a file is ever executed: `pickle_module` and
    `weights_only` are PyTorch's, without effect.

    `map_location`: where tensors go, all of which were saved from the CPU: None or a device
    ("cpu", "meta"), a dict of such by where they were ("cpu"), or a function of a tensor's
    storage and of where it was, which gives that storage, or None to leave it.

    Raises:
        RuntimeError: for a device that is not there.
        TypeError: where `map_location` is none of these.
        InvalidFile: (a ValueError) for anything malformed.
        OSError: where the file cannot be read.
    """
    place = _placing(map_location)
    reader = Reader(f, mmap is not False and isinstance(f, str | os.PathLike))
    if _KEY not in reader.metadata:
        return {name: place(tensor) for name, tensor in reader.tensors().items()}
    return _Decoder(reader, place).decode_file(reader.metadata[_KEY])


def _placing(location: Any) -> Callable[[Tensor], Tensor]:
    """What puts a tensor of a file where `map_location` says."""
    if isinstance(location, dict):
        location = location.get("cpu")
    if location is None:
        return lambda tensor: tensor
    if isinstance(location, str | Device):
        device = Device(location)
        if device.type not in ("cpu", "meta"):
            raise RuntimeError(
                f"Attempting to deserialize object on a {device.type} device, which is not "
                "available: use load with map_location=device('cpu')"
            )
        return lambda tensor: tensor.to(device)
    if not callable(location):
        raise TypeError(
            "map_location must be a device, a dict of devices or a function, not "
            f"{type(location).__name__}"
        )
    return lambda tensor: _placed_by(location, tensor)


def _placed_by(function: Callable[[Any, str], Any], tensor: Tensor) -> Tensor:
    """As a function of its storage wants it: the storage given, or None, is the tensor's own."""
    own = tensor.untyped_storage()
    given = function(own, "cpu")
    if given is None or given.data_ptr() == own.data_ptr():
        return tensor
    return tensor.new_empty(0).set_(
        given, tensor.storage_offset(), tensor.shape, tensor.stride()
    )


# -- writing


class _Writer:
    """Encodes a structure; collects its tensors, each once."""

    def __init__(self) -> None:
        self._tensors: list[Tensor] = []
        self._names: list[str] = []
        self._numbers: dict[int, int] = {}
        self._open: set[int] = set()

    def encode(self, value: Any, path: str, depth: int) -> Any:
        """The JSON of `value`, which stands at `path`."""
        if value is None or value is True or value is False:
            return value
        if depth > _MAX_DEPTH:
            raise ValueError(f"{path} is nested more than {_MAX_DEPTH} deep")
        if isinstance(value, Tensor):
            return {"tensor": self._number(value, path)}
        if isinstance(value, np.generic):
            value = value.item()
        encode = _SCALARS.get(type(value))
        if encode is not None:
            return encode(value)
        name = _CONTAINERS.get(type(value))
        if name is None:
            return _encode_subclass(value, path)
        if id(value) in self._open:
            raise ValueError(f"{path} contains itself")
        self._open.add(id(value))
        found: dict[str, Any] = {name: list(self._items(value, path, depth))}
        metadata = getattr(value, "_metadata", None)
        if metadata is not None:
            versions = self.encode(metadata, f"{path}._metadata", depth + 1)
            found = {"state": [found, versions]}
        self._open.discard(id(value))
        return found

    def _items(self, value: Any, path: str, depth: int) -> Iterator[Any]:
        if not isinstance(value, dict):
            for index, item in enumerate(value):
                yield self.encode(item, f"{path}[{index}]", depth + 1)
            return
        for key, item in value.items():
            place = f"{path}[{key!r}]"
            if isinstance(key, Tensor):
                raise TypeError(f"{path} has a tensor as a key, which cannot be saved: use names")
            yield [
                self.encode(key, f"the key {key!r} of {path}", depth + 1),
                self.encode(item, place, depth + 1),
            ]

    def _number(self, tensor: Tensor, path: str) -> int:
        number = self._numbers.get(id(tensor))
        if number is not None:
            return number
        if tensor.is_fake or tensor.device.type != "cpu":
            raise TypeError(
                f"{path} is a tensor without data on the CPU, which cannot be saved: its values "
                "are not known"
            )
        number = self._numbers[id(tensor)] = len(self._tensors)
        self._tensors.append(tensor)
        self._names.append(_file_name(path))
        return number

    def arrange(self) -> tuple[dict[str, Array], dict[str, dtypes.dtype], list[Any]]:
        """Arrays and dtypes by name in the file, and for each tensor where it is in them."""
        arrays: dict[str, Array] = {}
        kinds: dict[str, dtypes.dtype] = {}
        infos: list[Any] = [None] * len(self._tensors)
        for members in _shared(self._tensors):
            name = self._unused(self._names[members[0]], arrays)
            first = self._tensors[members[0]]
            geometries = {_geometry(self._tensors[m]) for m in members}
            if len(geometries) == 1:
                array, places = contiguous(first), [_strides(first)] * len(members)
            else:
                array, places = _flat(first, [self._tensors[m] for m in members])
            arrays[name], kinds[name], extra = _storable(array, first.dtype)
            for member, place in zip(members, places, strict=True):
                infos[member] = {
                    "name": name, **extra, **place, **_flags(self._tensors[member])
                }  # fmt: skip
        return arrays, kinds, infos

    def _unused(self, name: str, taken: dict[str, Array]) -> str:
        candidate, count = name, 1
        while candidate in taken or candidate == "__metadata__":
            count += 1
            candidate = f"{name}#{count}"
        return candidate


def _encode_float(value: float) -> Any:
    return value if math.isfinite(value) else {"float": repr(value)}


_SCALARS: dict[type, Callable[[Any], Any]] = {
    int: lambda value: value,
    float: _encode_float,
    str: lambda value: {"str": value.encode("utf-16-le", "surrogatepass").hex()}
    if any("\ud800" <= c <= "\udfff" for c in value)
    else value,
    complex: lambda value: {"complex": [_encode_float(value.real), _encode_float(value.imag)]},
    bytes: lambda value: {"bytes": binascii.b2a_base64(value, newline=False).decode()},
    bytearray: lambda value: {"bytearray": binascii.b2a_base64(value, newline=False).decode()},
    layout: lambda value: {"layout": "strided"},
    dtypes.dtype: lambda value: {"dtype": value.name},
    Device: lambda value: {"device": str(value)},
}

_CONTAINERS: dict[type, str] = {
    dict: "dict",
    OrderedDict: "ordered",
    StateDict: "ordered",
    Counter: "counter",
    list: "list",
    tuple: "tuple",
    set: "set",
    Size: "size",
}


def _encode_subclass(value: Any, path: str) -> Any:
    for kind in (int, float, str):
        if isinstance(value, kind):
            return _SCALARS[kind](kind(value))
    raise TypeError(
        f"{path} is {type(value).__module__}.{type(value).__qualname__}, which cannot be saved: "
        f"{_instead(value)}"
    )


def _instead(value: Any) -> str:
    """What to save, and how to come back from it."""
    if hasattr(value, "state_dict"):
        return (
            "save its state_dict() and, to load it, make the object anew and call "
            "load_state_dict() on it"
        )
    if hasattr(value, "get_state"):
        return "save its get_state(), which set_state() takes"
    return "files hold tensors, numbers, strings and containers of these; of objects, save those"


def _file_name(path: str) -> str:
    """The path in dots: obj['model']['fc.weight'] is model.fc.weight."""
    parts = path.removeprefix("obj").replace("][", ".").strip("[]")
    return parts.replace("'", "").replace('"', "") or "tensor"


def _geometry(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.storage_offset(), tensor.shape, tensor.stride()


def _strides(tensor: Tensor) -> dict[str, Any]:
    return {} if tensor.is_contiguous() else {"order": list(tensor.stride())}


def _flags(tensor: Tensor) -> dict[str, bool]:
    flags = {"grad": tensor.requires_grad, "parameter": isinstance(tensor, Parameter)}
    return {name: True for name, is_set in flags.items() if is_set}


def _range(tensor: Tensor) -> tuple[int, int]:
    """The first element of the storage that a tensor covers, and the first behind it."""
    begin = tensor.storage_offset()
    if tensor.numel() == 0:
        return begin, begin
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return begin, begin + 1 + sum((n - 1) * s for n, s in steps)


def _shared(tensors: list[Tensor]) -> Iterator[list[int]]:
    """Groups of tensors whose memory overlaps, in the order of their first members."""
    by_storage: dict[tuple[int, dtypes.dtype], list[int]] = {}
    for number, tensor in enumerate(tensors):
        by_storage.setdefault((id(tensor._storage), tensor.dtype), []).append(number)
    groups: list[list[int]] = []
    for numbers in by_storage.values():
        reached = -1
        for number in sorted(numbers, key=lambda n: _range(tensors[n])):
            begin, end = _range(tensors[number])
            if begin < reached and end > begin:
                groups[-1].append(number)
            else:
                groups.append([number])
            reached = max(reached, end)
    yield from sorted((sorted(group) for group in groups), key=lambda group: group[0])


def _flat(first: Tensor, tensors: list[Tensor]) -> tuple[Array, list[dict[str, Any]]]:
    """The memory that all cover, and where each is in it."""
    ranges = [_range(tensor) for tensor in tensors]
    begin, end = min(r[0] for r in ranges), max(r[1] for r in ranges)
    whole = _core.as_view(Tensor, first.detach(), (end - begin,), (1,), begin)
    places = [
        {"view": [tensor.storage_offset() - begin, list(tensor.shape), list(tensor.stride())]}
        for tensor in tensors
    ]
    return whole._nd, places


def _storable(array: Array, kind: dtypes.dtype) -> tuple[Array, dtypes.dtype, dict[str, Any]]:
    """complex128, which the format lacks, goes as pairs of float64."""
    if kind is not dtypes.complex128:
        return array, kind, {}
    pairs = array.reshape(-1).view(np.float64).reshape(*array.shape, 2)
    return pairs, dtypes.float64, {"complex": True}


# -- reading


class _Decoder:
    """Rebuilds a structure from its JSON; trusts nothing in it."""

    def __init__(self, reader: Reader, place: Callable[[Tensor], Tensor]) -> None:
        self._reader, self._place = reader, place
        self._infos: list[Any] = []
        self._stored: dict[tuple[str, bool], Tensor] = {}
        self._made: dict[int, Tensor] = {}

    def decode_file(self, text: str) -> Any:
        """The structure that `text` describes."""
        content = parse_json(text, "the structure")
        if not isinstance(content, dict) or set(content) != {"version", "tensors", "root"}:
            raise InvalidFile("the structure is malformed")
        if content["version"] != _VERSION:
            version = quoted(str(content["version"]))
            raise InvalidFile(f"the structure has version {version}, not {_VERSION}")
        if not isinstance(content["tensors"], list):
            raise InvalidFile("the structure's tensors are not a list")
        self._infos = content["tensors"]
        return self._decode(content["root"], 0)

    def _decode(self, node: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH + 1:
            raise InvalidFile("the structure is nested too deep")
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if not isinstance(node, dict) or len(node) != 1:
            raise InvalidFile("the structure is malformed")
        ((name, content),) = node.items()
        if name == "tensor":
            return self._tensor(content)
        if name in ("list", "tuple", "set", "size"):
            return self._sequence(name, content, depth)
        if name in ("dict", "ordered", "counter"):
            return self._mapping(name, content, depth)
        if name == "state":
            return self._state(content, depth)
        return _decode_scalar(name, content)

    def _sequence(self, name: str, content: Any, depth: int) -> Any:
        if not isinstance(content, list):
            raise InvalidFile(f"a {name} of the structure is malformed")
        if name == "size":
            if not all(type(item) is int for item in content):
                raise InvalidFile("a size of the structure is malformed")
            return Size(content)
        items = [self._decode(item, depth + 1) for item in content]
        if name == "list":
            return items
        try:
            return tuple(items) if name == "tuple" else set(items)
        except TypeError:
            raise InvalidFile("a set of the structure has an unhashable member") from None

    def _mapping(self, name: str, content: Any, depth: int) -> Any:
        if not isinstance(content, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in content
        ):
            raise InvalidFile(f"a {name} of the structure is malformed")
        kind: Any = {"dict": dict, "ordered": OrderedDict, "counter": Counter}[name]
        result = kind()
        for key, value in content:
            decoded = self._decode(key, depth + 1)
            try:
                known = decoded in result
            except TypeError:
                raise InvalidFile("a key of the structure is unhashable") from None
            if known or isinstance(decoded, Tensor):
                shown = quoted(str(decoded))
                raise InvalidFile(f"the key {shown} of the structure is there twice")
            result[decoded] = self._decode(value, depth + 1)
        return result

    def _state(self, content: Any, depth: int) -> StateDict:
        parts = content if isinstance(content, list) else []
        decoded = [self._decode(part, depth + 1) for part in parts]
        if [type(part) for part in decoded] != [OrderedDict, OrderedDict]:
            raise InvalidFile("a state of the structure is malformed")
        state = StateDict(decoded[0])
        state._metadata = decoded[1]
        return state

    def _tensor(self, number: Any) -> Tensor:
        if not is_size(number) or number >= len(self._infos):
            raise InvalidFile("the structure names a tensor that is not there")
        if number not in self._made:
            self._made[number] = self._make(self._infos[number])
        return self._made[number]

    def _make(self, info: Any) -> Tensor:
        if not isinstance(info, dict) or not set(info) <= _INFO_KEYS:
            raise InvalidFile("the structure describes a tensor in an unknown way")
        if not all(info[flag] is True for flag in _INFO_FLAGS if flag in info):
            raise InvalidFile("the structure describes a tensor in an unknown way")
        base = self._base(info.get("name"), "complex" in info)
        if "view" in info:
            base = _view(base, info["view"])
        elif "order" in info:
            base = self._reordered(info["name"], base, info["order"])
        tensor = self._place(_core.detach(Tensor, base))
        if "grad" in info and not (tensor.is_floating_point() or tensor.dtype.is_complex):
            raise InvalidFile("the structure wants gradients of an integer tensor")
        if "parameter" in info:
            return Parameter(tensor, requires_grad="grad" in info)
        tensor.requires_grad = "grad" in info
        return tensor

    def _base(self, name: Any, pairs: bool) -> Tensor:
        """The tensor in the file; once for all that share it."""
        if not isinstance(name, str) or name not in self._reader.entries:
            shown = quoted(str(name))
            raise InvalidFile(f"the structure names a tensor {shown} that is not in the file")
        if (name, pairs) not in self._stored:
            tensor = self._reader.tensor(name)
            if pairs:
                if tensor.dtype is not dtypes.float64 or tensor.shape[-1:] != (2,):
                    raise InvalidFile(f"'{name}' does not hold complex numbers")
                array = tensor._nd.reshape(-1).view(np.complex128).reshape(tensor.shape[:-1])
                tensor = _core.from_ndarray(Tensor, array, dtypes.complex128)
            self._stored[name, pairs] = tensor
        return self._stored[name, pairs]

    def _reordered(self, name: str, base: Tensor, strides: Any) -> Tensor:
        """The values of `base` in memory of the layout they had; once for all that share it."""
        shape = base.shape
        if not is_shape(strides) or len(strides) != len(shape):
            raise InvalidFile(f"'{name}': malformed strides")
        if list(base.stride()) == strides:
            return base
        steps = sorted(zip(strides, shape, strict=True))
        expected = 1
        for stride, size in ((s, n) for s, n in steps if n > 1):
            if stride != expected:
                # Not a mere order of the dimensions: gaps, or elements that share memory.
                return base
            expected *= size
        made: Tensor = _core.empty_strided(Tensor, shape, strides, base.dtype)
        np.copyto(made._nd, base._nd)
        self._stored[name, base.dtype is dtypes.complex128] = made
        return made


_INFO_FLAGS = ("grad", "parameter", "complex")
_INFO_KEYS = frozenset({"name", "view", "order", *_INFO_FLAGS})


def _view(base: Tensor, place: Any) -> Tensor:
    """The part of flat `base` that `place` describes."""
    if not isinstance(place, list) or len(place) != 3 or base.ndim != 1:
        raise InvalidFile("the structure describes a view in an unknown way")
    offset, shape, strides = place
    if not (is_size(offset) and is_shape(shape) and is_shape(strides)):
        raise InvalidFile("the structure describes a view in an unknown way")
    if len(shape) != len(strides):
        raise InvalidFile("the structure describes a view in an unknown way")
    empty = 0 in shape
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if math.prod(n for n in shape if n) >= 2**63 or max(strides, default=0) >= 2**60:
        raise InvalidFile("the structure describes a view that is too large")
    if offset > base.numel() or (not empty and last >= base.numel()):
        raise InvalidFile("the structure describes a view beyond its tensor")
    view: Tensor = _core.as_view(Tensor, base, shape, strides, base.storage_offset() + offset)
    return view


def _decode_scalar(name: str, content: Any) -> Any:
    if name == "complex" and isinstance(content, list) and len(content) == 2:
        parts = [_decode_scalar("float", part["float"]) if isinstance(part, dict)
                 and set(part) == {"float"} else part for part in content]  # fmt: skip
        if all(type(part) in (int, float) for part in parts):
            return complex(*parts)
    if isinstance(content, str):
        if name == "float" and content in ("nan", "inf", "-inf"):
            return float(content)
        try:
            if name == "bytes":
                return binascii.a2b_base64(content, strict_mode=True)
            if name == "bytearray":
                return bytearray(binascii.a2b_base64(content, strict_mode=True))
            if name == "str":
                return bytes.fromhex(content).decode("utf-16-le", "surrogatepass")
            if name == "device":
                return Device(content)
        except (ValueError, RuntimeError):
            raise InvalidFile(f"a {name} of the structure is malformed") from None
        if name == "layout" and content == "strided":
            return strided
        kind = getattr(dtypes, content, None)
        if name == "dtype" and isinstance(kind, dtypes.dtype):
            return kind
    raise InvalidFile(f"the structure holds an unknown kind of value: {quoted(name)}")
