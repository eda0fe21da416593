"""Nested states in one file: the tensors as safetensors, their arrangement as JSON beside them.

The JSON stands in the file's metadata under "graphwright". A value is null, true, false, a
number, a string, or a map of one key that says what it is: {"list": [..]}, {"tuple": [..]},
{"dict": [[key, value], ..]}, {"ordered": ..}, {"counter": ..}, {"set": ..}, {"size": [..]},
{"state": [{"ordered": ..}, its modules' versions]}, which is what `state_dict` gives,
{"bytes": base64}, {"bytearray": base64}, {"float": "nan"}, {"complex": [re, im]},
{"dtype": name}, {"device": name}, {"layout": name}, {"tensor": number}. Of a tensor that was on a
GPU, its "device" stands beside its name.
"""

from __future__ import annotations

import binascii
import json
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from graphwright.nn.parameter import Parameter
from graphwright.nn.state import StateDict
from graphwright.runtime import _core
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.elements import elements
from graphwright.runtime.tensor.memory_format import layout, strided
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.files import Array, Reader, contiguous, encoded
from graphwright.saving.header import InvalidFile, parse_json, quoted
from graphwright.saving.layouts import is_shape, is_size, part_of
from graphwright.saving.placing import Place, Placed
from graphwright.saving.walking import MAX_DEPTH, Walk, refuse_without_data, without_data

_KEY = "graphwright"
_VERSION = 1


def state_parts(obj: Any) -> Iterable[Any]:
    """The parts of a file that holds the state `obj`. Raises what `save` does."""
    writer = _Writer()
    root = writer.encode(obj, "obj", 0)
    arrays, kinds, infos = writer.arrange()
    text = json.dumps(
        {"version": _VERSION, "tensors": infos, "root": root}, separators=(",", ":")
    )
    return encoded(arrays, kinds, {_KEY: text})


def read_state(reader: Reader, place: Place) -> Any:
    """The state in a file; of a file that others wrote the tensors by name."""
    if _KEY not in reader.metadata:
        placed = Placed(place)
        return {name: placed(tensor) for name, tensor in reader.tensors().items()}
    return _Decoder(reader, place).decode_file(reader.metadata[_KEY])


# -- writing


class _Writer(Walk):
    """Encodes a structure; collects its tensors, each once."""

    def __init__(self) -> None:
        super().__init__()
        self._tensors: list[Tensor] = []
        self._names: list[str] = []
        self._numbers: dict[int, int] = {}

    def constant(self, value: bool | None) -> Any:
        """As JSON has it."""
        return value

    def scalar(self, value: Any, path: str) -> Any:
        """The JSON of a number, a string or the like."""
        return _SCALARS[type(value)](value)

    def container(self, name: str, value: Any, path: str, depth: int) -> Any:
        """{name: [..]}, with the versions of modules beside it where it has them."""
        parts = self.pairs if isinstance(value, dict) else self.items
        found: dict[str, Any] = {name: list(parts(value, path, depth))}
        metadata = getattr(value, "_metadata", None)
        if metadata is None:
            return found
        return {"state": [found, self.encode(metadata, f"{path}._metadata", depth + 1)]}

    def tensor(self, value: Tensor, path: str, depth: int) -> Any:
        """{"tensor": number}."""
        number = self._numbers.get(id(value))
        if number is None:
            if without_data(value):
                raise refuse_without_data(path)
            number = self._numbers[id(value)] = len(self._tensors)
            self._tensors.append(value)
            self._names.append(_file_name(path))
        return {"tensor": number}

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

def _file_name(path: str) -> str:
    """The path in dots: obj['model']['fc.weight'] is model.fc.weight."""
    parts = path.removeprefix("obj").replace("][", ".").strip("[]")
    return parts.replace("'", "").replace('"', "") or "tensor"


def _geometry(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.storage_offset(), tensor.shape, tensor.stride()


def _strides(tensor: Tensor) -> dict[str, Any]:
    return {} if tensor.is_contiguous() else {"order": list(tensor.stride())}


def _flags(tensor: Tensor) -> dict[str, Any]:
    flags = {"grad": tensor.requires_grad, "parameter": isinstance(tensor, Parameter)}
    where = {} if tensor.is_cpu else {"device": str(tensor.device)}
    return {name: True for name, is_set in flags.items() if is_set} | where


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
    return elements(whole), places


def _storable(array: Array, kind: dtypes.dtype) -> tuple[Array, dtypes.dtype, dict[str, Any]]:
    """complex128, which the format lacks, goes as pairs of float64."""
    if kind is not dtypes.complex128:
        return array, kind, {}
    pairs = array.reshape(-1).view(np.float64).reshape(*array.shape, 2)
    return pairs, dtypes.float64, {"complex": True}


# -- reading


class _Decoder:
    """Rebuilds a structure from its JSON; trusts nothing in it."""

    def __init__(self, reader: Reader, place: Place) -> None:
        self._reader, self._placed = reader, Placed(place)
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
        if depth > MAX_DEPTH + 1:
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
        tensor = self._placed(_core.detach(Tensor, base), _location(info))
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
_INFO_KEYS = frozenset({"name", "view", "order", "device", *_INFO_FLAGS})


def _location(info: dict[str, Any]) -> str:
    """Where the tensor was."""
    location = info.get("device", "cpu")
    if not isinstance(location, str):
        raise InvalidFile("the structure describes a tensor in an unknown way")
    return location


def _view(base: Tensor, place: Any) -> Tensor:
    """The part of flat `base` that `place` describes."""
    if not isinstance(place, list) or len(place) != 3 or base.ndim != 1:
        raise InvalidFile("the structure describes a view in an unknown way")
    return part_of(base, *place)


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
