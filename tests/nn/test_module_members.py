"""Members of modules: buffers as objects, replacing, converting, hooks of all modules, names."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn


def test_a_buffer_registers_itself() -> None:
    module = nn.Module()
    module.kept = nn.Buffer(gw.ones(2))
    module.dropped = nn.Buffer(gw.ones(1), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["kept", "dropped"]
    assert list(module.state_dict()) == ["kept"]
    assert isinstance(module.kept, nn.Buffer) and not isinstance(gw.ones(1), nn.Buffer)
    assert not list(module.parameters()) and nn.Buffer().shape == (0,)


def test_a_submodule_is_replaced_by_its_name() -> None:
    model = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU()))
    model.set_submodule("1.0", nn.Tanh())
    assert isinstance(model[1][0], nn.Tanh)
    model.set_submodule("1.late", nn.ReLU())
    assert isinstance(model[1].late, nn.ReLU)
    with pytest.raises(AttributeError, match="no attribute"):
        model.set_submodule("1.missing", nn.ReLU(), strict=True)
    with pytest.raises(ValueError, match="target name"):
        model.set_submodule("", nn.ReLU())
    with pytest.raises(AttributeError, match=r"not an nn\.Module"):
        model.set_submodule("0.weight", nn.ReLU())


def test_parameters_keep_their_identity_when_their_type_changes() -> None:
    model = nn.Linear(2, 1)
    optimizer = gw.optim.SGD(model.parameters(), lr=1.0)
    weight = model.weight
    model(gw.ones(1, 2)).sum().backward()
    model.double()
    assert model.weight is weight and weight.dtype is gw.float64
    assert weight.grad.dtype is gw.float64 and weight.is_leaf
    before = weight.detach().clone()
    optimizer.step()
    assert gw.equal(model.weight, before - 1)


def test_members_without_values() -> None:
    model = nn.Linear(2, 1).to("meta")
    assert model.weight.is_meta and isinstance(model.weight, nn.Parameter)
    assert nn.Linear(2, 1).to_empty(device="meta").bias.is_meta
    assert not model.to_empty(device="cpu").weight.is_meta


def test_state_goes_into_a_model_of_the_meta_device_by_assignment_only() -> None:
    model, known = nn.Linear(2, 1, device="meta"), nn.Linear(2, 1)
    with pytest.warns(UserWarning, match="which is a no-op"):
        model.load_state_dict(known.state_dict())
    assert model.weight.is_meta
    with pytest.raises(RuntimeError, match="Cannot copy out of meta tensor"):
        nn.Linear(2, 1).load_state_dict(model.state_dict())
    frozen = copy.deepcopy(model).requires_grad_(False)
    frozen.load_state_dict(dict(known.named_parameters()), assign=True)
    assert frozen.weight is known.weight and not known.weight.requires_grad
    model.load_state_dict(known.state_dict(), assign=True)
    assert model.weight.requires_grad and gw.equal(model.weight, known.weight)


def test_batches_that_older_states_did_not_count() -> None:
    norm = nn.BatchNorm1d(2)
    state = norm.state_dict()
    assert state._metadata[""]["version"] == 2
    old = {name: value for name, value in state.items() if name != "num_batches_tracked"}
    assert not norm.load_state_dict(old).missing_keys


def test_hooks_of_all_modules() -> None:
    hooks = import_module("graphwright.nn.modules.module")
    seen: list[Any] = []
    handles = [
        hooks.register_module_forward_pre_hook(lambda m, args: (args[0] * 2,)),
        hooks.register_module_forward_hook(lambda m, args, out: seen.append(type(m).__name__)),
        hooks.register_module_full_backward_hook(lambda m, gi, go: seen.append(gi[0].tolist())),
    ]
    x = gw.ones(1, requires_grad=True)
    out = nn.Sequential(nn.ReLU())(x)
    out.sum().backward()
    assert out.item() == 4.0 and x.grad.item() == 4.0
    assert seen == ["ReLU", "Sequential", [1.0], [2.0]]
    for handle in handles:
        handle.remove()
    assert nn.ReLU()(x).item() == 1.0 and len(seen) == 4


def every_call_told(seen: list[Any]) -> Any:
    """A hook on all modules' calls, which comes before a module's own."""
    return import_module("graphwright.nn.modules.module").register_module_forward_hook(
        lambda m, args, kwargs, out: seen.append((type(m).__name__, args[0].item(), kwargs)),
        with_kwargs=True,
    )


@pytest.mark.parametrize("compiled", [False, True])
def test_hooks_of_all_modules_come_first_whenever_they_are_added(compiled: bool) -> None:
    model, seen = nn.Sequential(nn.ReLU()), []
    model.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    model.register_forward_hook(lambda m, args, out: seen.append("own"))
    call = gw.compile(model) if compiled else model
    x = gw.ones(1)
    call(x)
    with every_call_told(seen):
        call(x)
    call(x)
    called = [("ReLU", 2.0, {}), ("Sequential", 2.0, {})]
    assert seen == ["own", *called, "own", "own"]


def test_a_hook_of_all_modules_that_is_always_called() -> None:
    register = import_module("graphwright.nn.modules.module").register_module_forward_hook
    seen: list[Any] = []
    model = nn.Linear(2, 2)
    with register(lambda m, args, out: seen.append(out), always_call=True):
        with pytest.raises(RuntimeError):
            model(gw.ones(3))
        model.register_forward_hook(lambda m, args, out: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model(gw.ones(2))
    assert seen[0] is None and [out is None for out in seen] == [True, False]


@pytest.mark.parametrize("name", [
    "nn.modules.conv.Conv2d", "nn.modules.activation.MultiheadAttention",
    "nn.modules.batchnorm.BatchNorm2d", "nn.modules.container.ParameterList",
    "nn.modules.module.Module", "nn.modules.loss.MultiMarginLoss", "nn.modules.Linear",
    "nn.modules.utils._pair", "nn.parameter.UninitializedParameter", "nn.parameter.Buffer",
    "optim.adamw.AdamW", "optim.lr_scheduler.StepLR", "utils.data.dataloader.DataLoader",
    "utils.data._utils.collate.default_collate", "utils.data.distributed.DistributedSampler",
    "autograd.grad_mode.no_grad", "autograd.variable.Tensor", "nn.modules.loss._WeightedLoss",
    "nn.modules.batchnorm._NormBase", "nn.modules.transformer._get_clones",
])  # fmt: skip
def test_names_of_pytorchs_modules(name: str) -> None:
    module, _, member = name.rpartition(".")
    assert callable(getattr(import_module(f"like_torch.{module}"), member))


def test_bases_of_layers_have_pytorchs_names() -> None:
    parts = nn.modules
    assert isinstance(nn.CrossEntropyLoss(), parts.loss._WeightedLoss)
    assert not isinstance(nn.MSELoss(), parts.loss._WeightedLoss)

    class Own(parts.loss._Loss):
        def forward(self, x: Any) -> Any:
            return x.sum() if self.reduction == "sum" else x.mean()

    assert Own(reduction="sum")(gw.ones(3)).item() == 3 and Own()(gw.ones(3)).item() == 1
    assert isinstance(nn.InstanceNorm1d(2), parts.batchnorm._NormBase)
    assert len(parts.transformer._get_clones(nn.ReLU(), 2)) == 2


def test_pairs_and_prefixes() -> None:
    utils = import_module("graphwright.nn.modules.utils")
    assert utils is nn.modules.utils
    assert utils._pair(3) == (3, 3) and utils._triple([1, 2, 3]) == (1, 2, 3)
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    state = {"module.a": 1, "b": 2}
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert state == {"a": 1, "b": 2}


def test_annotations_of_windows() -> None:
    kinds = import_module("graphwright.nn.common_types")
    assert kinds._size_2_t == int | tuple[int, int] and kinds._tensor_list_t


def test_all_registrations_return_one_kind_of_handle() -> None:
    handle = import_module("graphwright.utils.hooks").RemovableHandle
    layer = nn.Linear(1, 1)
    hooks = layer.register_forward_hook(print), layer.weight.register_hook(print)
    assert all(isinstance(hook, handle) for hook in hooks)


def test_weight_norm_by_a_hook() -> None:
    layer = nn.Linear(3, 2)
    weight, x = layer.weight.detach().clone(), gw.randn(4, 3)
    expected = layer(x)
    with pytest.warns(FutureWarning, match="deprecated in favor of"):
        assert nn.utils.weight_norm(layer) is layer
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_g", "weight_v"]
    gw.testing.assert_close(layer(x), expected)
    layer(x).sum().backward()
    assert layer.weight_g.grad is not None and layer.weight_v.grad is not None
    with pytest.raises(RuntimeError, match="two weight_norm hooks"):
        nn.utils.weight_norm(layer)
    nn.utils.remove_weight_norm(layer)
    gw.testing.assert_close(layer.weight.detach(), weight)
    with pytest.raises(ValueError, match="not found"):
        nn.utils.remove_weight_norm(layer)


def test_spectral_norm_by_a_hook() -> None:
    layer = nn.utils.spectral_norm(nn.Linear(3, 2), n_power_iterations=50)
    layer(gw.ones(1, 3))
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    largest = gw.linalg.svdvals(layer.weight.detach())[0]
    gw.testing.assert_close(largest, gw.tensor(1.0), rtol=1e-3, atol=1e-3)
    nn.utils.remove_spectral_norm(layer)
    assert isinstance(layer.weight, nn.Parameter) and not list(layer.named_buffers())
    with pytest.raises(ValueError, match="power"):
        nn.utils.spectral_norm(layer, n_power_iterations=0)


def test_older_names_warn() -> None:
    with pytest.warns(FutureWarning, match="uniform_"):
        nn.init.uniform(gw.empty(2))
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        nn.utils.clip_grad_norm([], 1.0)


def test_a_parametrisation_without_inverse_cannot_be_assigned() -> None:
    layer = nn.Linear(1, 1)
    nn.utils.parametrize.register_parametrization(layer, "bias", nn.Tanh())
    with pytest.raises(RuntimeError, match="does not implement right_inverse"):
        layer.bias = gw.ones(1)
