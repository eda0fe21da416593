"""Expressions that must mean the same here and in PyTorch: results, dtypes, layouts, exceptions.

`lib` is either library; each line is evaluated in both.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import graphwright as gw

ARGUMENTS = """
lib.arange(6.0).view(size=(2, 3))
lib.ones(2).view()
lib.ones(2).view(2, dtype=lib.int32)
lib.ones(2, 3, 4).movedim((0, 1), 0)
lib.ones(2, 3, 4).movedim(0, 2).stride()
lib.broadcast_shapes((-1,), (3,))
lib.eye(2.5)
lib.linspace(1j, 2, 3)
lib.linspace(lib.tensor(1j), 2, 3)
lib.linspace(1j, 2, 3, dtype=lib.float32)
lib.logspace(0, 1j, 3)
lib.manual_seed("a")
lib.manual_seed(2.5).initial_seed()
lib.Generator().set_state(lib.Generator().get_state()).initial_seed() >= 0
lib.Generator().set_state(lib.zeros(16))
lib.IntTensor(np.array([1, 2], np.int32))
lib.Tensor(np.array([1.0], np.float32))
lib.ones(2, 3).cpu(memory_format=lib.contiguous_format)
lib.ones(2, 3).is_contiguous(memory_format=lib.preserve_format)
lib.from_numpy(np.array([1], ">f4"))
lib.asarray(bytearray(b"ab"), dtype=lib.uint8)
lib.tensor([1], dtype=float)
lib.ones(2, 3).sum(lib.tensor(1.7))
lib.ones(2, 3).all(lib.zeros(2))
lib.ones(2, 3).cumsum(lib.tensor(1))
lib.linalg.matrix_rank(lib.eye(3) * 0.5, 0.6)
lib.linalg.matrix_rank(lib.eye(3) * 0.5, tol=0.4)
lib.linalg.pinv(lib.tensor([[2.0, 0.0], [0.0, 0.1]]), 0.5)
lib.linalg.pinv(lib.tensor([[2.0, 0.0], [0.0, 0.1]]), rcond=0.01)
lib.mm(lib.ones(2, 2), lib.ones(2, 2), out=lib.zeros(2, 2).double())
lib.amax(lib.ones(2), 0, out=lib.zeros(()).double())
lib.all(lib.ones(2), out=lib.zeros((), dtype=lib.uint8))
lib.all(lib.ones(2), out=lib.zeros(()))
lib.cat([lib.ones(2)], out=lib.zeros(2, dtype=lib.int64))
lib.nan_to_num(lib.tensor([complex(math.nan, 1), complex(2, math.inf)]), 7.0)
lib.erf(lib.tensor([1j]))
lib.deg2rad(lib.tensor([1j]))
lib.rad2deg(lib.tensor([1j]))
lib.view_as_complex_copy(lib.ones(3, 2))
lib.ones(4, 2).unsafe_split_with_sizes([1, 3])
"""

INDEXING = """
lib.zeros(3, 4).index_fill(0, lib.tensor([0.0]), 1)
lib.zeros(3, 4).index_fill(0, lib.tensor([0], dtype=lib.int32), 1)
lib.zeros(3, 4).index_add(0, lib.tensor([0, 0]), lib.ones(3, 4))
lib.zeros(3, 4).index_copy(0, lib.tensor([0, 0]), lib.ones(3, 4))
lib.arange(3)[lib.tensor([1, 0, 1], dtype=lib.uint8)]
lib.zeros(3)[lib.tensor([3])]
"""


def _plain(value: Any) -> Any:
    """What is compared: names of types, and of tensors all that both libraries have."""
    if isinstance(value, gw.Tensor):
        array = value.detach().numpy()
        return str(value.dtype).rpartition(".")[2], value.stride(), array.shape, array.tolist()
    if hasattr(value, "detach"):
        array = value.detach().resolve_conj().numpy()
        return str(value.dtype).rpartition(".")[2], value.stride(), array.shape, array.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _answer(text: str, lib: Any) -> Any:
    names = {"lib": lib, "np": np, "math": math}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _plain(eval(text, names))
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError,
                ValueError) as error:  # fmt: skip
            return error


@pytest.mark.oracle
@pytest.mark.parametrize("text", [*filter(None, (ARGUMENTS + INDEXING).split("\n"))])
def test_the_same_as_in_torch(text: str) -> None:
    torch = pytest.importorskip("torch")
    expected, found = _answer(text, torch), _answer(text, gw)
    if isinstance(expected, Exception) or isinstance(found, Exception):
        kind = RuntimeError if isinstance(expected, NotImplementedError) else type(expected)
        assert isinstance(found, kind), f"{expected!r} there, {found!r} here"
    else:
        assert _close(found, expected), f"{expected!r} there, {found!r} here"


def _close(a: Any, b: Any) -> bool:
    """Equal, but for roundings of numbers."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_close, a, b))
    if isinstance(a, float | complex) and isinstance(b, float | complex):
        return bool(np.isclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True))
    return bool(a == b)
