"""Hooks of modules: around forward, around backward, around state_dict."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import nn


class Scale(nn.Module):
    """x * weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(gw.tensor(3.0))

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        return x * self.weight


def test_forward_hooks_change_arguments_and_results_in_order() -> None:
    model, seen = Scale(), []
    model.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    model.register_forward_hook(lambda m, args, out: seen.append(out.item()))
    last = model.register_forward_hook(lambda m, args, out: out * 10)
    assert model(gw.tensor(1.0)).item() == 60.0
    assert seen == [6.0]
    last.remove()
    assert model(gw.tensor(1.0)).item() == 6.0


def test_hooks_that_are_always_called_see_a_failed_forward() -> None:
    class Broken(nn.Module):
        def forward(self, x: gw.Tensor) -> gw.Tensor:
            raise ZeroDivisionError

    model, seen = Broken(), []
    model.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    with pytest.raises(ZeroDivisionError):
        model(gw.tensor(1.0))
    assert seen == [None]


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
@pytest.mark.parametrize("answer", [None, (None,), (None, None)])
def test_a_full_backward_hook_may_return_none_for_inputs_without_gradient(answer: Any) -> None:
    model, x = Scale(), gw.tensor(2.0)
    model.register_full_backward_hook(lambda *told: answer)
    model(x).backward()
    assert model.weight.grad.item() == 2.0
    model.register_full_backward_hook(lambda *told: (x,))
    with pytest.raises(RuntimeError, match="should always return None"):
        model(x).backward()


def test_full_backward_hooks_see_and_change_gradients() -> None:
    model, seen = Scale(), []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append((grad_input[0].item(), grad_output[0].item()))
        return (grad_input[0] * 100,)

    model.register_full_backward_hook(hook)
    model.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 2,))
    x = gw.tensor(5.0, requires_grad=True)
    model(x).backward()
    assert seen == [(6.0, 2.0)]
    assert x.grad is not None and x.grad.item() == 600.0
    assert model.weight.grad.item() == 10.0


def test_a_backward_hook_where_no_input_requires_grad() -> None:
    model, seen = Scale(), []
    model.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].item())))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        model(gw.tensor(5.0)).backward()
    assert seen == [((None,), 1.0)]


@pytest.mark.oracle
def test_a_backward_hook_is_not_called_where_the_output_is_no_tensor() -> None:
    class Named(nn.Module):
        def forward(self, x: Any) -> Any:
            return {"twice": x * 2}

    module, seen = Named(), []
    module.register_full_backward_hook(lambda *told: seen.append(told))
    x = gw.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="module output should be a Tensor or a tuple"):
        module(x)["twice"].sum().backward()
    assert not seen and x.grad.tolist() == [2, 2]


def test_backward_hooks_against_torch() -> None:
    torch = pytest.importorskip("torch")

    def run(module: Any, make: Any) -> list[Any]:
        seen: list[Any] = []
        net = module.Sequential(module.Linear(2, 2), module.Tanh())
        for p in net.parameters():
            p.data.fill_(0.5)
        net[0].register_full_backward_hook(
            lambda m, gi, go: seen.append([t.tolist() for t in (*gi, *go)])
        )
        net[1].register_full_backward_pre_hook(lambda m, go: tuple(g * 2 for g in go))
        x = make([[1.0, -1.0]])
        x.requires_grad_()
        net(x).sum().backward()
        return [seen, x.grad.tolist()]

    want = run(torch.nn, torch.tensor)
    got = run(nn, gw.tensor)
    assert str(got) == str(want) or all(
        abs(a - b) < 1e-6 for a, b in zip(_flat(got), _flat(want), strict=True)
    )


def _flat(value: Any) -> list[float]:
    return [x for v in value for x in _flat(v)] if isinstance(value, list) else [value]


def test_state_dict_hooks() -> None:
    model, seen = Scale(), []
    model.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(("pre", prefix)))
    model.register_state_dict_post_hook(
        lambda m, state, prefix, meta: state.update({f"{prefix}more": gw.tensor(7.0)})
    )
    model.register_load_state_dict_pre_hook(
        lambda m, state, prefix, *rest: state.pop(f"{prefix}more", None)
    )
    model.register_load_state_dict_post_hook(lambda m, keys: seen.append(("loaded", keys)))
    state = nn.Sequential(model).state_dict()
    assert list(state) == ["0.weight", "0.more"]
    assert nn.Sequential(model).load_state_dict(state) == ([], [])
    assert seen[0] == ("pre", "0.") and seen[1][0] == "loaded"


def test_extra_state_travels_with_the_tensors() -> None:
    class Counter(nn.Module):
        count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    first, second = Counter(), Counter()
    first.count = 4
    assert second.load_state_dict(first.state_dict()) == ([], [])
    assert second.count == 4
    with pytest.raises(RuntimeError, match=r'Missing key.*"_extra_state"'):
        second.load_state_dict({})


def test_hooks_under_compile() -> None:
    model = Scale()
    compiled = gw.compile(model)
    assert compiled(gw.tensor(2.0)).item() == 6.0
    handle = model.register_forward_hook(lambda m, args, out: out + 1)
    assert compiled(gw.tensor(2.0)).item() == 7.0
    handle.remove()
    assert compiled(gw.tensor(2.0)).item() == 6.0
