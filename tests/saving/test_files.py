"""safetensors files: round trips, agreement with the reference library, hostile files."""

from __future__ import annotations

import io
import json
import os
import pickle
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.saving import InvalidFile, load_file, load_metadata, save_file

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
          "float16", "bfloat16", "float32", "float64", "complex64", "float8_e4m3fn", "float8_e5m2",
          "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_round_trip(tmp_path: Path, name: str) -> None:
    kind = getattr(gw, name)
    values = gw.tensor([[0.0, 1.0, 1.5], [2.0, 3.0, 100.0]]).to(kind)
    tensors = {"a": values, "b": values.transpose(0, 1), "none": values[:0], "one": values[0, 1]}
    save_file(tensors, tmp_path / "x.safetensors", {"made": "here"})
    loaded = load_file(tmp_path / "x.safetensors")
    assert list(loaded) == list(tensors)
    for key, tensor in tensors.items():
        assert loaded[key].dtype is kind and loaded[key].shape == tensor.shape
        assert loaded[key].tolist() == tensor.tolist()
    assert load_metadata(tmp_path / "x.safetensors") == {"made": "here"}


def test_the_reference_library_reads_and_writes_the_same(tmp_path: Path) -> None:
    from safetensors import numpy as reference

    net = nn.Linear(3, 2)
    save_file(net.state_dict(), tmp_path / "ours.safetensors")
    theirs = reference.load_file(tmp_path / "ours.safetensors")
    assert np.array_equal(theirs["weight"], net.weight.detach().numpy())
    reference.save_file(theirs, tmp_path / "theirs.safetensors")
    other = nn.Linear(3, 2)
    other.load_state_dict(load_file(tmp_path / "theirs.safetensors"))
    assert np.array_equal(other.weight.detach().numpy(), net.weight.detach().numpy())


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file({"a": gw.ones(2)}, path)
    with pytest.raises(TypeError, match="'b' is int"):
        save_file({"a": gw.zeros(2), "b": 3}, path)  # type: ignore[dict-item]
    assert load_file(path)["a"].tolist() == [1, 1]
    assert [p.name for p in tmp_path.iterdir()] == ["x.safetensors"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        gw.save({"a": gw.ones(2)}, pipe)
        content = os.read(reading, 1 << 16)
    finally:
        os.close(reading)
    assert pipe.is_fifo()
    assert gw.load(io.BytesIO(content))["a"].tolist() == [1, 1]


def test_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "step-3", tmp_path / "latest"
    save_file({"a": gw.ones(2)}, target)
    link.symlink_to("step-3")
    save_file({"a": gw.zeros(2)}, link)
    assert link.is_symlink()
    assert load_file(target)["a"].tolist() == [0, 0]


def test_the_longest_name_that_a_file_may_have(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    save_file({"a": gw.ones(2)}, path)
    assert load_file(path)["a"].tolist() == [1, 1]


def _file(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def _entry(**changes: Any) -> dict[str, Any]:
    return {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}


EIGHT = b"\0" * 8
HOSTILE = {
    "nothing": b"",
    "short": b"\1\2\3",
    "header longer than the file": _file({}, length=1 << 40),
    "header of 2**64-1": _file({}, length=2**64 - 1),
    "not JSON": _file(b"hello"),
    "not UTF-8": _file(b"\xff\xfe{}"),
    "deep JSON": _file(b"[" * 100_000),
    "a list": _file([]),
    "entry is no map": _file({"a": 3}),
    "surplus field": _file({"a": _entry(code="x")}, EIGHT),
    "unknown dtype": _file({"a": _entry(dtype="PICKLE")}, EIGHT),
    "dtype is a list": _file({"a": _entry(dtype=[])}, EIGHT),
    "negative size": _file({"a": _entry(shape=[-2])}, EIGHT),
    "huge size": _file({"a": _entry(shape=[2**62, 8])}, EIGHT),
    "bool size": _file({"a": _entry(shape=[True, 2])}, EIGHT),
    "too many dimensions": _file({"a": _entry(shape=[1] * 65 + [2])}, EIGHT),
    "beyond the end": _file({"a": _entry(data_offsets=[8, 16])}, EIGHT),
    "reversed": _file({"a": _entry(data_offsets=[8, 0])}, EIGHT),
    "wrong length": _file({"a": _entry(shape=[3])}, EIGHT),
    "overlap": _file({"a": _entry(), "b": _entry()}, EIGHT),
    "gap": _file({"a": _entry(data_offsets=[8, 16])}, EIGHT * 2),
    "dimensions of a lie": _file({"a": _entry(shape=[0, 2**62, 2**62], data_offsets=[0, 0])}),
    "bytes of a lie": _file({"a": _entry(shape=[0, 2**62], data_offsets=[0, 0])}),
    "bool of 2": _file({"a": _entry(dtype="BOOL", shape=[8])}, b"\2" * 8),
    "an endless number": _file(b'{"a":' + b"1" * 5000 + b"}"),
    "negative offset": _file({"a": _entry(data_offsets=[-8, 0])}, EIGHT),
    "metadata of numbers": _file({"__metadata__": {"a": 3}}),
    "trailing bytes": _file({"a": _entry()}, EIGHT + b"more"),
    "key twice": _file(b'{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},'
                       b'"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}'),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(HOSTILE[name])
    for read in (load_file, lambda p: load_file(p, mmap=True), gw.load):
        with pytest.raises(InvalidFile):
            read(path)


LONG = 500_000
EMPTY = b'{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
LONG_HEADERS = {
    "a list of maps": b"[" + b"{}," * (LONG // 3) + b"{}]",
    "maps in an entry": b'{"a":[' + b"{}," * (LONG // 3) + b"{}]}",
    "empty entries": b"{" + b'"a":{},' * (LONG // 7) + b'"b":{}}',
    "one key again and again": b"{" + (b'"a":' + EMPTY + b",") * (LONG // 53) + b'"b":' + EMPTY,
    "lists in a shape": b'{"a":{"dtype":"F32","shape":[' + b"[]," * (LONG // 3) + b"0]}}",
    "many sizes": b'{"a":{"dtype":"F32","shape":[' + b"1," * (LONG // 2)
                  + b'0],"data_offsets":[0,0]}}',
    "one field again and again": b'{"a":{' + b'"dtype":"F32",' * (LONG // 14) + b'"dtype":""}}',
    "nested lists": b'{"a":' + b"[" * LONG,
    "nested maps": b'{"a":' * (LONG // 5),
    "a long name": b'{"' + b"a" * LONG + b'":{}}',
    "a long dtype": b'{"a":{"dtype":"' + b"F" * LONG + b'","shape":[0],"data_offsets":[0,0]}}',
    "a name without end": b'{"' + b"\\\\" * (LONG // 2),
    "a long number": b'{"a":{"dtype":"F32","shape":[' + b"1" * LONG + b'],"data_offsets":[0,0]}}',
    "text behind it": b"{}" + b" " * LONG + b"x",
    "zeros": bytes(LONG),
    "UTF-16": "{}".encode("utf-16").ljust(LONG),
    "maps in the structure": json.dumps(
        {"__metadata__": {"graphwright": "[" + "{}," * (LONG // 3) + "{}]"}}).encode(),
}  # fmt: skip


@pytest.mark.parametrize("name", LONG_HEADERS)
def test_long_hostile_headers_cost_little_more_than_they_are_long(
    tmp_path: Path, name: str
) -> None:
    header, path = LONG_HEADERS[name], tmp_path / "x.safetensors"
    path.write_bytes(_file(header))
    tracemalloc.start()
    try:
        with pytest.raises(InvalidFile) as raised:
            gw.load(path)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(header)
    finally:
        tracemalloc.stop()
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_headers_of_other_encodings_are_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(_file('{"__metadata__":{"a":"b"}}'.encode(encoding)))
    for load in (load_file, load_metadata, gw.load):
        with pytest.raises(InvalidFile, match="not a safetensors file"):
            load(path)


@pytest.mark.parametrize(
    "header",
    [
        " {}", "{} ,", '{"a":}', '{,}', '{"a" ' + EMPTY.decode() + "}", '{"a":' + EMPTY.decode(),
        '{"a":' + EMPTY.decode() + ",}", '{"\x00":' + EMPTY.decode() + "}",
        '{"a":' + EMPTY.decode().replace("[0]", "[00]") + "}",
        '{"a":' + EMPTY.decode().replace("[0]", "[0.0]") + "}",
        '{"a":' + EMPTY.decode().replace("[0]", "[\u0660]") + "}",
    ],
)  # fmt: skip
def test_headers_that_are_not_quite_json_are_refused(tmp_path: Path, header: str) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes(_file(header.encode()))
    with pytest.raises(InvalidFile):
        load_file(path)


def test_white_space_escapes_and_any_order_are_read(tmp_path: Path) -> None:
    header = (
        '{ "__metadata__" : { } ,\n\t"\\u00e9\\n\\"" : { "data_offsets" : [ 0 , 8 ] , '
        '"shape" : [ 2 ] , "d\\u0074ype" : "F32" } , "b":' + EMPTY.decode() + "}   "
    )
    path = tmp_path / "x.safetensors"
    path.write_bytes(_file(header.encode(), EIGHT))
    assert {name: t.shape for name, t in load_file(path).items()} == {'\u00e9\n"': (2,), "b": (0,)}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_are_refused_by_name(tmp_path: Path, protocol: int) -> None:
    pickled = tmp_path / "weights.pt"
    pickled.write_bytes(pickle.dumps({"weight": [1.0, 2.0]}, protocol))
    for load in (load_file, gw.load):
        with pytest.raises(InvalidFile, match="a pickle, which is never read"):
            load(pickled)


def test_archives_of_pytorch_are_refused_as_tensors_by_name(tmp_path: Path) -> None:
    gw.save({"a": gw.ones(2)}, tmp_path / "x.pt")
    with pytest.raises(InvalidFile, match=r"one of torch\.save: use gw\.load"):
        load_file(tmp_path / "x.pt")


@pytest.mark.parametrize("length", [0x0280, 0x0480, 0x0580, 0x04034B50])
def test_headers_as_long_as_pickles_begin_are_read(tmp_path: Path, length: int) -> None:
    """The last is how archives begin: 67 MB."""
    header = json.dumps({"__metadata__": {"a": "b"}}).encode().ljust(length)
    path = tmp_path / "x.safetensors"
    path.write_bytes(length.to_bytes(8, "little") + header)
    assert load_file(path) == gw.load(path) == {} and load_metadata(path) == {"a": "b"}


def test_damaged_files_are_refused_or_read(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tensors = {"a": gw.ones(3), "b": gw.zeros(2, 2, dtype=gw.int64), "c": gw.ones(5) > 0}
    gw.save({"step": 3, "nested": [tensors, {"x": (1.5, None)}]}, path)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(2000):
        data = bytearray(good)
        for _ in range(rng.integers(1, 4)):
            kind, place = rng.integers(4), int(rng.integers(len(data)))
            if kind == 0:
                data[place] = int(rng.integers(256))
            elif kind == 1:
                del data[place:]
            elif kind == 2:
                del data[place : place + int(rng.integers(1, 9))]
            else:
                data[place:place] = rng.bytes(int(rng.integers(1, 9)))
            if not data:
                break
        path.write_bytes(bytes(data))
        for read in (gw.load, load_file):
            with suppress(InvalidFile):
                read(path)


def test_mapped_memory_is_private(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file({"a": gw.ones(4), "b": gw.ones(3) > 0}, path)
    mapped = load_file(path, mmap=True)
    mapped["a"].add_(1)
    save_file({"a": gw.zeros(4)}, path)
    assert mapped["a"].tolist() == [2, 2, 2, 2] and mapped["b"].tolist() == [True] * 3
    assert load_file(path)["a"].tolist() == [0, 0, 0, 0]


@pytest.mark.oracle
def test_weights_of_pytorch_models(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from safetensors import torch as reference

    theirs = torch.nn.Sequential(
        torch.nn.Linear(3, 5), torch.nn.LayerNorm(5), torch.nn.Embedding(7, 5)
    ).to(torch.bfloat16)
    reference.save_file(theirs.state_dict(), tmp_path / "x.safetensors")
    state = load_file(tmp_path / "x.safetensors", mmap=True)
    assert all(tensor.dtype is gw.bfloat16 for tensor in state.values())
    for kind in (gw.float32, gw.bfloat16):
        ours = nn.Sequential(nn.Linear(3, 5), nn.LayerNorm(5), nn.Embedding(7, 5)).to(kind)
        ours.load_state_dict(state)
        for name, value in theirs.state_dict().items():
            mine = ours.state_dict()[name]
            assert mine.dtype is kind
            assert np.array_equal(mine.float().numpy(), value.float().numpy())
