"""Views of computed values come back with the strides of eager calls, gaps and overlaps too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

VIEWS: dict[str, Callable[[Any], Any]] = {
    "row": lambda x: (x * 2)[1],
    "column": lambda x: (x * 2)[:, 1],
    "every other": lambda x: (x * 2)[:, ::2],
    "some of the columns": lambda x: (x.t() * 2)[1:3],
    "diagonal": lambda x: (x * 2).diagonal(),
    "transposed": lambda x: (x * 2).t(),
    "expanded": lambda x: (x * 2).expand(3, 5, 6),
    "windows": lambda x: (x * 2).unfold(1, 3, 1),
    "written before": lambda x: (x * 2).add_(x).mul_(2)[:, ::2],
    "view of a view": lambda x: (x * 2).view(-1)[::3],
}


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("name", VIEWS)
def test_strides_are_those_of_eager_calls(name: str, dynamic: bool | None) -> None:
    x = gw.rand(5, 6)
    found, eager = gw.compile(VIEWS[name], dynamic=dynamic)(x), VIEWS[name](x)
    assert found.stride() == eager.stride()
    assert bool((found == eager).all())


@pytest.mark.parametrize("name", VIEWS)
def test_gradients_go_through_the_view(name: str) -> None:
    grads: list[Any] = []
    for function in (VIEWS[name], gw.compile(VIEWS[name])):
        x = gw.arange(30.0).reshape(5, 6).requires_grad_()
        result = function(x)
        grads += gw.autograd.grad(result, x, gw.arange(float(result.numel())).view_as(result))
    assert bool((grads[0] == grads[1]).all())


def test_overlapping_elements_are_not_written() -> None:
    expanded = gw.compile(lambda x: (x * 2).expand(3, 4))(gw.rand(4))
    with pytest.raises(RuntimeError, match="single memory location"):
        expanded.add_(1)
