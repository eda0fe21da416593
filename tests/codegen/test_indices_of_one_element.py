"""Lookups in tensors without dims, which count as one element long, in compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

LOOKUPS: dict[str, Callable[[Any, Any], Any]] = {
    "gather": lambda x, index: x.gather(0, index),
    "index_select": lambda x, index: x.index_select(0, index),
    "scatter_add": lambda x, index: x.scatter_add(0, index, gw.ones(index.shape)),
    "take_along_dim": lambda x, index: gw.take_along_dim(x, index, 0),
    "take": lambda x, index: gw.take(x, index),
}
INDICES = (0, [0], [0, 0, 0], 5, [5], -1)


def outcome(function: Callable[..., Any], index: Any) -> Any:
    """The values, or the error, and the gradient."""
    x = gw.tensor(3.0, requires_grad=True)
    try:
        result = function(x, gw.tensor(index))
    except (IndexError, RuntimeError) as error:
        return type(error), str(error)
    result.sum().backward()
    assert x.grad is not None
    return result.tolist(), x.grad.item()


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("name", LOOKUPS)
def test_an_index_into_one_element(name: str, index: Any) -> None:
    assert outcome(gw.compile(LOOKUPS[name]), index) == outcome(LOOKUPS[name], index)
