"""`tensor.data`: a name of the same memory that neither tape nor versions know of."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured
from ..programs import Programs, sound, whole

whole_program = Programs()
broken_program = Programs()


@whole_program
def read_of_an_argument(x: Any, w: Any) -> Any:
    return x * w.data, w.data.shape, w.data.requires_grad, w.requires_grad


@whole_program
def read_of_what_the_frame_made(x: Any, w: Any) -> Any:
    y = x * w
    return y.data + 1, y.data.requires_grad, y.requires_grad


@whole_program
def moving_average(x: Any, w: Any) -> Any:
    x.data.mul_(0.9).add_(w.data, alpha=0.1)
    x.data[0] = 3.0
    return None


@whole_program
def augmented_assignment(x: Any, w: Any) -> Any:
    w.data -= 0.1 * x
    w.data.clamp_(-1, 1)
    return x * 2


@whole_program
def other_memory(x: Any, w: Any) -> Any:
    w.data = x * 2
    return w.data + 1, w


@whole_program
def used_where_nothing_is_recorded(x: Any, w: Any) -> Any:
    x.data.mul_(2)
    w.data.mul_(0.9).add_(x.data, alpha=0.1)
    with gw.no_grad():
        return x + 1, w * 2, w.sum(), x[0] * 2, w.t()[0].exp()


@whole_program
def other_memory_without_gradients(x: Any, w: Any) -> Any:
    x.data = x.data * 2
    w.data = w.data * 0.5 + x
    with gw.no_grad():
        y = w * x
    x.add_(1)
    return y, x, w, x.sum()


@whole_program
def other_shape(x: Any, w: Any) -> Any:
    before = x[0]
    x.data = w.data[0] * 2
    return before, x.shape, x.ndim, len(x), x.sum(), [row * 2 for row in x], x.stride()


@whole_program
def swapped(x: Any, w: Any) -> Any:
    y = x.new_zeros(2, 3)
    with gw.no_grad():
        x.data, w.data = w.data, x.data
        return x - w, w * 2 + y


@whole_program
def one_object_for_each_read(x: Any, w: Any) -> Any:
    first, second = w.data, w.data
    return first is second, first is first, [first, first, second], w


@whole_program
def one_object_for_each_read_of_what_was_assigned(x: Any, w: Any) -> Any:
    value = x * 2
    w.data = value
    first = w.data
    first.add_(1)
    return first is value, first is w.data, w.data is w.data, first is first, w


@whole_program
def operations_that_give_the_tensor_itself(x: Any, w: Any) -> Any:
    first, second = w.data, w.data
    x.data = x.data * 2
    same = x.contiguous() is x, x.to(gw.float32) is x, x.real is x, x.data.float() is x
    return same, second.contiguous() is second, second.contiguous() is first, x, [x.float()]


@whole_program
def view_beside_data(x: Any, w: Any) -> Any:
    x.data.mul_(2)
    return x[0], x.t()[0]


@whole_program
def written_through_a_view_beside_data(x: Any, w: Any) -> Any:
    x.data.mul_(2)
    x[0].add_(1)
    return x + 1


@broken_program
def recorded_before_it_is_written(x: Any, w: Any) -> Any:
    y = x.data * w
    x.data.mul_(2)
    return y.sum()


@whole_program
def written_beside_its_use(x: Any, w: Any) -> Any:
    y = x * w
    w.data.add_(1)
    return y, w * 2


@broken_program
def used_after_other_memory(x: Any, w: Any) -> Any:
    w.data = x.data * 2
    return w * 3, w.shape


@whole_program
def written_by_name_beside_data(x: Any, w: Any) -> Any:
    with gw.no_grad():
        old = w.data
        w.add_(1)
        return old * 1


@broken_program
def view_after_an_assignment(x: Any, w: Any) -> Any:
    x.data = w.data * 2
    return x[0]


@broken_program
def written_by_name_after_an_assignment(x: Any, w: Any) -> Any:
    w.data = x * 2
    with gw.no_grad():
        w.add_(1)
    return w * 3


@whole_program
def the_view_of_a_view_is_written(x: Any, w: Any) -> Any:
    row = w.data[0]
    with gw.no_grad():
        w.mul_(2)
    row.add_(1)
    return row * 2, w[0] + row, w.data[1], (w * 2).detach()


@whole_program
def averages_beside_steps(x: Any, w: Any) -> Any:
    average = x * 1
    for _ in range(2):
        (x * w).sum().backward()
        with gw.no_grad():
            w.add_(w.grad, alpha=-0.1)
        w.grad = None
        average.mul_(0.9).add_(w.data, alpha=0.1)
        w.data.clamp_(-0.5, 0.5)
    return average


@whole_program
def steps_of_descent(x: Any, w: Any) -> Any:
    (x * w).sum().backward()
    w.data -= 0.1 * w.grad.data
    w.grad = None
    return (x * w).sum()


def arguments() -> tuple[Any, Any]:
    return gw.randn(2, 3), nn.Parameter(gw.randn(2, 3))


@pytest.mark.parametrize("program", whole_program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, *arguments())


@pytest.mark.parametrize("program", broken_program.all, ids=lambda p: p.__name__)
def test_two_names_are_told_apart_by_a_break(program: Any) -> None:
    captured = sound(program, *arguments())
    assert captured.breaks[0] == "GB0004"


@pytest.mark.parametrize("compiled", [Captured, gw.compile], ids=["captured", "native"])
def test_writes_are_not_seen_by_versions(compiled: Any) -> None:
    w = nn.Parameter(gw.ones(3))
    x = gw.ones(3, requires_grad=True)
    loss = (x * w).sum()

    def double() -> None:
        w.data.mul_(2)

    before = w._version
    function = compiled(double)
    function()
    function()
    assert w.tolist() == [4.0] * 3
    assert w._version == before
    loss.backward()
    assert x.grad.tolist() == [4.0] * 3


@pytest.mark.parametrize("compiled", [Captured, gw.compile], ids=["captured", "native"])
def test_writes_by_both_names_count_those_by_the_tensors_own(compiled: Any) -> None:
    w, y = nn.Parameter(gw.ones(3)), gw.ones(3, requires_grad=True)

    def step(z: Any) -> Any:
        with gw.no_grad():
            w.add_(1)
        w.data.mul_(2)
        return w.exp() * z

    before = w._version
    compiled(step)(y).sum().backward()
    assert w.tolist() == [4.0] * 3
    assert w._version == before + 1
    assert gw.allclose(y.grad, gw.exp(w.detach()))


def test_data_written_before_it_is_used_for_gradients_is_used_as_written() -> None:
    w = nn.Parameter(gw.ones(3))

    def step() -> Any:
        w.data.mul_(2)
        return (w * w).sum()

    compiled = gw.compile(step)
    compiled().backward()
    assert w.tolist() == [2.0] * 3
    assert w.grad.tolist() == [4.0] * 3


def test_a_graph_that_fails_has_written_nothing() -> None:
    w = nn.Parameter(gw.ones(3))
    calls = []

    def failing(module: Any, examples: Any) -> Any:
        def run(*args: Any) -> Any:
            module(*args)
            calls.append(1)
            raise RuntimeError("out of memory")

        return run

    def double() -> None:
        w.data.mul_(2)

    gw.compile(double, backend=failing)()
    assert calls == [1]
    assert w.tolist() == [2.0] * 3


def read_twice_and_written(x: Any, w: Any) -> Any:
    first, second = x.data, x.data
    first.add_(1)
    return [first, second, first]


def of_what_the_frame_made(x: Any, w: Any) -> Any:
    y = x + 1
    first, second = y.data, y.data
    first.add_(1)
    return [y, first, second, first]


def view_of_the_alias(x: Any, w: Any) -> Any:
    y = x + 1
    return [y, y.data[0], y.data.t(), nn.Parameter(y.data)]


def one_of_several_views(x: Any, w: Any) -> Any:
    first, second = (x * w).unbind(0)
    second.data.add_(1)
    return [first * 2, second]


def written_after_it_was_saved(x: Any, w: Any) -> Any:
    y = (x + 1).exp()
    z = y * w
    y.data.add_(1)
    return [z, y]


def written_by_a_view_after_it_was_saved(x: Any, w: Any) -> Any:
    y = (x + 1).exp()
    z = y * w
    y[0].data.mul_(2)
    return [z, y]


def written_before_gradients(x: Any, w: Any) -> Any:
    y = (x + 1).exp()
    z = y * w
    y.data.add_(1)
    z.sum().backward()
    return [w.grad, y]


def of_a_view_of_an_argument(x: Any, w: Any) -> Any:
    z = x * w
    x.view(-1).data.mul_(2)
    return [z, x.data]


def seen_by_a_caller(results: list[Any], *arguments: Any) -> Any:
    """Gradients; which are one object; whose versions count a write to which."""
    distinct = list({id(value): value for value in (*results, *arguments)}.values())
    for value in distinct:
        if value.grad_fn is not None:
            value.sum().backward(retain_graph=True)
    objects = [[one is other for one in results] for other in results]
    with gw.no_grad():
        before = [value._version for value in distinct]
        counted = []
        for value in distinct:
            if value is not arguments[0] and value.grad_fn is None:
                value.add_(0)
            counted.append([part._version - n for part, n in zip(distinct, before, strict=True)])
    return objects, counted, [value.tolist() for value in distinct], arguments[1].grad.tolist()


@pytest.mark.parametrize("compiled", [Captured, gw.compile], ids=["captured", "native"])
@pytest.mark.parametrize("program", [
    read_twice_and_written, of_what_the_frame_made, view_of_the_alias, one_of_several_views,
    written_after_it_was_saved, written_by_a_view_after_it_was_saved, written_before_gradients,
    of_a_view_of_an_argument,
])
def test_an_alias_that_leaves_is_one_for_its_caller(program: Any, compiled: Any) -> None:
    function = compiled(program)
    for _ in range(2):
        found = []
        for run in (program, function):
            gw.manual_seed(0)
            x, w = arguments()
            w.grad = gw.zeros_like(w)
            found.append(seen_by_a_caller(run(x, w), x, w))
        assert found[1] == found[0]
