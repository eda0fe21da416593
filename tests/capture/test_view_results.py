"""Views that compiled functions return have eager strides; writes fit into what they change."""

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


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "clamp_min_": lambda a, b: a.clamp_min_(b),
    "ldexp_": lambda a, b: a.ldexp_(b),
    "lerp_": lambda a, b: a.lerp_(b, 0.4),
    "addmv_": lambda a, b: a[:1, 0].addmv_(b.reshape(5, 1), b[:1]),
    "float_power_": lambda a, b: a.float_power_(b[0]),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_does_not_fit_is_not_written(name: str) -> None:
    messages = []
    for function in (WRITES[name], gw.compile(WRITES[name])):
        with pytest.raises(RuntimeError) as refused:
            function(gw.ones(5, 1), gw.ones(5))
        messages.append(str(refused.value))
    assert messages[0] == messages[1]
