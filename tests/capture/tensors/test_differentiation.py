"""`autograd.grad` and `backward` inside of the captured frame."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.capture.frame.record import RUNS_EAGERLY
from graphwright.face.api import lookup

from ..captured import Captured

Program = Callable[..., Any]
MODEL = nn.Linear(3, 2)


def gradient(x: Any, w: Any) -> Any:
    (found,) = gw.autograd.grad((x * w).sin().sum(), x)
    return found * 2


def two_gradients(x: Any, w: Any) -> Any:
    y = x * w
    return gw.autograd.grad(y, (x, w), grad_outputs=gw.ones_like(y))


def unused(x: Any, w: Any) -> Any:
    return gw.autograd.grad((x * 2).sum(), (x, w), allow_unused=True)


def by_a_view_of_a_dict(x: Any, w: Any) -> Any:
    parts = {"x": x * 1, "w": w * 2}
    return gw.autograd.grad((parts["x"] * parts["w"]).sum(), parts.values())


def by_a_generator(x: Any, w: Any) -> Any:
    return gw.autograd.grad((MODEL(x) * 2).sum(), MODEL.parameters())


def retained(x: Any, w: Any) -> Any:
    y = (x * x * w).sum()
    (first,) = gw.autograd.grad(y, x, retain_graph=True)
    (second,) = gw.autograd.grad(y, w)
    return first, second


def gradient_of_gradient(x: Any, w: Any) -> Any:
    (first,) = gw.autograd.grad((x**3 * w).sum(), x, create_graph=True)
    (second,) = gw.autograd.grad(first.sum(), x)
    return first.detach(), second


def penalty(x: Any, w: Any) -> Any:
    """A leaf of the frame's own; the result can be differentiated by `w`."""
    x = x.detach().requires_grad_()
    (found,) = gw.autograd.grad((x * w).sin().sum(), x, create_graph=True)
    return (found.norm(dim=1) - 1).pow(2).mean()


def own_leaves(x: Any, w: Any) -> Any:
    scale = gw.ones(3, requires_grad=True)
    shift = gw.zeros(3, requires_grad=True)
    (x.detach() * scale + shift).sin().sum().backward()
    return scale.grad, shift.grad, scale.is_leaf, shift.requires_grad


def accumulated(x: Any, w: Any) -> Any:
    x.grad = None
    (x * x).sum().backward()
    (x * w).sum().backward()
    return x.grad + 1


def shared_gradient(x: Any, w: Any) -> Any:
    """Both gradients have the same values, and must not have the same memory."""
    x.grad = w.grad = None
    (x + w.expand(2, 3)).sum().backward()
    x.grad.mul_(2)
    return x.grad + 0, w.grad + 0


def step_by_hand(x: Any, w: Any) -> Any:
    x.grad = None
    (x * x).mean().backward()
    with gw.no_grad():
        x -= 0.1 * x.grad
    return x.grad


def written_through_views(x: Any, w: Any) -> Any:
    """Where a view is written, the history of what it shows becomes another."""
    y = x * w
    turned = y.t()
    turned[1:].mul_(w[:2].unsqueeze(1))
    y[0, 2] = 0
    turned[0, 1] *= 3
    return gw.autograd.grad((y * y).sum() + turned.sum(), (x, w))


def training(x: Any, w: Any) -> Any:
    for parameter in MODEL.parameters():
        parameter.grad = None
    loss = MODEL(x).pow(2).mean()
    loss.backward()
    return loss, [parameter.grad for parameter in MODEL.parameters()]


WHOLE: list[Program] = [
    gradient, two_gradients, unused, by_a_view_of_a_dict, by_a_generator, retained,
    gradient_of_gradient, penalty, own_leaves, accumulated, shared_gradient, step_by_hand,
    written_through_views, training,
]  # fmt: skip


def operands() -> tuple[Any, Any]:
    x = gw.tensor([[0.3, -0.2, 0.9], [-1.0, 0.5, 0.1]], requires_grad=True)
    w = gw.tensor([0.7, -0.4, 0.2], requires_grad=True)
    return x, w


def facts(function: Program) -> list[Any]:
    """Results, the state of the arguments, and what a pass from the first result gives."""
    x, w = operands()
    result = function(x, w)
    found = list(result) if isinstance(result, tuple) else [result]
    found += [x.detach().clone(), x.grad, w.grad]
    first = found[0]
    if isinstance(first, gw.Tensor) and first.requires_grad:
        try:
            first.sum().backward()
        except RuntimeError as error:
            found.append(str(error))
        found += [x.grad, w.grad]
    return found


