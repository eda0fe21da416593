"""What gradients mean: the same programs here and in PyTorch, with the same results and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

pytestmark = pytest.mark.oracle
Program = Callable[[Any], Any]


def _leaf(lib: Any, *values: float) -> Any:
    return lib.tensor(list(values), dtype=lib.float64, requires_grad=True)


def second_backward(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    y.backward()


def second_backward_nothing_saved(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    return x.grad


def second_backward_through_a_number(lib: Any) -> Any:
    y = (_leaf(lib, 1.0, 2.0) * 2).sum()
    y.backward()
    y.backward()


def second_backward_through_a_quotient(lib: Any) -> Any:
    y = (_leaf(lib, 1.0, 2.0) / 2).sum()
    y.backward()
    y.backward()


def second_backward_through_views(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0, 3.0, 4.0)
    y = -lib.cat([x.view(2, 2).t(), x.view(2, 2)]).mean()
    y.backward()
    y.backward()
    return x.grad


def gradient_of_another_size(lib: Any) -> Any:
    _leaf(lib, 1.0).grad = lib.ones(3, dtype=lib.float64)


def gradient_of_another_dtype(lib: Any) -> Any:
    _leaf(lib, 1.0).grad = lib.ones(1)


def gradient_of_another_kind(lib: Any) -> Any:
    _leaf(lib, 1.0).grad = 3


def retains_grad(lib: Any) -> Any:
    x = _leaf(lib, 1.0)
    y = x * 2
    y.retain_grad()
    return x.retains_grad, y.retains_grad


def non_scalar(lib: Any) -> Any:
    (_leaf(lib, 1.0, 2.0) * 2).backward()


def no_grad_output(lib: Any) -> Any:
    with lib.no_grad():
        y = _leaf(lib, 1.0) * 2
    y.sum().backward()


def saved_input_modified(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0)
    y = x * 2
    z = (y * y).sum()
    y.add_(1)
    z.backward()


def saved_output_modified(lib: Any) -> Any:
    y = _leaf(lib, 1.0, 2.0).exp()
    z = y * 2
    y.add_(1)
    z.sum().backward()


def leaf_in_place(lib: Any) -> Any:
    _leaf(lib, 1.0).add_(1)


def leaf_in_place_no_grad(lib: Any) -> Any:
    x = _leaf(lib, 1.0)
    with lib.no_grad():
        x.add_(1)
    return x


def wrong_gradient_shape(lib: Any) -> Any:
    (_leaf(lib, 1.0, 2.0) * 2).backward(lib.ones(3))


def unused_input(lib: Any) -> Any:
    x, y = _leaf(lib, 1.0), _leaf(lib, 2.0)
    lib.autograd.grad((x * 2).sum(), (x, y))


def unused_allowed(lib: Any) -> Any:
    x, y = _leaf(lib, 1.0), _leaf(lib, 2.0)
    return lib.autograd.grad((x * 2).sum(), (x, y), allow_unused=True)


def unused_materialized(lib: Any) -> Any:
    x, y = _leaf(lib, 1.0), _leaf(lib, 2.0)
    return lib.autograd.grad((x * 2).sum(), (x, y), materialize_grads=True)


def materialize_conflict(lib: Any) -> Any:
    x = _leaf(lib, 1.0)
    lib.autograd.grad((x * 2).sum(), x, allow_unused=False, materialize_grads=True)


def input_without_grad(lib: Any) -> Any:
    x = _leaf(lib, 1.0)
    lib.autograd.grad((x * 2).sum(), lib.ones(1))


def empty_inputs(lib: Any) -> Any:
    (_leaf(lib, 1.0) * 2).sum().backward(inputs=[])


def grads_batched(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0, 3.0)
    v = lib.tensor(np.eye(3))
    return lib.autograd.grad(x**2, x, v, is_grads_batched=True)


def grad_outputs_sequence(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0)
    ones = lib.ones(2, dtype=lib.float64)
    return lib.autograd.grad([x * 2, x * x], [x], [ones, ones * 3])


def gradients_of_wrong_type(lib: Any) -> Any:
    lib.autograd.grad(_leaf(lib, 1.0) * 2, [], 3)


def hook_changes_size(lib: Any) -> Any:
    y = _leaf(lib, 1.0, 2.0) * 2
    y.register_hook(lambda g: g[:1])
    y.sum().backward()


def hook_order(lib: Any) -> Any:
    seen: list[Any] = []
    x = _leaf(lib, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append("tensor") or g * 2)
    y.grad_fn.register_prehook(lambda gs: seen.append("pre") or (gs[0] + 1,))
    y.grad_fn.register_hook(lambda gi, go: seen.append("post"))
    x.register_hook(lambda g: seen.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
    (y * 3).sum().backward()
    return y.grad, x.grad, seen


def order_of_leaves(lib: Any) -> Any:
    """Each as soon as it is complete: before what is further down."""
    seen: list[Any] = []
    a, b, c = (_leaf(lib, 1.0, 2.0) for _ in range(3))
    a.register_hook(lambda g: seen.append("a"))
    b.register_post_accumulate_grad_hook(lambda t: seen.append("b") or setattr(t, "grad", None))
    x = a * 2
    y = b * x
    z = (y + a) * b.exp() * c
    for name, tensor in (("x", x), ("y", y), ("z", z)):
        tensor.register_hook(lambda g, name=name: seen.append((name, b.grad, c.grad)))
    z.sum().backward()
    return seen, a.grad, b.grad, c.grad


def order_of_accumulators(lib: Any) -> Any:
    seen: list[Any] = []
    a, b = _leaf(lib, 1.0), _leaf(lib, 2.0)
    node = (a * b).grad_fn.next_functions[1][0]
    node.register_hook(lambda gi, go: seen.append(("b", go)))
    x = a * 2
    x.register_hook(lambda g: seen.append("x"))
    (b * x).sum().backward()
    found = lib.autograd.grad((b * (a * 2)).sum(), [a, b])
    return seen, a.grad, b.grad, found


def hook_on_no_grad(lib: Any) -> Any:
    lib.ones(1).register_hook(lambda g: g)


def post_hook_on_non_leaf(lib: Any) -> Any:
    (_leaf(lib, 1.0) * 2).register_post_accumulate_grad_hook(lambda t: None)


def retain_grad_twice(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0)
    y = x * x
    y.retain_grad()
    y.retain_grad()
    (y * 2).sum().backward(retain_graph=True)
    (y * 2).sum().backward()
    return y.grad, x.grad


def non_leaf_grad(lib: Any) -> Any:
    y = _leaf(lib, 1.0) * 2
    y.sum().backward()
    return y.is_leaf, y.requires_grad


def backward_into_inputs(lib: Any) -> Any:
    x, z = _leaf(lib, 1.0, 2.0), _leaf(lib, 3.0, 4.0)
    y = x * z
    (y * y).sum().backward(inputs=[x, y])
    return x.grad, y.grad, z.grad


def accumulate_with_graph(lib: Any) -> Any:
    x = _leaf(lib, 2.0)
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    x.grad = None
    first.sum().backward()
    return first.detach(), x.grad


def test_gradients_with_a_graph_may_leak() -> None:
    x = gw.tensor([2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="reference cycle"):
        (x * x).backward(create_graph=True)
    x.grad = None


def detached(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0)
    (x.detach() * x).sum().backward()
    return x.grad, x.detach().requires_grad


def requires_grad_of_integers(lib: Any) -> Any:
    lib.tensor([1], requires_grad=True)


def turn_off_on_non_leaf(lib: Any) -> Any:
    (_leaf(lib, 1.0) * 2).requires_grad = False


def names(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0)
    y = (x * x).exp().sum()
    found, node = [], y.grad_fn
    while node is not None:
        found.append(node.name().rpartition("::")[2].rstrip("0123456789"))
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def metadata(lib: Any) -> Any:
    node = (_leaf(lib, 1.0) * 2).grad_fn
    node.metadata["mine"] = 3
    return node.metadata["mine"]


def inference_saved(lib: Any) -> Any:
    with lib.inference_mode():
        y = _leaf(lib, 1.0) * 2
    return y.requires_grad


def grad_is_none_before(lib: Any) -> Any:
    x = _leaf(lib, 1.0)
    return x.grad is None, x.grad_fn is None


def broadcast_gradients(lib: Any) -> Any:
    x, y = _leaf(lib, 1.0, 2.0), _leaf(lib, 3.0)
    (x * y + y.reshape(1, 1)).sum().backward()
    return x.grad, y.grad


def gradient_edges(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0)
    y = x * x
    edge = lib.autograd.graph.get_gradient_edge(y)
    leaf = lib.autograd.graph.get_gradient_edge(x)
    z = (y * 3).sum()
    del y
    return lib.autograd.grad(z, (edge, leaf))


def multi_grad(lib: Any) -> Any:
    x, y = _leaf(lib, 1.0), _leaf(lib, 2.0)
    seen: list[Any] = []
    lib.autograd.graph.register_multi_grad_hook((x, y), lambda gs: seen.append(len(gs)))
    lib.autograd.graph.register_multi_grad_hook(
        (x, y), lambda g: seen.append("one"), mode="any"
    )
    (x * y).sum().backward()
    return sorted(map(str, seen))


def accumulator_hooks(lib: Any) -> Any:
    x = _leaf(lib, 1.0, 2.0)
    node = (x * 2).grad_fn.next_functions[0][0]
    seen: list[Any] = []
    node.register_prehook(lambda gs: (gs[0] * 10,))
    node.register_hook(lambda gi, go: seen.append(node.variable is x))
    (x * 3).sum().backward()
    return x.grad, seen, node.name().rpartition("::")[2]


def frozen_after_use(lib: Any) -> Any:
    """Passes to a leaf that does not require gradients any more, or does again."""
    x, y = _leaf(lib, 1.0, 2.0), _leaf(lib, 3.0, 4.0)
    seen: list[Any] = []
    x.register_hook(lambda grad: seen.append(grad.sum()))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.requires_grad))
    total = (x * x * y).sum()
    for on in (False, True, False):
        x.requires_grad_(on)
        total.backward(retain_graph=True)
        seen.append(None if x.grad is None else x.grad.clone())
    (slope,) = lib.autograd.grad(total, y, create_graph=True)
    slope.sum().backward()
    return seen, x.grad, y.grad, slope.requires_grad


PROGRAMS = [value for value in list(globals().values())
            if callable(value) and getattr(value, "__module__", "") == __name__
            and not value.__name__.startswith("_")]  # fmt: skip


OTHER_WORDS = {leaf_in_place, requires_grad_of_integers}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    return value.detach().numpy().tolist() if hasattr(value, "detach") else value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_same_as_pytorch(program: Program) -> None:
    torch = pytest.importorskip("torch")
    try:
        expected = _plain(program(torch))
    except Exception as error:
        with pytest.raises(type(error)) as raised:
            program(gw)
        if program not in OTHER_WORDS:
            assert _start(str(raised.value)) == _start(str(error))
        return
    assert _plain(program(gw)) == expected


def _start(message: str) -> str:
    """The first words, without what names dtypes."""
    return " ".join(message.replace("torch.", "").replace("[", " ").split()[:5])
