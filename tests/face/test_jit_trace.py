"""`jit.trace`: one call recorded as a graph, and what such a graph refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright import jit, nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Any, shifts: Any = (), scale: float = 2.0) -> Any:
        y = self.norm(self.linear(x)).reshape(x.size(0), -1)
        self.was_traced = jit.is_tracing()
        return {"y": self.drop(y) * scale, "shifted": [y + shift for shift in shifts]}


def test_a_traced_module_shares_weights_and_runs_for_other_sizes() -> None:
    net, shift = Net().eval(), gw.arange(3.0)
    traced = jit.trace(net, (gw.randn(5, 4), [shift]))
    assert net.was_traced and not jit.is_tracing()
    for batch in (5, 7):
        x = gw.randn(batch, 4)
        out, expected = traced(x, [shift]), net(x, [shift])
        assert gw.allclose(out["y"], expected["y"])
        assert gw.allclose(out["shifted"][0], expected["shifted"][0])
    assert list(traced.state_dict()) == list(net.state_dict())
    with gw.no_grad():
        net.linear.weight.zero_()
    assert gw.equal(traced(x, [shift])["y"], net(x, [shift])["y"])
    traced(x, [shift])["y"].sum().backward()
    assert net.linear.weight.grad.shape == (3, 4)
    assert isinstance(traced, jit.ScriptModule) and traced.original_name == "Net"
    assert "linear" in traced.code and [n.name for n in traced.graph.placeholders][-1] == "input_1"


def test_a_trace_in_training_mode_updates_statistics_and_draws_anew() -> None:
    net = Net().train()
    x = gw.randn(8, 4)
    traced = jit.trace(net, x)
    before = net.norm.running_mean.clone()
    assert not gw.equal(traced(x)["y"], traced(x)["y"])
    assert not gw.equal(before, net.norm.running_mean)


def test_a_traced_function() -> None:
    traced = jit.trace(lambda x, y: gw.relu(x @ y) + 1, (gw.ones(2, 3), gw.ones(3, 2)))
    assert isinstance(traced, jit.ScriptFunction)
    assert traced(gw.ones(4, 3), gw.ones(3, 5)).tolist() == [[4.0] * 5] * 4
    assert [node.target.name for node in traced.graph.nodes if node.op == "call_function"] == [
        "mm", "relu", "add"]


def sign_dependent(x: Any) -> Any:
    return x if x.sum() > 0 else -x


@pytest.mark.parametrize(("call", "kind", "text"), [
    (lambda: jit.trace(sign_dependent, gw.ones(2)), RuntimeError,
     r"decides by the values of tensors.*torch\.compile"),
    (lambda: jit.trace(3, gw.ones(2)), TypeError, "a function or a module, not int"),
    (lambda: traced_net()(gw.ones(3, 4), [gw.ones(3)]), RuntimeError, "the structure of its"),
    (lambda: traced_net()(gw.ones(3, 5)), RuntimeError, "holds only for sizes with s1 == 4"),
    (lambda: traced_net()(gw.ones(4)), RuntimeError, "a tensor of the sizes"),
    (lambda: traced_net()(gw.ones(3, 4), (), 3.0), RuntimeError, "the structure of its"),
    (lambda: traced_net().save("x"), NotImplementedError, "torch.save"),
    (lambda: jit.save(traced_net(), "x"), NotImplementedError, "torch.save"),
    (lambda: jit.load("x"), NotImplementedError, "load_state_dict"),
], ids=["values", "no function", "structure", "size", "rank", "more", "save", "jit.save", "load"])
def test_what_a_trace_refuses(
    call: Callable[[], Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        call()


def traced_net() -> Any:
    return jit.trace(Net().eval(), gw.randn(5, 4))


def test_other_numbers_are_refused() -> None:
    traced = jit.trace(lambda x, k: x * k, (gw.ones(2), 3))
    assert traced(gw.ones(4), 3).tolist() == [3.0] * 4
    with pytest.raises(RuntimeError, match=r"\[None, 3\].*not for \[None, 4\]"):
        traced(gw.ones(4), 4)