def agree(ours: Any, expected: Any) -> bool:
    if isinstance(expected, gw.Tensor):
        return bool(gw.allclose(ours, expected)) and ours.requires_grad == expected.requires_grad
    if isinstance(expected, (list, tuple)):
        return len(ours) == len(expected) and all(map(agree, ours, expected))
    return bool(ours == expected)


@pytest.mark.parametrize("program", WHOLE, ids=lambda program: program.__name__)
def test_one_graph_holds_the_gradients(program: Program) -> None:
    captured = Captured(program, fullgraph=True)
    for _ in range(3):
        assert agree(facts(captured), facts(program))
    assert captured.graphs == len(captured.record.recompiles) + 1


@pytest.mark.parametrize("program", WHOLE, ids=lambda program: program.__name__)
def test_the_gradients_are_compiled(program: Program) -> None:
    eager: list[Any] = []

    def native(module: Any, examples: Any) -> Any:
        run = lookup("llvm")(module, examples)
        eager.extend(module.meta.get(RUNS_EAGERLY, ()))
        return run

    compiled: Any = gw.compile(program, fullgraph=True, backend=native)
    for _ in range(3):
        assert agree(facts(compiled), facts(program))
    assert not eager


def test_a_step_is_compiled_once_with_and_once_without_old_gradients() -> None:
    captured = Captured(training, fullgraph=True)
    for _ in range(5):
        captured(*operands())
    assert captured.graphs <= 2


def test_a_second_pass_is_refused_after_the_frame() -> None:
    captured = Captured(training, fullgraph=True)
    loss, _ = captured(*operands())
    assert not loss.is_leaf
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def result_first(x: Any) -> Any:
    leaf = (x.detach() + 1).requires_grad_()
    made = leaf.tanh()
    made.sum().backward()
    return made, leaf


def leaf_first(x: Any) -> Any:
    leaf = nn.Parameter(x.detach() + 1)
    made = leaf.tanh()
    made.sum().backward()
    return [leaf], made, leaf


def two_leaves(x: Any) -> Any:
    leaf, other = nn.Parameter(x.detach() + 1), nn.Parameter(x.detach())
    made = (leaf * other).tanh()
    made.sum().backward()
    return leaf, made, other


@pytest.mark.parametrize("program", [result_first, leaf_first, two_leaves])
def test_what_a_pass_has_freed_leads_to_leaves_of_the_frame(program: Program) -> None:
    """Another pass to them, behind the frame, is the second; to others it finds nothing."""
    captured = Captured(program)
    for run in (program, captured):
        for _ in range(2):
            *_, made, leaf = run(gw.arange(3.0))
            for aim in (leaf, gw.ones(3, requires_grad=True)):
                message = "second time" if aim is leaf else "not have been used"
                with pytest.raises(RuntimeError, match=message):
                    gw.autograd.grad(made.sum(), aim)
    assert captured.graphs == 1


def test_a_second_pass_to_a_leaf_of_the_frame_fails_as_that() -> None:
    def program(x: Any) -> Any:
        leaf = nn.Parameter(x.detach() + 1)
        made = leaf.tanh()
        made.sum().backward()
        return gw.autograd.grad(made.sum(), leaf)

    for run in (program, Captured(program)):
        with pytest.raises(RuntimeError, match="second time"):
            run(gw.arange(3.0))


def test_freed_memory_behind_a_leaf_that_needs_no_gradient_any_more() -> None:
    def program(x: Any) -> Any:
        leaf = nn.Parameter(x.detach() + 1)
        made = leaf.tanh().sum()
        made.backward()
        leaf.requires_grad_(False)
        return x * made

    for run in (program, Captured(program)):
        with pytest.raises(RuntimeError, match="second time"):
            run(gw.ones(3, requires_grad=True)).sum().backward()


def test_a_history_from_outside_ends_the_graph() -> None:
    def program(hidden: Any) -> Any:
        y = hidden * 2
        y.sin().sum().backward()
        return y.detach() + 1

    captured = Captured(program)
    x, _ = operands()
    hidden = x * 3
    captured(hidden)
    (expected,) = gw.autograd.grad((x * 6).sin().sum(), x)
    assert gw.allclose(x.grad, expected)
    assert captured.breaks == ["GB0004"]


def test_a_hook_that_comes_later_is_called() -> None:
    def program(x: Any) -> Any:
        x.grad = None
        (x * x).sum().backward()
        return x.grad * 1

    captured = Captured(program)
    x, _ = operands()
    captured(x)
    x.register_hook(lambda grad: grad * 10)
    assert gw.equal(captured(x), x.detach() * 20)


