"""Tensors that become views of themselves: in the graph where only the frame has them."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

from ..programs import Programs, sound, whole

whole_program = Programs()
broken_program = Programs()


@whole_program
def layouts(x: Any) -> Any:
    y = x.clone()
    row, same = y[0], y
    result = y.t_()
    y.unsqueeze_(0)
    shape = y.shape
    y.add_(1)
    y.squeeze_()
    y.transpose_(0, 1).mul_(2)
    row.add_(5)
    return y, row, result is y, same is y, shape, same.shape, y.stride()


@whole_program
def in_containers(x: Any) -> Any:
    items = [x + 1]
    items[0].unsqueeze_(0)
    held = items[0]
    held.swapaxes_(0, 1)
    return items, held is items[0], held.ndim


@whole_program
def strided(x: Any) -> Any:
    y, row = x * 2, x[1:] + 1
    window = y.as_strided_((2, 2), (1, 2))
    window.add_(1)
    return y, window is y, y.stride(), row.as_strided_((3,), (0,)), y.sum(0)


@broken_program
def of_an_argument(x: Any) -> Any:
    x.unsqueeze_(0)
    return x + 1


@broken_program
def strided_argument(x: Any) -> Any:
    x.as_strided_((2,), (1,))
    return x + 1


@broken_program
def resized(x: Any) -> Any:
    y = x * 2
    y.resize_(2)
    return y + 1


@broken_program
def resized_as_another(x: Any) -> Any:
    x.resize_as_(gw.ones(2))
    return x + 1


@whole_program
def no_views_of_others(x: Any) -> Any:
    y, z = x * 1, x.clone()
    y.t_().t_()
    y.detach_()
    z.unsqueeze_(0)
    z.detach_().mul_(2)
    return y, y._is_view(), z, z._is_view()


@whole_program
def views_stay_views(x: Any) -> Any:
    y = (x * 1)[1:]
    y.t_()
    found = []
    for view in (y, (x + 1).t(), x[0] + x.view(-1)[:1].expand(3)[1:2]):
        try:
            found.append(view.detach_())
        except RuntimeError as error:
            found.append(str(error))
    return found, y


@broken_program
def of_other_memory(x: Any) -> Any:
    y = x * 2
    y.set_(x)
    return y + 1


@broken_program
def with_a_history(x: Any) -> Any:
    y = x.clone().requires_grad_() * 2
    y.t_()
    return y.detach()


def across_a_break(x: Any) -> Any:
    y = x * 2
    y.t_()
    if y.sum() > 0:
        y.unsqueeze_(0)
    return y, y.shape


@pytest.mark.parametrize("program", whole_program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, gw.randn(2, 3))


@pytest.mark.parametrize("program", broken_program.all, ids=lambda p: p.__name__)
def test_what_others_hold_changes_in_plain_python(program: Any) -> None:
    assert set(sound(program, gw.ones(2, 3)).breaks) == {"GB0025"}


def test_a_new_layout_goes_over_a_break() -> None:
    assert set(sound(across_a_break, gw.ones(2, 3)).breaks) == {"GB0001", "GB0025"}


@pytest.mark.parametrize("program", whole_program.all, ids=lambda p: p.__name__)
def test_compiled(program: Any) -> None:
    x = gw.randn(2, 3)
    compiled, plain = gw.compile(program)(x), program(x)
    for found, expected in zip(compiled, plain, strict=True):
        if isinstance(found, gw.Tensor):
            gw.testing.assert_close(found, expected)
            assert found.stride() == expected.stride()
        elif not isinstance(found, list):
            assert found == expected
