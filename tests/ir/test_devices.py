"""What rules create lies on the device of what they were given: ops, their gradients and what they
decompose to, modules, and functions of the libraries, traced for a GPU that need not be there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import graphwright as gw
from graphwright.func import functional_call
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.lowered_graph import CannotLower
from graphwright.ir.pipeline import lower_graph
from graphwright.ir.trace import trace
from graphwright.runtime._core import TensorBase
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import make_fake
from graphwright.runtime.ops.table import TABLE

from ..libraries.device_programs import PROGRAMS, Program
from ..nn.module_samples import SAMPLES, WITHOUT_SAMPLE, ModuleSample
from ..runtime.layouts import numpy_type, tensors_in
from ..runtime.samples import ALL, Arr
from .test_every_op import WITHOUT_DERIVATIVE, split_arguments

CPU, GPU = gw.device("cpu"), gw.device("cuda:0")
NEEDS_VALUES = frozenset({"AdaptiveLogSoftmaxWithLoss", "CTCLoss", "GaussianNLLLoss"})
"""Modules that read values of tensors, or put lists of numbers on the device; so do packed
sequences."""


def fake(array: Any, device: Any, requires_grad: bool = False) -> Any:
    """A tensor without data with the layout of an array or a tensor."""
    tensor = array if isinstance(array, TensorBase) else gw.from_numpy(array)
    return make_fake(tensor.shape, tensor.stride(), tensor.dtype, device, requires_grad)


def graphs(run: Callable[..., Any], inputs: Sequence[Any], needs_grad: bool
           ) -> Iterator[tuple[str, GraphModule]]:
    """The graph of the tensors that `run` gives for fake inputs, and those that it is lowered to.
    """
    module = trace(lambda *args: tuple(tensors_in(run(*args))), inputs, keep=lambda op: True)
    yield "captured", module
    lowered = lower_graph(module, inputs, needs_grad=needs_grad)
    yield "forward", lowered.forward
    if lowered.backward is not None:
        yield "backward", lowered.backward


def elsewhere(run: Callable[..., Any], inputs: Sequence[Any], needs_grad: bool = False
              ) -> list[str]:
    """The nodes with dims that are read, and the results, that are not on the GPU; constants are
    copied to it."""
    found = []
    for name, module in graphs(run, inputs, needs_grad):
        results = module.graph.output_node().args[0]
        for node in module.graph.nodes:
            if node.op in ("get_attr", "output"):
                continue
            found += [f"{name}: {node.name} = {node.target}"
                      for value in tensors_in(node.meta.get("val"))
                      if value.device != GPU and ((value.ndim and node.users) or node in results)]
    return found


# -- ops


def with_gradients(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the tensors that gives also the gradients of all that is differentiable."""
    def run(*tensors: Any) -> Any:
        inexact = [t.dtype.is_floating_point or t.dtype.is_complex for t in tensors]
        leaves = [t.detach().requires_grad_(of) for t, of in zip(tensors, inexact, strict=True)]
        out = [t for t in tensors_in(fn(*leaves)) if t.requires_grad]
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        if not out or not wanted:
            return out
        cotangents = [gw.ones_like(t) for t in out]
        grads = gw.autograd.grad(out, wanted, cotangents, allow_unused=True)
        return out, [grad for grad in grads if grad is not None]

    return run


def outcome(run: Callable[..., Any], arrays: Sequence[Any], device: Any) -> Any:
    """The nodes elsewhere, or why there is no graph."""
    try:
        return elsewhere(run, [fake(array, device) for array in arrays])
    except (CannotLower, DataDependent, RuntimeError) as error:
        return repr(error)


@pytest.mark.parametrize("name", ALL)
def test_ops_and_their_gradients(name: str) -> None:
    entry, op = ALL[name], TABLE[name]
    written = op.is_inplace or name.endswith("_")
    for sample in entry.samples:
        inputs, fn = split_arguments(entry, sample, "contiguous", gw.float32)
        if not inputs:
            continue
        runs = [fn] if written or name in WITHOUT_DERIVATIVE else [fn, with_gradients(fn)]
        for run in runs:
            found = outcome(run, inputs, GPU)
            assert found == (outcome(run, inputs, CPU) if isinstance(found, str) else []), sample


# -- modules


def of_kind(arr: Arr, values: Any) -> Any:
    return values.astype(numpy_type(arr, gw.float32))


@pytest.mark.parametrize("sample", [
    pytest.param(sample, id=sample.id) for sample in SAMPLES
    if sample.id not in NEEDS_VALUES and not sample.id.endswith("packed")])
def test_modules_and_their_gradients(sample: ModuleSample) -> None:
    module = sample.build()
    state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    inputs = [fake(value, GPU, value.requires_grad) for value in state.values()]

    def leaf(arr: Arr, values: Any) -> Any:
        inputs.append(fake(of_kind(arr, values), GPU, arr.kind == "float" and arr.grad))
        return Place(len(inputs) - 1)

    args, kwargs = sample.arguments(leaf)

    def run(*tensors: Any) -> Any:
        given = {name: filled_places(value, tensors) for name, value in kwargs.items()}
        return functional_call(module, dict(zip(state, tensors, strict=False)),
                               filled_places(args, tensors), given)

    assert elsewhere(run, inputs, needs_grad=True) == []


class Place(int):
    """The number of a tensor among the inputs."""


def filled_places(value: Any, tensors: Sequence[Any]) -> Any:
    if isinstance(value, tuple):
        return tuple([filled_places(item, tensors) for item in value])
    return tensors[value] if isinstance(value, Place) else value


def test_every_module_has_a_sample() -> None:
    public = {name: getattr(gw.nn, name) for name in gw.nn.__all__}
    modules = {name for name, value in public.items()
               if isinstance(value, type) and issubclass(value, gw.nn.Module)}
    named = {name for name in modules if not name.startswith("Lazy")}
    assert named - WITHOUT_SAMPLE == {sample.id.split()[0] for sample in SAMPLES}


# -- functions of the libraries


@pytest.mark.parametrize("program", [
    pytest.param(program, id=name) for name, program in PROGRAMS.items()
    if not program.needs_values])
def test_functions_of_libraries(program: Program) -> None:
    inputs = [fake(of_kind(arr, arr.values("")), GPU) for arr in program.inputs]
    assert elsewhere(program.run, inputs) == []
