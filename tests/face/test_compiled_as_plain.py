"""What can be seen of views, writes and random numbers is the same in compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw


def told(function: Callable[..., Any], *args: Any) -> Any:
    """The result, or the type and the beginning of the text of what was raised."""
    try:
        return function(*args)
    except RuntimeError as error:
        return type(error), str(error)[:90]


def one_of_several(t: Any) -> Any:
    return t.abs().split(2)


def test_views_of_several_stay_unwritable_where_gradients_are_recorded() -> None:
    leaf = gw.randn(3, 4, requires_grad=True)
    plain = told(lambda: one_of_several(leaf)[0].fill_(3))
    assert plain[0] is RuntimeError
    assert told(lambda: gw.compile(one_of_several)(leaf)[0].fill_(3)) == plain


def test_views_made_without_gradients_stay_unwritable_with_them() -> None:
    def program(t: Any) -> Any:
        base = t * 2
        with gw.no_grad():
            view = base[0]
        return base, view

    leaf = gw.randn(3, 4, requires_grad=True)
    plain = told(lambda: program(leaf)[1].fill_(3))
    assert plain[0] is RuntimeError
    assert told(lambda: gw.compile(program)(leaf)[1].fill_(3)) == plain


def turned(t: Any) -> Any:
    view = t[:, ::2]
    view.unsqueeze_(0)
    return view


@pytest.mark.parametrize("program", [lambda t: t[:, ::2], lambda t: (t * 1, t[0])[1], turned])
@pytest.mark.parametrize("needs_grad", [True, False])
def test_views_of_arguments_made_without_gradients(program: Any, needs_grad: bool) -> None:
    def seen(call: Any) -> Any:
        base = gw.ones(3, 4, requires_grad=needs_grad)
        with gw.no_grad():
            view = call(base)
        early = view._base is base, told(lambda: view.grad_fn)
        if not needs_grad:
            base.mul_(gw.ones(3, 4, requires_grad=True))
        return early, view.requires_grad, told(lambda: view.grad_fn), told(lambda: view.fill_(3))

    plain = seen(program)
    assert plain[0][0] and plain[-1][0] is RuntimeError
    assert seen(gw.compile(program)) == plain


def test_a_parameter_and_its_views_are_written_without_gradients() -> None:
    def program(t: Any) -> Any:
        t.mul_(t).add_(t)
        view = t[0]
        t.clamp_(min=0)
        return view + 1

    with gw.no_grad():
        start = gw.randn(3, 4)
        leaf, other = gw.nn.Parameter(start.clone()), gw.nn.Parameter(start.clone())
        result = gw.compile(program)(leaf)
        assert gw.allclose(result, program(other))
        assert gw.allclose(leaf, other)


def test_without_gradients_results_are_written_to_leaves() -> None:
    def program(t: Any, out: Any) -> Any:
        return gw.add(t * 2, out, out=out) * 3

    start = gw.randn(3, 4)
    leaf, other = gw.nn.Parameter(start.clone()), gw.nn.Parameter(start.clone())
    with gw.no_grad():
        result = gw.compile(program, fullgraph=True)(leaf, leaf)
        assert gw.allclose(result, program(other, other))
        assert gw.allclose(leaf, other)
    plain = told(program, other, other)
    assert plain[0] is RuntimeError
    assert told(gw.compile(program), leaf, leaf) == plain


@pytest.mark.parametrize("program", [
    lambda t: t[1:].add_(t[:-1]),
    lambda t: t.T.copy_(t),
], ids=["shifted", "transposed"])
def test_operands_that_share_some_elements_are_refused(program: Callable[..., Any]) -> None:
    plain = told(program, gw.ones(4, 4))
    assert plain[0] is RuntimeError
    assert told(gw.compile(program), gw.ones(4, 4)) == plain


def test_elements_in_one_place_are_written_as_often_as_plainly() -> None:
    def program(t: Any) -> Any:
        t.as_strided((2, 2), (1, 1)).mul_(0.5)
        return t + 1

    assert gw.equal(gw.compile(program)(gw.ones(3, 4)), program(gw.ones(3, 4)))


def test_equal_views_are_different_tensors() -> None:
    def program(t: Any) -> Any:
        u = t * 2
        return u.unsqueeze(0), u.unsqueeze(0)

    first, second = gw.compile(program)(gw.ones(3, 4))
    assert first is not second
    assert first._storage is second._storage


def test_what_views_are_returned_of_keeps_its_layout() -> None:
    def program(t: Any) -> Any:
        u = gw.where(t > 0, t, t * 3)
        u[0] = 1
        return u, u[1]

    given = gw.randn(4, 3).T
    assert [r.stride() for r in gw.compile(program)(given)] == [(1, 3), (3,)]


def test_random_numbers_that_nobody_needs_are_drawn() -> None:
    def program(t: Any) -> Any:
        gw.randn_like(t)
        return t + 1

    drawn = []
    for function in (program, gw.compile(program)):
        gw.manual_seed(3)
        function(gw.ones(3, 4))
        drawn.append(gw.rand(2).tolist())
    assert drawn[0] == drawn[1]


def test_the_mean_squared_error_of_integers_is_refused() -> None:
    def program(t: Any) -> Any:
        return gw.nn.functional.mse_loss(t, t)

    given = gw.ones(3, dtype=gw.int64)
    plain = told(program, given)
    assert plain[0] is NotImplementedError
    assert told(gw.compile(program), given) == plain


def _part_without_gradients(w: Any, x: Any) -> Any:
    with gw.no_grad():
        view = w[0]
        w.mul_(2)
    return view * x


def _part_of_a_result(w: Any, x: Any) -> Any:
    base = w * 2
    with gw.no_grad():
        view = base[0]
    base.mul_(2)
    return view * x


def _one_of_several_parts(w: Any, x: Any) -> Any:
    base = w * 2
    first, _ = base.unbind(0)
    base.mul_(2)
    return first * x


def _another_part(w: Any, x: Any) -> Any:
    base = w * 2
    with gw.no_grad():
        view, other = base[0], base[1]
        view.mul_(2)
    return other * x, base


def _overwritten_result(w: Any, x: Any) -> Any:
    with gw.no_grad():
        view = w[0]
        w.mul_(2)
    return view


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("program", [
    _part_without_gradients, _part_of_a_result, _one_of_several_parts, _another_part,
    _overwritten_result,
])
def test_views_that_are_no_longer_tracked_are_refused(program: Any, dynamic: bool) -> None:
    def used(function: Any) -> Any:
        w, x = gw.ones(2, 3, requires_grad=True), gw.ones(3, requires_grad=True)
        return function(w, x) + 1

    plain = told(used, program)
    assert plain[0] is RuntimeError
    assert told(used, gw.compile(program, dynamic=dynamic)) == plain


def test_views_that_are_no_longer_tracked_are_read_without_gradients() -> None:
    def program(w: Any) -> Any:
        with gw.no_grad():
            view = w[0]
            w.mul_(2)
        return view

    with gw.no_grad():
        view = gw.compile(program)(gw.ones(2, 3))
        assert (view + 1).tolist() == [3.0] * 3
