"""Registration: refusals, hooks, chained constructors; tensors that have no shape yet."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn.modules import module as of_modules


def test_hooks_see_every_registration_and_may_replace_what_is_registered() -> None:
    seen: list[str] = []

    def told(module: nn.Module, name: str, value: Any) -> None:
        seen.append(name)

    def halved(module: nn.Module, name: str, value: Any) -> Any:
        return None if value is None else nn.Parameter(value.detach() / 2)

    handles = [
        of_modules.register_module_module_registration_hook(told),
        of_modules.register_module_buffer_registration_hook(told),
        of_modules.register_module_parameter_registration_hook(halved),
    ]
    module = nn.Sequential(nn.BatchNorm1d(2))
    for handle in handles:
        handle.remove()
    assert seen == ["running_mean", "running_var", "num_batches_tracked", "0"]
    assert module[0].weight.tolist() == [0.5, 0.5]
    assert nn.BatchNorm1d(2).weight.tolist() == [1.0, 1.0]


def test_arguments_of_init_are_refused_unless_the_next_class_gets_them() -> None:
    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

    class Both(nn.Module, Named):
        call_super_init = True

    assert Both("x").name == "x"  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        nn.Module(3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        nn.Module(size=3)


def test_one_module_has_one_kind_of_backward_hooks() -> None:
    full, plain = nn.Linear(1, 1), nn.Linear(1, 1)
    full.register_full_backward_hook(lambda *_: None)
    plain.register_backward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="Cannot use both"):
        full.register_backward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="Cannot use both"):
        plain.register_full_backward_hook(lambda *_: None)


def test_a_state_dict_prints_as_an_ordered_dict_and_a_saved_vector_of_one_fits_a_scalar() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(gw.tensor(2.0))

    module = Scaled()
    assert repr(module.state_dict()) == repr(OrderedDict(module.state_dict()))
    module.load_state_dict({"scale": gw.tensor([5.0])})
    assert module.scale.item() == 5.0


def test_complex_parameters() -> None:
    module = nn.Linear(2, 2).to(gw.complex64)
    assert module.weight.dtype is gw.complex64
    with pytest.raises(TypeError, match="floating point or complex"):
        module.to(gw.int32)


def test_a_tensor_without_shape_computes_nothing_but_can_be_copied_and_converted() -> None:
    lazy = nn.LazyLinear(3)
    with pytest.raises(ValueError, match="uninitialized parameter"):
        lazy.weight + 1
    with pytest.raises(ValueError, match="uninitialized parameter"):
        lazy.weight.sum()
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized"):
        lazy.share_memory()
    twin = pickle.loads(pickle.dumps(copy.deepcopy(lazy.double())))
    assert twin.has_uninitialized_params()
    assert twin(gw.ones(1, 2, dtype=gw.float64)).shape == (1, 3)


def test_what_has_no_shape_cannot_be_loaded_into_what_has_one() -> None:
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized"):
        nn.Linear(2, 3).load_state_dict(nn.LazyLinear(3).state_dict())


def test_backward_hooks_of_a_module_that_returns_no_tensor() -> None:
    class Named(nn.Module):
        def forward(self, x: gw.Tensor) -> dict[str, gw.Tensor]:
            return {"x": x}

    module = Named()
    module.register_full_backward_hook(lambda *_: None)
    with pytest.warns(UserWarning, match="module output should be a Tensor"):
        module(gw.ones(1, requires_grad=True))
