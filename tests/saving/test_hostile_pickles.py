"""Pickles in torch files made to harm: each is refused with one error, and nothing of it runs."""

from __future__ import annotations

import io
import pickle
import random
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.saving.torch_files import (
    BUILD,
    EMPTY_DICT,
    EMPTY_LIST,
    EMPTY_TUPLE,
    FALSE,
    GET,
    MARK,
    NONE,
    PROTO,
    PUT,
    REDUCE,
    SIXTEEN,
    STOP,
    TUPLE,
    archive,
    call,
    ints,
    name,
    program,
    refused,
    storage,
    tuple_of,
    value,
    view_of,
)

import graphwright as gw
from graphwright.saving import InvalidFile
from graphwright.serialization import InvalidArchive, RefusedObject


def test_the_errors_are_those_that_programs_expect() -> None:
    assert issubclass(RefusedObject, InvalidFile) and issubclass(InvalidArchive, InvalidFile)
    assert issubclass(InvalidFile, ValueError)
    assert issubclass(RefusedObject, pickle.UnpicklingError)
    assert issubclass(InvalidArchive, RuntimeError)


# -- code

RAN: list[str] = []


def ran(*args: Any) -> str:
    """What no file may call."""
    RAN.append("ran")
    return "ran"


class Evil:
    """An object that is pickled as a call."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


HERE = f"{__name__}.ran"
CODE = {
    "os.system": call("os.system", value("true")),
    "posix.system": call("posix.system", value("true")),
    "builtins.eval": call("builtins.eval", value("1")),
    "__builtin__.eval of Python 2": call("__builtin__.eval", value("1")),
    "builtins.exec": call("builtins.exec", value("1")),
    "builtins.getattr": call("builtins.getattr", name("collections.OrderedDict"), value("keys")),
    "builtins.__import__": call("builtins.__import__", value("os")),
    "a function of ours": call(HERE),
    "apply": call("__builtin__.apply", name(HERE), EMPTY_TUPLE),
    "torch.load": call("torch.load", value("x")),
    "torch.hub.load": call("torch.hub.load", value("x")),
    "an attribute of what is allowed": call("collections.OrderedDict.__class__", value("x")),
    "an attribute through the module": b"ccollections\nOrderedDict.__init__.__globals__\n",
    "a name with dots": b"ctorch._utils\n_rebuild_tensor_v2.__globals__\n",
    "an empty name": b"c\n\n",
    "a method of a dtype": b"ctorch\nfloat32.__reduce__\n",
    "graphwright's own": call("graphwright.runtime.tensor.tensor._rebuild", NONE),
    "graphwright.load": call("graphwright.load", value("x")),
    "numpy": call("numpy.core.multiarray._reconstruct", NONE),
    "copyreg": call("copy_reg._reconstructor", name("builtins.object"), NONE),
    "functools.partial": call("functools.partial", name(HERE)),
    "a call of a call": tuple_of(call("builtins.getattr", NONE)) + REDUCE,
    "a call of a string": value("os.system") + EMPTY_TUPLE + REDUCE,
    "a call of a dtype": call("torch.float32"),
    "a call of a storage's type": call("torch.FloatStorage", value(10**12)),
    "a call of Tensor": call("torch.Tensor", value(10**12)),
    "new object of what is allowed": name("collections.OrderedDict") + EMPTY_TUPLE + b"\x81",
    "new object of a dict": EMPTY_DICT + EMPTY_TUPLE + b"\x81",
    "NEWOBJ_EX": name("collections.OrderedDict") + EMPTY_TUPLE + EMPTY_DICT + b"\x92",
    "INST": MARK + b"ios\nsystem\n",
    "OBJ": MARK + name("collections.OrderedDict") + b"o",
    "EXT1": b"\x82\x01", "EXT2": b"\x83\x01\x00", "EXT4": b"\x84\x01\x00\x00\x00",
    "STACK_GLOBAL": value("os") + value("system") + b"\x93" + tuple_of(value("true")) + REDUCE,
    "STACK_GLOBAL of no strings": value(1) + value(2) + b"\x93",
    "STACK_GLOBAL of a tensor": view_of((4,), (1,)) + value("x") + b"\x93",
    "BUILD of a dict": EMPTY_DICT + EMPTY_DICT + BUILD,
    "BUILD of a function": name("torch._utils._rebuild_tensor_v2") + EMPTY_DICT + BUILD,
    "BUILD of a tensor": view_of((4,), (1,)) + EMPTY_DICT + BUILD,
    "BUILD of a class": name("torch.Tensor") + EMPTY_DICT + BUILD,
    "BUILD of __class__": call("collections.OrderedDict") + value({"__class__": 1}) + BUILD,
    "BUILD of a method": call("collections.OrderedDict") + value({"items": 1}) + BUILD,
    "an attribute __class__": call(
        "torch._tensor._rebuild_from_type_v2", name("torch._utils._rebuild_tensor_v2"),
        name("torch.Tensor"), tuple_of(storage(4), value(0), ints(4), ints(1), FALSE, NONE),
        value({"__class__": 1})),
    "an attribute that tensors have": call(
        "torch._utils._rebuild_parameter_with_state", view_of((4,), (1,)), FALSE, NONE,
        value({"data": 1})),
    "a class that is none": call(
        "torch._tensor._rebuild_from_type_v2", name("torch._utils._rebuild_tensor_v2"),
        name("collections.OrderedDict"), EMPTY_TUPLE, NONE),
    "a function that makes no tensor": call(
        "torch._tensor._rebuild_from_type_v2", name("collections.OrderedDict"),
        name("torch.Tensor"), EMPTY_TUPLE, NONE),
    "hooks": call(
        "torch._utils._rebuild_tensor_v2", storage(4), value(0), ints(4), ints(1), FALSE,
        value({1: 2})),
    "a class as a value": EMPTY_LIST + name("collections.OrderedDict") + b"a",
    "a function as a value": name("torch._utils._rebuild_tensor_v2"),
    "a storage's type as a value": name("torch.FloatStorage"),
    "a tensor as a function": call(
        "torch._tensor._rebuild_from_type_v2", view_of((4,), (1,)), name("torch.Tensor"),
        EMPTY_TUPLE, NONE),
    "a function as a key": EMPTY_DICT + name("collections.OrderedDict") + NONE + b"s",
    "a persistent id of code": tuple_of(value("module"), name("torch.FloatStorage")) + b"Q",
    "a persistent id of text": value("x") + b"Q", "PERSID": b"Px\n",
    "a tensor as a key": EMPTY_DICT + view_of((4,), (1,)) + NONE + b"s",
    "APPENDS to a tensor": view_of((4,), (1,)) + MARK + NONE + b"e",
    "APPENDS to a dict": EMPTY_DICT + MARK + NONE + b"e",
    "SETITEMS of a list": EMPTY_LIST + MARK + value(0) + NONE + b"u",
    "SETITEMS of a tensor": view_of((4,), (1,)) + MARK + value(0) + NONE + b"u",
    "ADDITEMS to a list": EMPTY_LIST + MARK + NONE + b"\x90",
    "text of protocol 0": b"S'abc'\n", "LONG4": b"\x8b\xff\xff\xff\x7f",
    "a buffer of protocol 5": b"\x97", "FROZENSET": MARK + b"\x91", "POP": NONE + NONE + b"0",
    "not an instruction": b"\xff",
}  # fmt: skip


@pytest.mark.parametrize("case", CODE)
def test_pickles_that_want_code_are_refused_by_name(case: str) -> None:
    message = refused(archive(program(CODE[case]), SIXTEEN), InvalidFile)
    assert not RAN
    if case.partition(".")[0] in ("os", "posix", "builtins"):
        assert case in message


def test_objects_of_any_class_are_refused() -> None:
    for function in (ran, print, exec, Path):
        for protocol in (2, 3, 4, 5):
            data = pickle.dumps({"x": Evil(function, "1")}, protocol)
            refused(archive(data), RefusedObject)
    refused(archive(pickle.dumps(Path("x"), 2)), RefusedObject, "pathlib")
    assert not RAN


# -- malformed pickles

MALFORMED = {
    "nothing": b"", "no end": PROTO + NONE, "only an end": STOP, "protocol 9": b"\x80\x09N.",
    "no mark": program(TUPLE), "APPENDS without mark": program(EMPTY_LIST + b"e"),
    "empty tuple of 3": program(NONE + b"\x87"), "no arguments": program(REDUCE),
    "PUT of nothing": PROTO + PUT + STOP, "unknown value": program(GET),
    "string beyond the end": program(b"X\xff\xff\xff\xff" + b"x"),
    "string of 2**63": program(b"\x8d" + b"\xff" * 8),
    "bytes of 2**63": program(b"\x8e" + b"\xff" * 8),
    "bytearray of 2**63": program(b"\x96" + b"\xff" * 8),
    "int beyond the end": program(b"\x8a\xff\x01"),
    "no UTF-8": program(b"X\x01\x00\x00\x00\xff"), "name without end": PROTO + b"ctorch",
    "name not UTF-8": program(b"c\xff\nx\n"), "half a float": PROTO + b"G\0\0",
    "key without value": program(EMPTY_DICT + MARK + NONE + b"u"),
    "list as a key": program(EMPTY_DICT + EMPTY_LIST + NONE + b"s"),
    "set as a member": program(
        call("builtins.set", EMPTY_LIST + call("builtins.set", EMPTY_LIST) + b"a")),
    "list in itself": program(EMPTY_LIST + PUT + GET + b"a"),
    "dict in itself": program(EMPTY_DICT + PUT + NONE + GET + b"s"),
    "arguments are a list": program(name("collections.OrderedDict") + EMPTY_LIST + REDUCE),
    "OrderedDict of a list": program(call("collections.OrderedDict", EMPTY_LIST)),
    "bytes of no latin-1": program(call("_codecs.encode", value("☃"), value("latin1"))),
    "bytes by another codec": program(call("_codecs.encode", value("x"), value("rot13"))),
    "bytes of a number": program(call("builtins.bytes", value(10**12))),
    "bytearray of a number": program(call("builtins.bytearray", value(10**12))),
    "complex of text": program(call("builtins.complex", value("1j"), value(0))),
    "set of a dict": program(call("builtins.set", EMPTY_DICT)),
    "size of text": program(call("torch.Size", tuple_of(value("1")))),
    "size of a number": program(call("torch.Size", value(10**12))),
    "device of a number": program(call("torch.device", value(1))),
    "device of texts": program(call("torch.device", value("cpu"), value("1"))),
    "device that is none": program(call("torch.device", value("tpu!"))),
    "layout that is none": program(
        call("torch.serialization._get_layout", value("torch.sparse_coo"))),
    "Counter of numbers": program(call("collections.Counter", value(3))),
}  # fmt: skip


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_pickles_are_refused(case: str) -> None:
    refused(archive(MALFORMED[case], SIXTEEN), InvalidFile)


# -- tensors that reach out of their storage


def _v2(*parts: bytes) -> bytes:
    return program(call("torch._utils._rebuild_tensor_v2", *parts))


HOOKS = call("collections.OrderedDict")
TENSORS = {
    "negative size": view_of((-4,), (1,)), "negative stride": view_of((2,), (-1,), 3),
    "negative offset": view_of((1,), (1,), -1), "offset beyond": view_of((1,), (1,), 4),
    "size beyond": view_of((5,), (1,)), "stride beyond": view_of((2,), (4,)),
    "offset of 2**63": view_of((1,), (1,), 2**63), "offset of 2**64": view_of((1,), (1,), 2**64),
    "size of 2**63": view_of((2**63,), (0,)), "elements of 2**64": view_of((2**32, 2**32), (0, 0)),
    "stride that wraps": view_of((2,), (2**62,)), "steps that wrap": view_of((2**61, 2), (8, 1)),
    "size of a lie": view_of((0, 2**62, 2**62), (1, 1, 1)),
    "huge offset, none": view_of((0,), (1,), 9),
    "fewer strides": view_of((2, 2), (1,)), "many dimensions": view_of((1,) * 65, (1,) * 65),
    "larger storage": view_of((4,), (1,), 0, storage(5)),
    "smaller": view_of((1,), (1,), 0, storage(1)),
    "negative storage": view_of((0,), (1,), 0, storage(-4)),
    "of 2**62": view_of((0,), (1,), 0, storage(2**62)),
    "no such storage": view_of((4,), (1,), 0, storage(4, "1")),
    "another record": view_of((1,), (1,), 0, storage(4, "../data.pkl")),
    "unknown storage": view_of((4,), (1,), 0, storage(4, kind="torch.QInt8Storage")),
    "dtype as a storage": view_of((4,), (1,), 0, storage(4, kind="torch.float32")),
    "wrong elements": view_of((8,), (1,), 0, storage(8)),
    "no storage": view_of((4,), (1,), 0, NONE),
    "other device": view_of((4,), (1,), 0, storage(4, place="cuda:0")),
}  # fmt: skip
CALLS = {
    "size of text": _v2(storage(4), value(0), value("4"), ints(1), FALSE, HOOKS),
    "size of truth": _v2(storage(4), value(0), value((True,)), ints(1), FALSE, HOOKS),
    "offset of a float": _v2(storage(4), value(1.0), ints(1), ints(1), FALSE, HOOKS),
    "grad of a number": _v2(storage(4), value(0), ints(4), ints(1), value(1), HOOKS),
    "too few": _v2(storage(4)), "none": _v2(),
    "too many": _v2(*[storage(4), value(0), ints(4), ints(1), FALSE, HOOKS], NONE, NONE),
    "gradient of integers": _v2(storage(4, kind="torch.IntStorage"), value(0), ints(4), ints(1),
                                b"\x88", HOOKS),
    "metadata of code": _v2(storage(4), value(0), ints(4), ints(1), FALSE, HOOKS, value({"x": 1})),
    "metadata of text": _v2(storage(4), value(0), ints(4), ints(1), FALSE, HOOKS, value("x")),
    "a conjugate of much": _v2(storage(2, kind="torch.ComplexFloatStorage"), value(0),
                               ints(2**40), ints(0), FALSE, HOOKS, value({"conj": True})),
    "a dtype that is none": program(call("torch._utils._rebuild_tensor_v3", storage(
        16, kind="torch.storage.UntypedStorage"), value(0), ints(4), ints(1), FALSE, HOOKS,
        value("float32"))),
    "a dtype of larger elements": program(call("torch._utils._rebuild_tensor_v3", storage(
        16, kind="torch.storage.UntypedStorage"), value(0), ints(4), ints(1), FALSE, HOOKS,
        name("torch.float64"))),
    "meta of 2**64": program(call("torch._utils._rebuild_meta_tensor_no_storage",
                                  name("torch.float32"), ints(2**32, 2**32), ints(1, 1), FALSE)),
    "meta of text": program(call("torch._utils._rebuild_meta_tensor_no_storage", value("x"),
                                 ints(2), ints(1), FALSE)),
    "a parameter of text": program(call("torch._utils._rebuild_parameter", value("x"), FALSE,
                                        HOOKS)),
    "quantised": program(call("torch._utils._rebuild_qtensor", NONE)),
    "sparse": program(call("torch._utils._rebuild_sparse_tensor", NONE)),
}  # fmt: skip


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("mmap", [False, True])
def test_tensors_outside_of_their_storage_are_refused(tmp_path: Path, mmap: bool) -> None:
    path = tmp_path / "x.pt"
    for case, pickled in {**{k: program(v) for k, v in TENSORS.items()}, **CALLS}.items():
        path.write_bytes(archive(pickled, SIXTEEN))
        kind: Any = RuntimeError if case == "other device" else InvalidFile
        with pytest.raises(kind):
            gw.load(path, mmap=mmap)


def test_a_bool_that_is_neither_0_nor_1_isrefused() -> None:
    memory = storage(16, kind="torch.BoolStorage")
    made = program(view_of((16,), (1,), 0, memory))
    assert gw.load(io.BytesIO(archive(made, SIXTEEN))).tolist() == [False] * 16
    refused(archive(made, {"0": b"\2" * 16}), InvalidFile, "neither 0 nor 1")


# -- resources

MANY = 10_000
SHARED = value("x" * MANY) + PUT
BOMBS = {
    "bytes again and again": SHARED + EMPTY_LIST + MARK
        + call("_codecs.encode", GET, value("latin1")) * MANY + b"e",
    "bytearrays again and again": SHARED + EMPTY_LIST + MARK
        + call("builtins.bytearray", GET, value("latin-1")) * MANY + b"e",
    "sets again and again": value(list(range(MANY))) + PUT + EMPTY_LIST + MARK
        + call("builtins.set", GET) * MANY + b"e",
    "sizes again and again": value(tuple(range(MANY))) + PUT + EMPTY_LIST + MARK
        + call("torch.Size", GET) * MANY + b"e",
    "a key of many parts": value(tuple(range(MANY))) + PUT + EMPTY_DICT + MARK
        + (GET + NONE) * MANY + b"u",
    "a key of doubled tuples": EMPTY_DICT + EMPTY_TUPLE
        + b"".join(b"q" + bytes([i]) + b"h" + bytes([i]) + b"\x86" for i in range(45))
        + NONE + b"s",
    "a key nested deep": EMPTY_DICT + EMPTY_TUPLE + b"\x85" * 10**5 + NONE + b"s",
    "tuples nested deep": EMPTY_TUPLE + b"\x85" * 10**5,
    "lists nested deep": (EMPTY_LIST + MARK) * 10**5,
    "lists in lists": EMPTY_LIST * 10**5 + b"a" * (10**5 - 1),
    "dicts in dicts": (EMPTY_DICT + NONE) * 10**4 + EMPTY_DICT + b"s" * 10**4,
    "marks": MARK * 10**5,
    "a far place in the memo": NONE + b"r\xff\xff\xff\xff" + b"j\xfe\xff\xff\xff",
}  # fmt: skip


@pytest.mark.parametrize("case", BOMBS)
def test_bombs_cost_little_more_than_they_are_long(case: str) -> None:
    content = archive(program(BOMBS[case]))
    began = time.process_time()
    tracemalloc.start()
    try:
        refused(content, InvalidFile)
        assert tracemalloc.get_traced_memory()[1] < 10**6 + 250 * len(content)
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 60


def test_doubled_lists_are_shared_not_copied() -> None:
    doubled = EMPTY_LIST + b"".join(
        b"q" + bytes([i]) + b"h" + bytes([i]) + b"\x86" for i in range(100)
    )
    found = gw.load(io.BytesIO(archive(program(doubled))))
    assert found[0] is found[1] and found[0][0] is found[1][1]


# -- random programs

FUNCTIONS = [
    "_codecs.encode", "builtins.bytearray", "builtins.bytes", "builtins.complex", "builtins.set",
    "collections.Counter", "collections.OrderedDict", "torch.Size", "torch.Tensor", "torch.device",
    "torch.serialization._get_layout", "torch._tensor._rebuild_from_type_v2",
    *(f"torch._utils._rebuild_{kind}" for kind in (
        "tensor", "tensor_v2", "tensor_v3", "parameter", "parameter_with_state",
        "meta_tensor_no_storage")),
    "torch.FloatStorage", "torch.BoolStorage", "torch.storage.UntypedStorage", "torch.float32",
    "torch.complex64", "torch.bool", "os.system",
]  # fmt: skip
VALUES = [
    *map(value, (None, False, True, (), [], {}, 1, -1, 4, 2**62, 2**70, 1.5, "0", "cpu", "latin1",
                 "storage", {"conj": True})),
    value(4) + value(1) + b"\x86", ints(4), ints(1), ints(2, 2), b"\x8f", storage(4),
    view_of((4,), (1,)), view_of((2, 2), (2, 1)), HOOKS,
]  # fmt: skip
INSTRUCTIONS = [
    TUPLE, REDUCE, BUILD, MARK, PUT, GET, b"a", b"e", b"s", b"u", b"\x90", b"\x85", b"\x86",
    b"\x87", b"Q", b"\x81", b"\x93", b"q\x01", b"h\x01", b"\x94",
]  # fmt: skip


def _fragment(rng: random.Random, depth: int) -> bytes:
    kind = rng.random()
    if kind < 0.45:
        return rng.choice(VALUES)
    if kind < 0.6:
        return name(rng.choice(FUNCTIONS))
    if kind < 0.85 and depth < 3:
        parts = [_fragment(rng, depth + 1) for _ in range(rng.randrange(9))]
        return call(rng.choice(FUNCTIONS), *parts)
    return rng.choice(INSTRUCTIONS)


def _run_programs(seed: int, count: int) -> None:
    rng = random.Random(seed)
    for _ in range(count):
        made = program(*(_fragment(rng, 0) for _ in range(rng.randrange(1, 8))))
        with suppress(InvalidFile):
            gw.load(io.BytesIO(archive(made, SIXTEEN)), "cpu")


def test_random_programs_are_refused_or_read() -> None:
    _run_programs(0, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_many_random_programs_are_refused_or_read(seed: int) -> None:
    _run_programs(seed, 100_000)
