"""Sizes are sequences of ints: one int is none, nor is nothing, where PyTorch says so.

Only what takes its sizes one by one takes a single int: methods, and functions that make a tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
import graphwright.nn.functional as F

X = gw.arange(6.0)
ONE = gw.tensor(1.5)
Call = Callable[[Any], Any]

FUNCTIONS: dict[str, Call] = {
    "reshape": lambda n: gw.reshape(X, n),
    "flip": lambda n: gw.flip(X, n),
    "tile": lambda n: gw.tile(X, n),
    "broadcast_to": lambda n: gw.broadcast_to(X[:1], n),
    "permute": lambda n: gw.permute(X, n),
    "full": lambda n: gw.full(n, 1.0),
    "new_full": lambda n: X.new_full(n, 1.0),
    "as_strided": lambda n: gw.as_strided(X, n, (1,)),
    "unflatten": lambda n: gw.unflatten(X, 0, n),
    "Tensor.unflatten": lambda n: X.unflatten(0, n),
    "split_with_sizes": lambda n: X.split_with_sizes(n),
    "view_copy": lambda n: gw.view_copy(X, n),
    "pad": lambda n: F.pad(X, n),
    "layer_norm": lambda n: F.layer_norm(X, n),
    "reshape by name": lambda n: X.reshape(shape=n),
    "ones by name": lambda n: gw.ones(size=n),
}
METHODS: dict[str, Callable[..., Any]] = {
    "reshape": ONE.reshape,
    "expand": ONE.expand,
    "broadcast_to": ONE.broadcast_to,
    "repeat": ONE.repeat,
    "tile": ONE.tile,
    "flip": ONE.flip,
    "permute": ONE.permute,
    "view": ONE.view,
    "sum_to_size": ONE.sum_to_size,
    "new_ones": ONE.new_ones,
    "new_zeros": ONE.new_zeros,
    "new_empty": ONE.new_empty,
    "ones": gw.ones,
    "zeros": gw.zeros,
    "empty": gw.empty,
    "rand": gw.rand,
    "randn": gw.randn,
}


@pytest.mark.parametrize("value", [6, gw.tensor(6), 1.0, None, "a"], ids=repr)
@pytest.mark.parametrize("call", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_what_is_no_sequence(call: Call, value: Any) -> None:
    for run in (call, gw.compile(call)):
        with pytest.raises(TypeError):
            run(value)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
def test_no_size_at_all_is_another_thing_than_an_empty_one(method: Callable[..., Any]) -> None:
    assert method(()).shape == ()
    for run in (method, gw.compile(lambda: method())):
        with pytest.raises(TypeError):
            run()


def test_an_item_is_a_tensor_of_one_element() -> None:
    assert gw.reshape(X, (gw.tensor([2]), gw.tensor(3))).shape == (2, 3)
    for sizes in ((gw.tensor([2, 3]), 1), (1, gw.tensor([2, 3]))):
        with pytest.raises(TypeError):
            gw.reshape(X, sizes)


def test_the_argument_that_is_no_size_is_named() -> None:
    with pytest.raises(TypeError, match=r"as_strided.*'stride' must be tuple of ints"):
        X.as_strided((1,), 2)
    with pytest.raises(TypeError, match="argument 'normalized_shape' must be tuple of ints"):
        F.layer_norm(X, 6)
