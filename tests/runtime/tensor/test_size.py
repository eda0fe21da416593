"""`Tensor.shape` is a Size: a tuple of ints that stays a Size, eager and compiled."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "shape": lambda s, gw: s,
    "slice": lambda s, gw: s[1:],
    "item": lambda s, gw: s[-1],
    "sum": lambda s, gw: operator.add(s, (1,)),
    "sum from the right": lambda s, gw: operator.add((1, 2), s),
    "multiple": lambda s, gw: s * 2,
    "multiple from the right": lambda s, gw: 2 * s,
    "numel": lambda s, gw: s.numel(),
    "numel of a slice": lambda s, gw: s[1:].numel(),
    "tuple": lambda s, gw: tuple(s),
    "list": lambda s, gw: list(s),
    "equal": lambda s, gw: (s == (2, 3, 4), s == [2, 3, 4], s != (2, 3)),
    "is a tuple": lambda s, gw: (isinstance(s, tuple), isinstance(s, gw.Size)),
    "made": lambda s, gw: gw.Size([s[0], 5]),
    "unpacked": lambda s, gw: [a * 2 for a in s],
    "length": lambda s, gw: len(s),
    "index": lambda s, gw: (s.index(3), s.count(4), 2 in s),
}


def _of_torch(value: Any) -> Any:
    """Sizes of either library as ("Size", items)."""
    if type(value).__name__ == "Size":
        return "Size", tuple(value)
    return value


@pytest.mark.oracle
@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_as_pytorch(name: str, compiled: bool) -> None:
    torch = pytest.importorskip("torch")
    expression = EXPRESSIONS[name]

    def call(x: Any) -> Any:
        return x + 1, expression(x.shape, gw)

    function = gw.compile(call, fullgraph=True) if compiled else call
    found = function(gw.zeros(2, 3, 4))[1]
    expected = expression(torch.zeros(2, 3, 4).shape, torch)
    assert type(found).__name__ == type(expected).__name__
    assert _of_torch(found) == _of_torch(expected)


def test_symbolic_sizes() -> None:
    @gw.compile(fullgraph=True, dynamic=True)
    def f(x: Any) -> Any:
        half = operator.add(x.shape[1:], (1,))
        return x.reshape(x.shape.numel()), x.new_zeros(half), x.shape, half

    for n in (3, 5, 7):
        flat, zeros, shape, half = f(gw.ones(n, 4))
        assert flat.shape == (4 * n,) and zeros.shape == (4, 1)
        assert shape == (n, 4) and type(shape) is gw.Size and type(half) is gw.Size


def test_as_an_argument_of_compiled_code() -> None:
    @gw.compile(fullgraph=True)
    def f(x: Any, size: Any) -> Any:
        return x.reshape(size) * size.numel()

    x = gw.arange(6.0)
    assert f(x, gw.Size([2, 3])).tolist() == [[0, 6, 12], [18, 24, 30]]
    assert f(x, gw.Size([3, 2])).shape == (3, 2)


def test_hash_pickle_and_copy() -> None:
    size = gw.zeros(2, 3).shape
    assert hash(size) == hash((2, 3)) and {(2, 3): 1}[size] == 1
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(size, protocol))
        assert again == size and type(again) is gw.Size
    assert type(copy.deepcopy(size)) is gw.Size and copy.copy(size) == size


def test_size_of_a_tensor() -> None:
    x = gw.zeros(2, 3)
    assert type(x.size()) is gw.Size and x.size() is x.shape and x.size(1) == 3
    assert repr(x.shape) == str(x.shape) == "graphwright.Size([2, 3])"
    assert gw.zeros(x.shape).shape == x.shape and x.view(x.shape[::-1]).shape == (3, 2)


def test_what_is_no_size_is_refused() -> None:
    for items in ([1.5], ["a"], 5):
        with pytest.raises(TypeError):
            gw.Size(items)
    with pytest.raises(TypeError):
        operator.add(gw.Size([1]), [1])
    made = gw.Size([True, gw.tensor(3)])
    assert [type(item) for item in made] == [int, int] and made == (1, 3)


def test_objects_are_reused_and_freed() -> None:
    kept = [gw.zeros(n, 2).shape for n in range(300)]
    many = [gw.Size(range(n)) for n in range(20)]
    del kept
    gc.collect()
    assert [gw.zeros(n, 2).shape for n in range(300)] == [(n, 2) for n in range(300)]
    assert [len(size) for size in many] == list(range(20))
