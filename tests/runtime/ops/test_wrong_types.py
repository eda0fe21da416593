"""Functions in Python refuse arguments of the wrong type by name, not from within.

Every parameter of every public function of `nn.utils`, `nn.init` and `gw.masked` is given values
of all kinds. What is refused is refused with PyTorch's types of errors or TypeError: never with
an AttributeError of the value that came, a KeyError or an AssertionError that says nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

utils, prune, rnn = nn.utils, nn.utils.prune, nn.utils.rnn
parametrize, parametrizations = nn.utils.parametrize, nn.utils.parametrizations


def _rows(*shape: int) -> gw.Tensor:
    return gw.ones(shape or (3, 4))


def _linear() -> nn.Module:
    return nn.Linear(4, 4)


def _with_gradients() -> list[gw.Tensor]:
    model = _linear()
    model(_rows()).sum().backward()
    return list(model.parameters())


def _evaluated(module: nn.Module) -> nn.Module:
    return module.eval()


def _after(function: Callable[..., Any], *rest: Any) -> nn.Module:
    """A layer that `function` was applied to."""
    module = _linear()
    function(module, "weight", *rest)
    return module


def _packed() -> Any:
    return rnn.pack_padded_sequence(_rows(3, 2, 4), [3, 2])


UTILS: dict[Callable[..., Any], Callable[[], list[Any]]] = {
    utils.clip_grad_norm: lambda: [_with_gradients(), 1.0],
    utils.clip_grad_norm_: lambda: [_with_gradients(), 1.0, 2.0, False, None],
    utils.clip_grad_value_: lambda: [_with_gradients(), 1.0, None],
    utils.clip_grads_with_norm_: lambda: [_with_gradients(), 1.0, gw.tensor(2.0), None],
    utils.get_total_norm: lambda: [[_rows()], 2.0, False, None],
    utils.parameters_to_vector: lambda: [_with_gradients()],
    utils.vector_to_parameters: lambda: [_rows(20), _with_gradients()],
    utils.convert_conv2d_weight_memory_format: lambda: [nn.Conv2d(2, 2, 2), gw.channels_last],
    utils.convert_conv3d_weight_memory_format: lambda: [nn.Conv3d(2, 2, 2), gw.channels_last_3d],
    utils.fuse_conv_bn_eval: lambda: [
        _evaluated(nn.Conv2d(2, 4, 2)), _evaluated(nn.BatchNorm2d(4)), False],
    utils.fuse_linear_bn_eval: lambda: [
        _evaluated(nn.Linear(2, 4)), _evaluated(nn.BatchNorm1d(4))],
    utils.fuse_conv_bn_weights: lambda: [
        _rows(4, 2, 2, 2), *[_rows(4)] * 3, 1e-5, *[_rows(4)] * 2, False],
    utils.fuse_linear_bn_weights: lambda: [_rows(4, 2), *[_rows(4)] * 3, 1e-5, *[_rows(4)] * 2],
    utils.skip_init: lambda: [nn.Linear, 2, 2],
    utils.weight_norm: lambda: [_linear(), "weight", 0],
    utils.remove_weight_norm: lambda: [_after(utils.weight_norm), "weight"],
    utils.spectral_norm: lambda: [_linear(), "weight", 1, 1e-12, 0],
    utils.remove_spectral_norm: lambda: [_after(utils.spectral_norm), "weight"],
    parametrizations.weight_norm: lambda: [_linear(), "weight", 0],
    parametrizations.spectral_norm: lambda: [_linear(), "weight", 1, 1e-12, 0],
    parametrizations.orthogonal: lambda: [_linear(), "weight", "cayley"],
    parametrize.register_parametrization: lambda: [_linear(), "weight", nn.Identity()],
    parametrize.remove_parametrizations: lambda: [
        _after(parametrizations.weight_norm), "weight", True],
    parametrize.is_parametrized: lambda: [_after(parametrizations.weight_norm), "weight"],
    parametrize.type_before_parametrizations: lambda: [_after(parametrizations.weight_norm)],
    parametrize.transfer_parametrizations_and_params: lambda: [
        _after(parametrizations.spectral_norm), _linear(), "weight"],
    prune.identity: lambda: [_linear(), "weight"],
    prune.random_unstructured: lambda: [_linear(), "weight", 1],
    prune.l1_unstructured: lambda: [_linear(), "weight", 1, None],
    prune.random_structured: lambda: [_linear(), "weight", 1, 0],
    prune.ln_structured: lambda: [_linear(), "weight", 1, 2, 0, None],
    prune.custom_from_mask: lambda: [_linear(), "weight", gw.ones(4, 4)],
    prune.remove: lambda: [_after(prune.identity), "weight"],
    prune.is_pruned: lambda: [_after(prune.identity)],
    rnn.pad_sequence: lambda: [[_rows(2), _rows(3)], False, 0.0, "right"],
    rnn.unpad_sequence: lambda: [_rows(3, 2), gw.tensor([3, 2]), False],
    rnn.pack_sequence: lambda: [[_rows(3), _rows(2)], True],
    rnn.unpack_sequence: lambda: [_packed()],
    rnn.pack_padded_sequence: lambda: [_rows(3, 2, 4), gw.tensor([3, 2]), False, True],
    rnn.pad_packed_sequence: lambda: [_packed(), False, 0.0, None],
    rnn.invert_permutation: lambda: [gw.tensor([1, 0])],
    rnn.PackedSequence: lambda: [_rows(5, 4), gw.tensor([2, 2, 1]), None, None],
    nn.utils.stateless.functional_call: lambda: [
        _linear(), {"weight": _rows(4, 4)}, (_rows(2, 4),), {}],
}
INIT = [f for name, f in vars(nn.init).items() if name.endswith("_") and callable(f)
        and not name.startswith("_")]
MASKED = [getattr(gw.masked, name) for name in gw.masked.__all__]
SAMPLES = {"tensor": lambda: _rows(4, 4), "input": _rows, "other": _rows, "dim": lambda: 0,
           "ord": lambda: 2.0, "val": lambda: 1.0, "sparsity": lambda: 0.5}
"""Arguments of the functions of `nn.init` and `gw.masked` that have no default."""

VALUES: list[Callable[[], Any]] = [
    lambda: None, lambda: "text", lambda: 1.5, lambda: 3, lambda: True, list, lambda: [1, 2],
    tuple, dict, object, lambda: gw.float32, lambda: len, lambda: gw.ones(2),
    lambda: gw.tensor(True), lambda: nn.Linear, lambda: nn.Linear(2, 2), lambda: {"a": 1},
    lambda: {1: 2}, lambda: [None], lambda: ["a"], lambda: b"x", lambda: 1j,
    lambda: float("nan"),
]
SAYS_NOTHING = (AttributeError, AssertionError, KeyError, NameError)
MEANT = ("has no attribute 'text'", "Fusion only for eval", "should have the same shape")
"""What PyTorch says so, too: of a name that the module lacks, layers in training, and scores."""


def _try(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> None:
    try:
        function(*args, **kwargs)
    except SAYS_NOTHING as error:
        assert any(text in str(error) for text in MEANT), repr(error)
    except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError) as error:
        assert str(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", UTILS, ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_utils(function: Callable[..., Any]) -> None:
    make = UTILS[function]
    function(*make())
    for place in range(len(make())):
        for value in VALUES:
            args = make()
            args[place] = value()
            _try(function, args, {})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", INIT + MASKED, ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_init_and_masked(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters
    need = [name for name, p in parameters.items() if p.default is p.empty or name == "dim"]
    given = {name: SAMPLES[name] for name in need}
    if function is nn.init.dirac_:
        given["tensor"] = lambda: _rows(4, 4, 2)
    function(**{name: make() for name, make in given.items()})
    for name in parameters:
        for value in VALUES:
            args = {other: make() for other, make in given.items()}
            _try(function, [], {**args, name: value()})


def test_every_function_is_tried() -> None:
    known = {function.__name__ for function in UTILS}
    for module in (utils, prune, rnn, parametrize, parametrizations, nn.utils.stateless):
        names = getattr(module, "__all__", None) or [
            name for name, f in vars(module).items()
            if inspect.isfunction(f) and f.__module__ == module.__name__ and name[0] != "_"]
        missing = {n for n in names if n not in known
                   and not isinstance(getattr(module, n), ModuleType)}
        assert missing <= {"cached", "global_unstructured", "norm_except_dim"}, module


@pytest.mark.parametrize(("call", "message"), [
    (lambda: nn.init.normal_([1.0]), "argument 'tensor' must be Tensor, not list"),
    (lambda: utils.clip_grad_norm_({"a": 1}, 1.0),
     r"clip_grad_norm_\(\): argument 'parameters' must be Tensor or an iterable of Tensors, not "
     "dict of str"),
    (lambda: utils.clip_grad_value_(3, 1.0), "iterable of Tensors, not int"),
    (lambda: gw.masked.sum(gw.ones(2), mask=[True, False]), "'mask' must be Tensor, not list"),
    (lambda: gw.masked.amax(gw.ones(2), dtype="float32"), "'dtype' must be dtype, not str"),
    (lambda: parametrize.transfer_parametrizations_and_params(
        _after(parametrizations.weight_norm), nn.Linear), "'to_module' must be Module, not type"),
    (lambda: utils.fuse_linear_bn_eval(_linear(), nn.ReLU()),
     "'bn' must have the attributes .* ReLU lacks"),
])
def test_what_messages_say(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_orthogonal_on_top_of_another_parametrization_says_what_to_do() -> None:
    module = _after(parametrizations.weight_norm)
    with pytest.raises(RuntimeError, match="use_trivialization=False"):
        parametrizations.orthogonal(module, "weight", "cayley")
        module(_rows())
