"""x[key] and x[key] = value in C: what the ops give that they stand for, or nothing at all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.runtime.tensor.tensor import Tensor

RNG = np.random.default_rng(0)
SHAPE = (4, 3, 5)
LAYOUTS: dict[str, Callable[[gw.Tensor], gw.Tensor]] = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.transpose(0, 2).contiguous().transpose(0, 2),
    "sliced": lambda t: gw.cat([t, t], 2)[:, :, ::2][:, :, :5],
}
MASK = RNG.random(SHAPE) > 0.5
ROWS = np.array([True, False, True, True])
PLANE = RNG.random(SHAPE[:2]) > 0.5
POSITIONS = np.array([3, 0, -1])
KEYS: dict[str, Any] = {
    "list": [0, 2], "one of a list": [1], "negative": [-1, 0], "truths": [True, False, True, True],
    "list of a dim": (slice(None), [0, 2]), "two lists": ([0, 1], [2, 1]),
    "lists apart": ([0, 1], slice(None), [3, 4]), "list and number": ([0, 1], 2),
    "list and slice": ([0, 1], slice(1, 3)), "slice and list": (slice(1, 3), [0, 2]),
    "range": range(3), "array": POSITIONS, "array of arrays": (POSITIONS, POSITIONS % 3),
    "matrix": POSITIONS[:, None], "NumPy number": np.int64(2),
    "int32 array": POSITIONS.astype("i4"),
    "tensor": gw.tensor(POSITIONS), "int32": gw.tensor(POSITIONS).int(),
    "tensor behind": (..., gw.tensor(POSITIONS)),
    "tensor and slice": (gw.tensor(POSITIONS), slice(None), slice(1, 4)),
    "tensors apart": (gw.tensor(POSITIONS), slice(0, 2), gw.tensor(POSITIONS)),
    "tensors broadcast": (gw.tensor(POSITIONS)[:, None], slice(None), gw.tensor(POSITIONS)),
    "matrix of positions": gw.tensor([[0, 1], [2, 3]]), "scalar": gw.tensor(2),
    "scalar int32": gw.tensor(2).int(),
    "mask": gw.from_numpy(MASK), "rows": gw.from_numpy(ROWS), "rows and number":
    (gw.from_numpy(ROWS), 1), "plane": gw.from_numpy(PLANE), "rows and slice":
    (gw.from_numpy(ROWS), slice(0, 2)), "dim by truths": (slice(None), [True, False, True]),
    "array of truths": ROWS, "mask as an array": MASK, "no row": gw.zeros(4, dtype=gw.bool),
    "rows and positions": (gw.from_numpy(ROWS), gw.tensor([0, 2, 1])),
    "new dim": (None, [0, 2]), "new dims": ([0, 2], None, 1), "ellipsis": ([1], ..., [2]),
    "bytes": gw.from_numpy(ROWS).to(gw.uint8), "truth": True, "untruth": False,
    "numbers": (1, 2, 3), "slices": (slice(1, 3), slice(None), slice(0, 4, 2)), "empty": [],
    "nested": [[0, 1], [1, 2]], "list of slices": [slice(1, 2)], "tuple in a tuple": ((0, 1), 1),
    "out of range": [0, 9], "number out of range": 4, "too many": (0, 0, 0, 0),
    "tensor out of range": gw.tensor([0, 4]), "mask of another shape": gw.zeros(3, dtype=gw.bool),
    "floats": [0.5], "text": "a", "float tensor": gw.ones(2),
    "do not broadcast": ([0, 1], [0, 1, 2]), "view": (slice(None), 1),
}  # fmt: skip
VALUES: dict[str, Any] = {
    "number": 2, "float": 1.5, "truth": True, "scalar": gw.tensor(3.5),
    "scalar of another dtype": gw.tensor(7), "scalar of one dim": gw.tensor([4.0]),
    "row": gw.arange(5.0), "rows": gw.arange(10.0).reshape(2, 5), "array": np.arange(5.0),
    "NumPy number": np.float32(2.5), "ints": gw.arange(5), "many dims": gw.arange(5.0)[None, None],
    "list": [1.0], "large": 2**70,
}  # fmt: skip
REFUSALS = (IndexError, TypeError, ValueError, RuntimeError, OverflowError)


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """The result, or the class of what it raises."""
    try:
        return function(*args)
    except REFUSALS as error:
        return type(error)


def tensor(layout: str) -> gw.Tensor:
    return LAYOUTS[layout](gw.arange(60.0).reshape(SHAPE))


@pytest.mark.filterwarnings("ignore:indexing with dtype uint8", "ignore:Using a non-tuple")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_reads_what_the_ops_read(key: Any, layout: str) -> None:
    x = tensor(layout)
    got, want = outcome(x.__getitem__, key), outcome(x._picked, key)
    if isinstance(want, type):
        assert got is want
        return
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.stride() == want.stride() or got.numel() == 0
    assert got.tolist() == want.tolist()


@pytest.mark.filterwarnings("ignore:indexing with dtype uint8", "ignore:Using a non-tuple")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_writes_what_the_ops_write(key: Any, layout: str) -> None:
    for value in VALUES.values():
        mine, other = tensor(layout), tensor(layout)
        got, want = outcome(mine.__setitem__, key, value), outcome(other._assign, key, value)
        assert got is want
        assert mine.tolist() == other.tolist()
        assert mine._version == other._version


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8", "float16", "bfloat16", "complex64"])
def test_writes_in_every_dtype(dtype: str) -> None:
    for key in ([0, 2], (slice(None), 1), gw.from_numpy(ROWS)):
        for value in (0, 1, True, gw.tensor(1), gw.tensor(1.0)):
            mine, other = (gw.zeros(SHAPE, dtype=getattr(gw, dtype)) for _ in range(2))
            got, want = outcome(mine.__setitem__, key, value), outcome(other._assign, key, value)
            assert got is want
            assert mine.tolist() == other.tolist()


def test_records_gradients() -> None:
    x = gw.arange(6.0).requires_grad_()
    y = x * 1
    y[[0, 1]] = 0.0
    (y[[1, 2]] + x[gw.tensor([True, False] * 3)][:2]).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 2.0, 0.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="leaf"):
        x[0] = 1.0


def test_values_of_its_own_memory() -> None:
    x, want = gw.arange(6.0), np.arange(6.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:] = x[:-1]
    x[[0, 1, 2]] = x[3:]
    want[[0, 1, 2]] = want[3:].copy()
    assert x.tolist() == want.tolist()


def test_a_view_that_repeats_its_elements_is_not_written() -> None:
    with pytest.raises(RuntimeError, match="single memory location"):
        gw.zeros(3).expand(2, 3)[0:2] = gw.ones(2, 3)


def test_gives_back_what_it_borrows() -> None:
    x, picks = gw.arange(60.0).reshape(SHAPE), gw.tensor([0, 2])
    keys = [[0, 2], (picks, 1), (picks, slice(1, 3)), (gw.from_numpy(ROWS), picks), ("a",), [0, 9],
            (0, picks, picks, picks)]
    value = gw.tensor(1.0)

    def run() -> None:
        for key in keys:
            outcome(x.__getitem__, key)
            outcome(x.__setitem__, key, value)
    run()
    before = [sys.getrefcount(o) for o in (x, picks, value, *keys)]
    for _ in range(50):
        run()
    assert [sys.getrefcount(o) for o in (x, picks, value, *keys)] == before


def test_assign_says_what_it_leaves_alone() -> None:
    x = gw.zeros(3)
    assert not _core.assign(Tensor, x, "a", 1.0)
    assert not _core.assign(Tensor, x, 0, "a")
    assert _core.assign(Tensor, x, 0, 1.0)
    assert x.tolist() == [1.0, 0.0, 0.0]


class Two:
    """Stands for 2 where an int is wanted."""

    def __index__(self) -> int:
        return 2


def test_bounds_of_slices_are_what_stands_for_ints() -> None:
    x = gw.arange(24).reshape(4, 6)
    for mine, want in (
        (x[Two() :], x[2:]), (x[:: Two()], x[::2]), (x[Two(), 1 : Two()], x[2, 1:2]),
        (x[..., np.int8(1) : np.int64(5) : Two()], x[..., 1:5:2]),
    ):
        assert gw.equal(mine, want) and mine.stride() == want.stride()
    x[: Two(), Two() :] = 0
    assert x[:2, 2:].count_nonzero() == 0 and x.count_nonzero() == 15
    for none in ("a", 1.5, int, Two, np.bool_(True), np.float32(1)):
        with pytest.raises(TypeError):
            x[none:]
