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

from graphwright.autograd import grad
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.ir.passes.algebra import same_sizes
from graphwright.ir.trace import Rewrite, Tracer, by_memory, trace
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.fake.fake_tensor import FakeTensor, fake_kernel
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import TABLE, Kind, Op
from graphwright.runtime.tape.partial import gradients_until
from graphwright.runtime.tensor.dtypes import bool as bool_

ON_THE_TAPE = (grad, gradients_until, "requires_grad_")
"""Calls that need the tape; a leaf that was frozen again does not require gradients at the end."""


def normalise(module: GraphModule, fake_inputs: Sequence[Any]) -> GraphModule:
    """See the module's docstring."""
    taped = any(node.target in ON_THE_TAPE or _makes_leaf(node) for node in module.graph.nodes)
    return trace(module, fake_inputs, keep=_keep, rewrites=_REWRITES, taped=taped, modes=True)


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
    """rand(size, None, dtype, device) as rng_uniform(size, dtype, device, rng_index).

    Of draws that were reserved: as philox_uniform(size, dtype, device, place, index).
    """
    spec, generator = _rule(TABLE["rand"])(*args), args[1]
    if generator is not None:
        op = TABLE["philox_uniform"]
        placed = (spec.shape, spec.dtype, spec.device, generator.place, generator.index)
        generator.index += 1
        return tracer.emit(op, placed, fake_kernel(op, map_leaves(placed, tracer.fake_of)))
    op = TABLE["rng_uniform"]
    numbered = (spec.shape, spec.dtype, spec.device, tracer.rng_ops)
    tracer.rng_ops += 1
    return tracer.emit(op, numbered, fake_kernel(op, numbered))


def _rrelu(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """`rrelu_` as its functional form and a copy: its draws are numbered."""
    return ops.copy_(args[0], dispatch(TABLE["rrelu"], args))


def _put(name: str, tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """A value that is the same at all places where a mask holds is chosen by `where`."""
    chosen = _by_mask(*args)
    if chosen is None:
        op = TABLE[name]
        return tracer.emit(op, args, fake_kernel(op, map_leaves(args, tracer.fake_of)))
    return ops.copy_(args[0], chosen) if TABLE[name].is_inplace else chosen


def _by_mask(input: Any, indices: Sequence[Any], values: Any, accumulate: bool) -> Any:
    """index_put as a choice; None where the one index is no mask, or there is a value for each
    place, or what it is called with does not fit."""
    used = [d for d, index in enumerate(indices) if index is not None]
    if len(used) != 1 or accumulate or values.dtype is not input.dtype:
        return None
    (first,), mask = used, indices[used[0]]
    end = first + mask.ndim
    if mask.dtype is not bool_ or not same_sizes(mask.shape, input.shape[first:end]):
        return None
    behind = input.ndim - end
    lead, rest = values.shape[:max(values.ndim - behind, 0)], values.shape[-behind:]
    rest = rest if behind else ()
    if lead and getattr(lead[-1], "expr", lead[-1]) != 1:
        return None
    shape = (*lead[:-1], *(1,) * mask.ndim, *rest) if lead else rest
    goal = input.shape[max(input.ndim - len(shape), 0):]
    if len(shape) > input.ndim or not all(
            same_sizes((a,), (b,)) or same_sizes((a,), (1,))
            for a, b in zip(shape, goal, strict=True)):
        return None
    held = ops.reshape(mask, (*mask.shape, *(1,) * behind))
    return ops.where(held, ops.reshape(values, shape), input)


_REWRITES: dict[str, Rewrite] = {
    "as_strided": by_memory, "rand": _number, "index_put": partial(_put, "index_put"),
    "index_put_": partial(_put, "index_put_"), "rrelu_": _rrelu,
}


def _rule(op: Op) -> Callable[..., Any]:
    assert op.meta is not None
    return op.meta
