"""Files of `torch.save` for the tests: those that PyTorch itself wrote, and ones made by hand.

`python -m tests.saving.torch_files`, where PyTorch is installed, writes the files of
`data` anew.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw

DATA = Path(__file__).parent / "data"


def archive(
    data: bytes | None = None, storages: Mapping[str, bytes] | None = None, **records: bytes | None
) -> bytes:
    """An archive of a pickle and of storages by number; records by name, None to leave one out."""
    whole: dict[str, bytes | None] = {
        "data.pkl": data, "byteorder": b"little", "version": b"3\n",
        **{f"data/{key}": content for key, content in (storages or {}).items()},
        **{name.replace("__", "."): content for name, content in records.items()},
    }  # fmt: skip
    return zipped({f"archive/{name}": content for name, content in whole.items()})


def zipped(records: Mapping[str, bytes | None], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive, as Python's own library writes it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in records.items():
            if content is not None:
                file.writestr(name, content)
    return buffer.getvalue()


# -- instructions of pickles

PROTO, STOP, MARK, TUPLE, REDUCE, BUILD = b"\x80\x02", b".", b"(", b"t", b"R", b"b"
NONE, FALSE, EMPTY_TUPLE, EMPTY_LIST, EMPTY_DICT = b"N", b"\x89", b")", b"]", b"}"
PUT, GET = b"q\x00", b"h\x00"


def program(*parts: bytes) -> bytes:
    """A whole pickle of these instructions."""
    return b"".join([PROTO, *parts, STOP])


def name(full: str) -> bytes:
    """Push what a full name stands for."""
    module, _, last = full.rpartition(".")
    return f"c{module}\n{last}\n".encode()


def value(made: Any) -> bytes:
    """Push plain data."""
    return pickletools.optimize(pickle.dumps(made, 2))[2:-1]


def tuple_of(*parts: bytes) -> bytes:
    """Push a tuple of what these push."""
    return b"".join([MARK, *parts, TUPLE])


def call(full: str, *parts: bytes) -> bytes:
    """Push what a call with these arguments gives."""
    return name(full) + tuple_of(*parts) + REDUCE


def storage(
    count: int, key: str = "0", kind: str = "torch.FloatStorage", place: str = "cpu"
) -> bytes:
    """Push a storage of so many elements."""
    return tuple_of(value("storage"), name(kind), value(key), value(place), value(count)) + b"Q"


def ints(*values: int) -> bytes:
    """Push a tuple of ints."""
    return tuple_of(*map(value, values))


def view_of(
    shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0, memory: bytes | None = None
) -> bytes:
    """Push a view of a storage of four float32."""
    return call(
        "torch._utils._rebuild_tensor_v2", memory or storage(4), value(offset), ints(*shape),
        ints(*strides), FALSE, call("collections.OrderedDict"),
    )  # fmt: skip


SIXTEEN = {"0": b"\0" * 16}
"""The memory of four float32."""

GOOD = program(view_of((4,), (1,)))
"""A pickle of a tensor over it."""


def refused(content: bytes, kind: type[Exception], said: str | None = None) -> str:
    """Load it; how it says no."""
    with pytest.raises(kind, match=said) as raised:
        gw.load(io.BytesIO(content))
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 500
    return str(raised.value)


# -- what PyTorch writes


def write_all() -> None:
    """Write the files of `data`."""
    import collections

    import torch

    def save(stem: str, obj: Any, **options: Any) -> None:
        torch.save(obj, DATA / f"{stem}.pt", **options)

    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape))
    save("state_dict", model.state_dict())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.25)
    model(torch.tensor([[1.0, 2.0], [3.0, 5.0]])).square().sum().backward()
    optimizer.step()
    save("optimizer", {"optimizer": optimizer.state_dict(), "step": 1})

    kinds = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
             torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16,
             torch.float32, torch.float64, torch.complex64, torch.complex128]  # fmt: skip
    save("dtypes", {str(kind)[6:]: torch.tensor([0, 1, 100]).to(kind) for kind in kinds})
    kinds = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
             torch.float8_e8m0fnu]  # fmt: skip
    save("float8", {str(kind)[6:]: torch.tensor([1.0, 2.0, 4.0]).to(kind) for kind in kinds})

    whole = torch.arange(12.0).reshape(3, 4)
    tied = torch.nn.Parameter(torch.ones(2))
    tied.tag = "a"  # type: ignore[attr-defined]
    save("tensors", {
        "whole": whole, "row": whole[1], "columns": whole[:, 1::2], "turned": whole.t(),
        "again": whole, "parameter": tied, "other": [tied, torch.nn.Parameter(tied[:1], False)],
        "leaf": torch.ones(1, requires_grad=True), "empty": torch.zeros(0, 3),
        "scalar": torch.tensor(7), "expanded": torch.tensor([5.0]).expand(4),
        "conjugate": torch.tensor([1 + 2j]).conj(), "negative": torch.tensor([3j]).conj().imag,
        "meta": torch.empty(2, 3, device="meta"), "storage": torch.tensor([1, 2]).storage(),
    })  # fmt: skip
    values = {
        "none": None, "flags": (True, False), "ints": [0, 255, 256, 65536, -1, 2**40, -(10**30)],
        "floats": [1.5, -0.0, float("inf")], "complex": 1 + 2j, "text": "é ☃", "empty": ["", ()],
        "bytes": b"\x00\xff", "bytearray": bytearray(b"\x00\xff"), "set": {1, "a", (2, 3)},
        ("a", 1): {3: {"deep": [(1,)]}}, "ordered": collections.OrderedDict([("b", 1), ("a", 2)]),
        "counter": collections.Counter("aab"), "size": torch.Size([2, 3]),
        "dtype": torch.bfloat16, "device": torch.device("cpu"), "layout": torch.strided,
    }  # fmt: skip
    for protocol in (2, 4):
        save(f"values_{protocol}", values, pickle_protocol=protocol)

    save("refused_model", model)
    save("refused_sparse", {"x": torch.eye(2).to_sparse()})
    save("refused_legacy", {"x": torch.ones(2)}, _use_new_zipfile_serialization=False)
    torch.jit.script(torch.nn.Linear(1, 1)).save(DATA / "refused_script.pt")


if __name__ == "__main__":
    write_all()
