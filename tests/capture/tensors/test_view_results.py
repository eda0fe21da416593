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


def effect() -> None:
    print(end="")


def switched_on_again(x: Any) -> tuple[Any, ...]:
    with gw.no_grad():
        effect()
    return x[0], x.t(), x.unbind(0)[1], (x * 2)[:, ::2]


def switched_on_for_a_part(x: Any) -> tuple[Any, ...]:
    with gw.no_grad():
        effect()
        before = x[0]
        with gw.enable_grad():
            row, scaled = x[1], (x * 3)[::2]
        after = x[2]
    return row, scaled, before.detach(), after.detach()


@pytest.mark.parametrize("program", [switched_on_again, switched_on_for_a_part])
def test_views_have_the_history_of_the_mode_they_were_made_in(program: Any) -> None:
    """The frame goes on within the block, so its graph begins where nothing is recorded."""

    def gradients(function: Callable[[Any], Any]) -> list[Any]:
        x = gw.ones(3, 4, requires_grad=True)
        recorded = [result for result in function(x) if result.requires_grad]
        assert all(result.grad_fn is not None for result in recorded)
        return [gw.autograd.grad(result.sum(), x)[0].tolist() for result in recorded]

    assert gradients(gw.compile(program)) == gradients(program)
