"""Module: registration, traversal, state, hooks, conversion, printing."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.last = nn.Linear(4, 2, bias=False)
        self.scale = nn.Parameter(gw.ones(2))
        self.register_buffer("steps", gw.zeros(1), persistent=False)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        return self.last(nn.functional.relu(self.norm(self.first(x)))) * self.scale


NAMES = ["scale", "first.weight", "first.bias", "norm.weight", "norm.bias", "last.weight"]


def test_names_in_order_of_registration() -> None:
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [name for name, _ in net.named_buffers()] == [
        "steps",
        "norm.running_mean",
        "norm.running_var",
        "norm.num_batches_tracked",
    ]
    assert [name for name, _ in net.named_modules()] == ["", "first", "norm", "last"]
    assert [name for name, _ in net.named_children()] == ["first", "norm", "last"]
    assert "steps" not in net.state_dict() and "norm.running_mean" in net.state_dict()


def test_shared_members_are_visited_once_but_saved_under_each_name() -> None:
    layer = nn.Linear(2, 2)
    net = nn.Sequential(layer, layer)
    assert len(list(net.parameters())) == 2
    assert set(net.state_dict()) == {"0.weight", "0.bias", "1.weight", "1.bias"}


def test_assignment_and_deletion() -> None:
    net = Net()
    with pytest.raises(TypeError, match="cannot assign 'Tensor' as parameter 'scale'"):
        net.scale = gw.ones(2)
    net.scale = None
    assert "scale" not in dict(net.named_parameters())
    net.steps = gw.ones(3)
    assert net._buffers["steps"].shape == (3,)
    del net.last
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'last'"):
        net.last  # noqa: B018
    net.first = nn.Parameter(gw.ones(1))
    assert "first" in net._parameters and "first" not in net._modules


def test_a_parameter_before_init_is_refused() -> None:
    class Bad(nn.Module):
        def __init__(self) -> None:
            self.weight = nn.Parameter(gw.ones(1))

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Bad()


@pytest.mark.parametrize(
    ("name", "error"), [("a.b", KeyError), ("", KeyError), ("forward", KeyError)]
)
def test_bad_names(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        nn.Module().register_buffer(name, gw.ones(1))


def test_state_dict_round_trip_and_messages() -> None:
    one, two = Net(), Net()
    assert repr(two.load_state_dict(one.state_dict())) == "<All keys matched successfully>"
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())
    state = one.state_dict()
    state["extra"] = state.pop("scale")
    with pytest.raises(RuntimeError) as error:
        two.load_state_dict(state)
    assert 'Missing key(s) in state_dict: "scale".' in str(error.value)
    assert 'Unexpected key(s) in state_dict: "extra".' in str(error.value)
    keys = two.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["scale"] and keys.unexpected_keys == ["extra"]
    bad = one.state_dict()
    bad["scale"] = gw.ones(5)
    with pytest.raises(RuntimeError, match="size mismatch for scale"):
        two.load_state_dict(bad)


def test_state_dict_takes_its_arguments_by_position_with_a_warning() -> None:
    net = nn.Linear(2, 1, bias=False)
    own: dict[str, gw.Tensor] = {}
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        assert net.state_dict(own, "a.", True) is own
    assert own["a.weight"] is net.weight
    with pytest.warns(FutureWarning):
        assert list(net.state_dict({}, prefix="b.")) == ["b.weight"]


def test_train_eval_apply_requires_grad_zero_grad() -> None:
    net = Net()
    assert not net.eval().norm.training and net.train().norm.training
    seen = []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "BatchNorm1d", "Linear", "Net"]
    net(gw.randn(5, 3)).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    held = net.first.weight.grad
    net.zero_grad(set_to_none=False)
    assert net.first.weight.grad is held and not held.any()
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    assert not any(p.requires_grad for p in net.requires_grad_(False).parameters())


def test_hooks_in_order_change_arguments_and_results() -> None:
    net = nn.Linear(2, 2)
    calls = []
    pre = net.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    post = net.register_forward_hook(lambda m, args, out: calls.append("second"))
    first = net.register_forward_hook(lambda m, a, out: calls.append("first"), prepend=True)
    x = gw.ones(1, 2)
    doubled = net(x).detach().numpy()
    assert calls == ["first", "second"]
    for handle in (pre, post, first):
        handle.remove()
    assert np.allclose(doubled, net(x * 2).detach().numpy()) and calls == ["first", "second"]
    net.register_forward_hook(lambda m, args, kwargs, out: out + 1, with_kwargs=True)
    assert np.allclose(net(x).detach().numpy() - 1, net.forward(x).detach().numpy())


def test_conversion_keeps_what_does_not_change() -> None:
    net = Net()
    weight = net.first.weight
    assert net.float().first.weight is weight
    net.double()
    assert net.first.weight.dtype is gw.float64 and isinstance(net.first.weight, nn.Parameter)
    assert net.norm.num_batches_tracked.dtype is gw.int64
    with pytest.raises(TypeError, match="only accepts floating point"):
        net.to(gw.int32)


def test_deepcopy_is_independent() -> None:
    net = Net()
    twin = copy.deepcopy(net)
    with gw.no_grad():
        twin.scale.mul_(3)
    assert net.scale.detach().tolist() == [1, 1] and twin.scale.detach().tolist() == [3, 3]
    assert isinstance(twin.scale, nn.Parameter) and twin.scale.requires_grad


def test_printing() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Conv2d(1, 2, 3, padding=1, bias=False))
    assert repr(net) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=True)\n"
        "  (1): ReLU()\n"
        "  (2): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)\n"
        ")"
    )
    assert repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])) == (
        "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)"
    )
    assert repr(nn.Module()) == "Module()"
    assert repr(nn.SiLU(inplace=True)) == "SiLU(inplace=True)"
    assert repr(nn.Hardswish(inplace=True)) == "Hardswish()"


def test_sequential_and_lists() -> None:
    net = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    assert isinstance(net[-1], nn.Sigmoid) and len(net[:2]) == 2
    assert isinstance(net[:2], nn.Sequential) and list(net[1:]._modules) == ["1", "2"]
    net.insert(0, nn.Identity())
    assert [type(m).__name__ for m in net] == ["Identity", "ReLU", "Tanh", "Sigmoid"]
    del net[0]
    assert list(net._modules) == ["0", "1", "2"]
    named = nn.Sequential({"a": nn.ReLU()})
    assert isinstance(named.a, nn.ReLU)
    layers = nn.ModuleList([nn.ReLU()]).extend([nn.Tanh()])
    assert len(layers) == 2
    table = nn.ModuleDict({"x": nn.Linear(1, 1)})
    assert "x" in table and [n for n, _ in table.named_parameters()] == ["x.weight", "x.bias"]
    params = nn.ParameterList([gw.ones(1), gw.ones(2)])
    assert [n for n, _ in params.named_parameters()] == ["0", "1"] and len(params) == 2
    by_name = nn.ParameterDict({"k": gw.ones(1)})
    assert isinstance(by_name["k"], nn.Parameter)


def test_get_submodule_and_friends() -> None:
    net = Net()
    assert net.get_submodule("norm") is net.norm
    assert net.get_parameter("first.bias") is net.first.bias
    assert net.get_buffer("norm.running_var") is net.norm.running_var
    with pytest.raises(AttributeError):
        net.get_parameter("first.nothing")


def test_forward_must_be_defined() -> None:
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        nn.Module()()


def test_init_ranges() -> None:
    gw.manual_seed(0)
    weight = nn.init.kaiming_uniform_(gw.empty(64, 128), a=5**0.5)
    assert abs(float(weight.numpy().max()) - 128**-0.5) < 1e-3
    weight = nn.init.xavier_normal_(gw.empty(200, 300)).numpy()
    assert abs(weight.std() - (2 / 500) ** 0.5) < 2e-3 and abs(weight.mean()) < 2e-3
    assert nn.init.eye_(gw.empty(2, 2)).tolist() == [[1, 0], [0, 1]]
    weight = nn.init.trunc_normal_(gw.empty(1000), std=2.0, a=-1, b=1).numpy()
    assert weight.min() >= -1 and weight.max() <= 1
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_uniform_(gw.empty(3))
