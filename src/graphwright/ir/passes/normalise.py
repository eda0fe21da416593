"""Every call becomes a call of a table op; modules, methods and public functions are gone.

Before::

    linear = self.fc(x)
    y = linear.relu()
    z = graphwright.nn.functional.dropout(y, 0.5)

After::

    linear = ops.linear(x, constant, constant_1)
    relu = ops.relu(linear)
    rng_uniform = ops.rng_uniform((8, 4), float32, cpu, 0)
    ge = ops.ge(rng_uniform, 0.5)
    ...

Composites stay, since they have their own vjps and kernels; those that draw random numbers do
not, also in place, so that what they drew can be saved. Random ops are numbered in order. What
runs without gradients (`no_grad`) is marked: meta["no_grad"]. What autocast casts is cast by
nodes. Where the graph itself asks for gradients (`autograd.grad`), or makes tensors that require
them, the tape runs meanwhile, and what it computes is part of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphwright.ir.graph_module import GraphModule
from graphwright.ir.node import Node
from graphwright.ir.trace import Rewrite, Tracer, trace
from graphwright.runtime.autograd import grad
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.fake import FakeTensor, fake_kernel
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.table import TABLE, Kind, Op


def normalise(module: GraphModule, fake_inputs: Sequence[Any]) -> GraphModule:
    """See the module's docstring."""
    taped = any(node.target is grad or _makes_leaf(node) for node in module.graph.nodes)
    return trace(module, fake_inputs, keep=_keep, rewrites=_REWRITES, taped=taped, autocast=True)


def _makes_leaf(node: Node) -> bool:
    """Whether a node gives a tensor of the graph's own that requires gradients."""
    value = node.meta.get("val")
    called = node.op in ("call_function", "call_method")
    return called and isinstance(value, FakeTensor) and value.requires_grad and _is_leaf(value)


def _is_leaf(value: FakeTensor) -> bool:
    """A view whose history cannot be read, since its base was written forbiddenly, is none."""
    try:
        return value.is_leaf
    except RuntimeError:
        return False


def _keep(op: Op) -> bool:
    return op.kind is not Kind.RANDOM or op.decompose is None


def _number(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """rand(size, None, dtype, device) as rng_uniform(size, dtype, device, rng_index)."""
    spec = _rule(TABLE["rand"])(*args)
    op = TABLE["rng_uniform"]
    numbered = (spec.shape, spec.dtype, spec.device, tracer.rng_ops)
    tracer.rng_ops += 1
    return tracer.emit(op, numbered, fake_kernel(op, numbered))


def _written(name: str, tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """The in-place op of that name as its functional form and a copy: its draws are numbered."""
    target = args[0]
    functional = TABLE[name].functional
    assert functional is not None
    value = dispatch(functional, args)
    return target if value is target else ops.copy_(target, value)


_DRAWING = ("alpha_dropout_", "dropout_", "feature_alpha_dropout_", "feature_dropout_", "rrelu_")
_REWRITES: dict[str, Rewrite] = {
    "rand": _number, **{name: partial(_written, name) for name in _DRAWING}
}


def _rule(op: Op) -> Callable[..., Any]:
    assert op.meta is not None
    return op.meta
