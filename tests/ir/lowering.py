"""Running lowered graphs by the interpreter, and comparing them with eager execution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphwright.autograd import grad, no_grad
from graphwright.ir import GraphModule, Interpreter
from graphwright.ir.graph.lint import check_writes
from graphwright.ir.lowered_graph import Lowered
from graphwright.ir.passes.decompose import REWRITES, is_primitive
from graphwright.ir.pipeline import lower_graph
from graphwright.ir.trace import trace
from graphwright.runtime import _core
from graphwright.runtime.fake.fake_tensor import fake_like
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.tensor.dtypes import from_numpy_dtype
from graphwright.runtime.tensor.tensor import Tensor


def captured(
    fn: Callable[..., Any], inputs: Sequence[Any], dynamic: dict[int, Sequence[int]] | None = None
) -> tuple[GraphModule, list[Any]]:
    """`fn` as a graph with its in-place ops and views, and fake inputs for it."""
    env = ShapeEnv()
    dynamic = dynamic or {}
    fakes = [fake_like(x, env, dynamic.get(i, ())) for i, x in enumerate(inputs)]
    module = trace(lambda *args: _as_tuple(fn(*args)), fakes, keep=lambda op: True)
    return module, fakes


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


class Compiled:
    """A lowered graph run by the interpreter, as the face would run it."""

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered

    def __call__(self, *inputs: Any) -> tuple[tuple[Any, ...], Callable[..., list[Any]]]:
        """The results, and a function from the tangents to the inputs' gradients."""
        lowered = self.lowered
        with no_grad():
            outputs = Interpreter(lowered.forward).run(*inputs)
            saved = [inputs[s.index] if s.kind == "input" else
                     outputs[s.index] if s.kind == "output" else
                     s.size.expr.evaluate(lowered.forward.bind_sizes(inputs))
                     for s in lowered.saved]
            for index, place in lowered.mutated:
                if place >= 0:
                    inputs[index].copy_(outputs[place])
        results = lowered.results()(*inputs, outputs)
        self.outputs = outputs

        def backward(tangents: dict[int, Any]) -> list[Any]:
            dense = [restrided(tangents[i], self.outputs[i].stride()) for i in lowered.tangents]
            with no_grad():
                return list(Interpreter(lowered.backward).run(*saved, *dense))
        return results, backward


def copies(inputs: Sequence[Any]) -> list[Any]:
    """The inputs anew, with the same strides, as leaves."""
    result = []
    for x in inputs:
        if not isinstance(x, Tensor):
            result.append(x)
            continue
        with no_grad():
            twin = restrided(x.detach(), x.stride())
        result.append(twin.requires_grad_(x.requires_grad))
    return result


def restrided(x: Tensor, strides: Any) -> Tensor:
    """A copy of `x` with these strides."""
    return _core.empty_strided(Tensor, x.shape, strides, x.dtype).copy_(x)


def assert_same(actual: Any, expected: Any, tolerance: float = 1e-6) -> None:
    if not isinstance(expected, Tensor):
        assert actual == expected
        return
    assert actual.dtype is expected.dtype and actual.shape == expected.shape
    np.testing.assert_allclose(
        actual.detach().numpy(), expected.detach().numpy(), rtol=tolerance, atol=tolerance)


def check(
    fn: Callable[..., Any], *inputs: Any, dynamic: dict[int, Sequence[int]] | None = None,
    others: Sequence[Sequence[Any]] = (), tolerance: float = 1e-6, disabled: Sequence[str] = (),
) -> Lowered:
    """Lower `fn` for `inputs`, run it on them and on `others`: all must be as in eager.

    Results, mutated inputs, aliasing of results with inputs and one another, gradients.
    """
    needs_grad = any(getattr(x, "requires_grad", False) for x in inputs)
    module, fakes = captured(fn, inputs, dynamic)
    before = module.code
    lowered = lower_graph(module, fakes, needs_grad=needs_grad, disabled=disabled)
    assert module.code == before
    if not disabled:
        for graph in filter(None, (lowered.forward, lowered.backward)):
            assert_primitive(graph)
    for values in [inputs, *others]:
        _compare(fn, Compiled(lowered), values, tolerance)
    return lowered


def assert_primitive(module: GraphModule) -> None:
    """Only functional primitives, ops that run eagerly, and writes to arguments in their order."""
    check_writes(module.graph)
    for node in module.graph.nodes:
        if isinstance(node.target, Op):
            eager = node.target.decompose is None or "whole" in node.target.tags
            kept = node.target.name in REWRITES
            assert is_primitive(node.target) or eager or kept, node.target
            assert node.target.name == "copy_" or not node.target.is_inplace


def _compare(fn: Any, compiled: Compiled, values: Sequence[Any], tolerance: float) -> None:
    eager_inputs, inputs = copies(values), copies(values)
    lowered = compiled.lowered
    expected = _as_tuple(fn(*eager_inputs))
    actual, backward = compiled(*inputs)
    assert len(actual) == len(expected)
    for got, want in zip(actual, expected, strict=True):
        assert_same(got, want, tolerance)
    for got, want in zip(inputs, eager_inputs, strict=True):
        assert_same(got, want, tolerance)
    assert _sharing([*inputs, *actual]) == _sharing([*eager_inputs, *expected])
    if lowered.backward is None:
        return
    _compare_gradients(compiled, eager_inputs, expected, backward, tolerance)


def _compare_gradients(
    compiled: Compiled, eager_inputs: Sequence[Any], expected: Sequence[Any],
    backward: Callable[..., list[Any]], tolerance: float,
) -> None:
    """Of the results that are outputs of the forward graph, for tangents of varied values."""
    lowered = compiled.lowered
    places = {spec.index: want for spec, want in zip(lowered.outputs, expected, strict=True)
              if spec.kind == "fresh"}
    rng = np.random.default_rng(0)
    tangents: dict[int, Any] = {}
    for place in lowered.tangents:
        value = compiled.outputs[place]
        array = rng.standard_normal(value.shape)
        tangents[place] = ops.to_dtype(tensor(array), value.dtype)
        if place not in places:
            tangents[place] = ops.mul(tangents[place], 0)
    roots = [place for place in lowered.tangents if place in places]
    wanted = [eager_inputs[i] for i in lowered.grad_inputs]
    grads = grad([places[p] for p in roots], wanted, [tangents[p] for p in roots],
                 allow_unused=True)
    for got, want in zip(backward(tangents), grads, strict=True):
        if want is None or got is None:
            assert all(grad is None or not np.any(grad.numpy()) for grad in (got, want))
        else:
            assert_same(got, want, tolerance)


def tensor(array: Any, requires_grad: bool = False) -> Tensor:
    """A tensor over a copy of `array`, of the same dtype."""
    array = np.array(array)
    made = _core.from_ndarray(Tensor, array, from_numpy_dtype(array.dtype))
    return made.requires_grad_(requires_grad)


def _sharing(tensors: Sequence[Any]) -> list[tuple[int, int]]:
    """Which of the tensors share memory."""
    return [(i, j) for i, a in enumerate(tensors) for j, b in enumerate(tensors[:i])
            if isinstance(a, Tensor) and isinstance(b, Tensor) and a._storage is b._storage]