def test_a_leaf_that_becomes_a_result_hands_its_gradient_on() -> None:
    def program(x: Any) -> Any:
        x.grad = None
        (x * x).sum().backward()
        return x.detach() + 1

    captured = Captured(program)
    x, w = operands()
    captured(x)
    captured(w * 2)
    assert gw.allclose(w.grad, w.detach() * 8)


def test_a_leaf_of_the_frame_that_leaves_it_is_made_natively() -> None:
    def program(x: Any) -> Any:
        leaf = (x.detach() + 1).requires_grad_()
        (leaf * leaf).sum().backward()
        return leaf

    captured = Captured(program)
    leaf = captured(gw.ones(3))
    assert leaf.is_leaf
    assert gw.equal(leaf.grad, gw.full((3,), 4.0))


def test_views_that_may_not_be_differentiated_leave_the_frame() -> None:
    def train(x: Any) -> Any:
        w = x.detach().clone().requires_grad_()
        (w * w).sum().backward()
        y = w * 2
        with gw.no_grad():
            view = y.T
        y.mul_(2)
        return w.grad, [view], y.detach()

    captured = Captured(train)
    gradient, (view,), value = captured(gw.ones(2, 2))
    assert gradient.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert value.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        _ = view.grad_fn


def test_gradients_that_backward_leaves_are_laid_out_as_their_leaves() -> None:
    def train(x: Any) -> Any:
        w = x.detach().clone().requires_grad_()
        (w * 2 + 1).tanh().mean().backward()
        return w.grad

    captured = Captured(train)
    for x in (gw.ones(3, 4), gw.ones(4, 3).T, gw.ones(5, 2).T, gw.ones(2, 3, 4).transpose(0, 2)):
        assert captured(x).stride() == train(x).stride()
    assert captured.breaks == []


def values_without_gradients(x: Any) -> Any:
    return gw.linalg.svdvals(x.detach()), gw.linalg.lstsq(x, x, driver="gelsd"), x.sort()


def test_what_eager_steps_give_requires_gradients_as_in_eager_calls() -> None:
    x = gw.rand(5, 3, requires_grad=True)
    flags = [
        [tensor.requires_grad for result in function(x)
         for tensor in (result if isinstance(result, tuple) else [result])]
        for function in (values_without_gradients, gw.compile(values_without_gradients))
    ]
    assert flags[0] == flags[1]


def test_a_gradient_that_is_refused_is_refused_by_backward() -> None:
    made = gw.compile(lambda x: gw.linalg.qr(x * 2, "r")[1])(gw.rand(5, 3, requires_grad=True))
    with pytest.raises(RuntimeError, match="mode='r' is not defined"):
        made.sum().backward()


@pytest.mark.parametrize("create_graph", [False, True])
def test_inputs_that_the_differentiated_result_does_not_depend_on(create_graph: bool) -> None:
    def f(x: gw.Tensor, y: gw.Tensor, z: gw.Tensor) -> tuple[gw.Tensor, ...]:
        return (x * y).sum(), (y * 3).exp().sum(), z.sin().sum()

    grads = []
    for function in (f, gw.compile(f)):
        args = [gw.full((2,), value, requires_grad=True) for value in (0.5, 0.25, 2.0)]
        for result in function(*args)[1:]:
            result.backward(create_graph=create_graph, retain_graph=True)
            grads.append([None if arg.grad is None else arg.grad.sum().item() for arg in args])
    exp, cos = 6 * math.exp(0.75), 2 * math.cos(2.0)
    assert grads == [[None, pytest.approx(exp), None],
                     [None, pytest.approx(exp), pytest.approx(cos)]] * 2


def test_what_was_made_of_an_argument_before_a_write_has_none_of_the_writes_history() -> None:
    def f(x: gw.Tensor, y: gw.Tensor) -> tuple[gw.Tensor, ...]:
        before, factor = y + 1, x * 2
        y[1].add_(factor[0])
        return before, factor, y * before

    found = []
    for function in (f, gw.compile(f), gw.compile(f, backend="eager")):
        x, y = gw.ones(2, 3, requires_grad=True), gw.ones(2, 3)
        before, factor, product = function(x, y)
        (factor.sum() + product.sum()).backward()
        found.append((before.requires_grad, y.requires_grad, x.grad.tolist()))
    assert found[0] == (False, True, [[6.0, 6.0, 6.0], [2.0, 2.0, 2.0]])
    assert found[1:] == found[:1] * 2


def test_what_a_mask_writes_has_its_gradient() -> None:
    mask = gw.tensor([True, False, True])
    grads = []
    for function in (gw.index_put, gw.compile(gw.index_put)):
        x, y = gw.rand(3, requires_grad=True), gw.rand(2, requires_grad=True)
        function(x, (mask,), y * 3).sum().backward()
        grads.append((x.grad.tolist(), y.grad.tolist()))
    assert grads[0] == grads[1] == ([0.0, 1.0, 0.0], [3.0, 3.0])


def test_gradients_of_gradients_are_those_of_the_ops_not_of_their_parts() -> None:
    """The gradient of a pseudoinverse holds for singular matrices, that of an SVD does not."""
    a = gw.rand(4, 2, dtype=gw.float64)
    found = []
    for function in (gw.linalg.pinv, gw.compile(gw.linalg.pinv)):
        x = (a @ a.mT).requires_grad_()
        (grad,) = gw.autograd.grad(function(x).sin().sum(), x, create_graph=True)
        found.append(gw.autograd.grad(grad.sin().sum(), x)[0])
    assert gw.allclose(found[0], found[1])


def halved_before(x: Any, w: Any) -> Any:
    x.mul_(0.5)
    return (x * w).sin().sum()


def copied_before(x: Any, w: Any) -> Any:
    half = x * 0.5
    x.copy_(half)
    return (half * w).sin().sum()


def differentiated_weights_halved(x: Any, w: Any) -> Any:
    before = (w * 2).sin().sum()
    with gw.no_grad():
        w.mul_(0.5)
    return before + (x * w).sin().sum()


@pytest.mark.parametrize(
    "program", [halved_before, copied_before, differentiated_weights_halved])
def test_gradients_of_gradients_begin_with_what_the_graph_has_overwritten(program: Any) -> None:
    found = []
    for function in (program, gw.compile(program, backend="llvm", fullgraph=True)):
        x, w = gw.tensor([1.0, 2.0]), gw.tensor([0.5, 0.25], requires_grad=True)
        (grad,) = gw.autograd.grad(function(x, w), w, create_graph=True)
        (second,) = gw.autograd.grad(grad.sum(), w)
        found.append((grad.detach(), second))
    gw.testing.assert_close(found[1], found[0])


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(("of", "target"), [
    (gw.float32, gw.float64), (gw.float64, gw.float32), (gw.float16, gw.float32),
])
def test_a_squared_error_of_two_dtypes(of: gw.dtype, target: gw.dtype, reduction: str) -> None:
    """The gradient comes in the wider dtype, which is that of the loss."""

    def loss(x: gw.Tensor, y: gw.Tensor) -> gw.Tensor:
        return gw.nn.functional.mse_loss(x.exp(), y, reduction=reduction)

    y, grads = gw.arange(7).to(target), []
    for function in (loss, gw.compile(loss, fullgraph=True)):
        x = (gw.arange(7.0) / 8).to(of).requires_grad_()
        result = function(x, y)
        assert result.dtype is gw.promote_types(of, target)
        grads += gw.autograd.grad(result.sum(), x)
    assert grads[0].dtype is grads[1].dtype is of
    assert gw.allclose(grads[0], grads[1], rtol=1e-3)


def third_time(x: Any, w: Any) -> Any:
    slope = gw.autograd.grad((x * w.exp()).sum(), w, create_graph=True)[0]
    first = gw.autograd.grad(slope.sum(), w)[0]
    return first, gw.autograd.grad(slope.sum(), w)[0]


def behind_a_break(x: Any, w: Any) -> Any:
    y = (x * w.exp()).sum()
    first = gw.autograd.grad(y, w)[0]
    print(end="")
    return first, gw.autograd.grad(y, w)[0]


def of_what_has_no_part_in_it(x: Any, w: Any) -> Any:
    y = (x * x.exp()).sum()
    first = gw.autograd.grad(y, x)[0]
    print(end="")
    return first, gw.autograd.grad(y, [x, w], allow_unused=True)


@pytest.mark.parametrize("compiled", [Captured, gw.compile], ids=["captured", "native"])
@pytest.mark.parametrize("program", [third_time, behind_a_break, of_what_has_no_part_in_it])
def test_gradients_of_what_was_released_are_refused_as_in_plain_python(
    program: Program, compiled: Any
) -> None:
    for function in (program, compiled(program)):
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second"):
            function(*operands())
