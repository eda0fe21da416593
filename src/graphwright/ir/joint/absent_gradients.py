"""Joint and backward graphs for calls of which some results have no gradient.

A result that the loss does not use has no gradient, and eager execution runs no gradient rule for
it: zeros instead would give nan where a derivative is infinite. So the joint graph is traced anew
from the results that have a gradient. By then the forward has run: the new backward reads the
values that it saved, which are found by their expressions, and recomputes others from them.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Hashable
from contextlib import nullcontext, suppress
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_nodes
from graphwright.ir.joint.gradient_strides import expanded_gradients
from graphwright.ir.joint.joint import Joint, Retaped, needs_tape, trace_joint
from graphwright.ir.joint.partition import backward_from
from graphwright.ir.lowered_graph import CannotLower, Lowered, Origin, Saved
from graphwright.ir.passes.algebra import same_sizes
from graphwright.ir.passes.cse import key_of
from graphwright.ir.passes.own_outputs import own_outputs
from graphwright.ir.pipeline import lower_joint
from graphwright.runtime.record import replace
from graphwright.runtime.symbolic.shape_env import ShapeEnv, Unguarded


def lower_given(lowered: Lowered, given: Collection[int]) -> Lowered:
    """The same graph, lowered for gradients of some of its results.

    Args:
        given: the positions of these in `lowered.tangents`.

    Returns: `lowered` with other `joint`, `joint_tangents`, `tangents`, `backward` and `saved`;
        gradients that do not depend on those given are None. Its `backward` is None where the
        saved values are too few, or tracing would assume more of symbolic sizes than is guarded:
        the gradients are computed by `joint` then.
    """
    result = given_op_by_op(lowered, given)
    origin = lowered.origin
    assert origin is not None
    env: ShapeEnv | None = origin.functional.meta.get("shape_env")
    with suppress(CannotLower, Unguarded), nullcontext() if env is None else env.closed():
        joint = trace_joint(
            origin.functional, origin.inputs, result.joint_tangents, lowered.grad_inputs)
        assert joint is not None
        _split(lowered, origin, joint, result)
        if not needs_tape(origin.functional):
            result.graphs = replace(result.made_graphs(), joint=joint.module)
            result.expanded = expanded_gradients(joint.module, len(result.grad_inputs))
    return result


def given_op_by_op(lowered: Lowered, given: Collection[int]) -> Lowered:
    """The same, without a `backward`: nothing is traced or compiled."""
    assert lowered.origin is not None
    result = copy.copy(lowered)
    result.tangents = [lowered.tangents[number] for number in given]
    result.joint_tangents = [lowered.joint_tangents[number] for number in given]
    retaped = Retaped(lowered.origin.functional, result.joint_tangents, lowered.grad_inputs)
    result.graphs = replace(lowered.made_graphs(), joint=retaped, backward=None)
    result.has_backward, result.saved, result.expanded = False, [], None
    return result


def _split(lowered: Lowered, origin: Origin, joint: Joint, result: Lowered) -> None:
    """Set `backward` and `saved`."""
    split = lower_joint(joint, origin.inputs)
    known: dict[Hashable, int] = {}
    numbers = _numbers(origin.split, known)
    first: dict[int, int] = {}
    for place, node in enumerate(origin.nodes):
        first.setdefault(numbers[node], place)
    places = {node: first[number] for node, number in _numbers(split, known).items()
              if number in first and _same_layout(node, origin.nodes[first[number]])}
    assert lowered.backward is not None
    values = [node.meta["val"] for node in lowered.backward.graph.placeholders]
    rest = backward_from(split, joint.n_forward, len(origin.inputs), places, values)
    if rest is not None:
        own_outputs(rest.backward)
        rest.backward.lint("outputs")
        result.graphs = replace(result.made_graphs(), backward=rest.backward)
        result.has_backward = True
        result.saved = [*[lowered.saved[place] for place in rest.places],
                        *[Saved("size", size=size) for size in rest.sizes]]


def _same_layout(one: Node, two: Node) -> bool:
    values = (one.meta["val"], two.meta["val"])
    return all(hasattr(value, "shape") for value in values) and same_sizes(
        *[value.stride() for value in values])


class _Numbered(int):
    """The number of a value among a node's arguments."""


def _numbers(module: GraphModule, known: dict[Hashable, int]) -> dict[Node, int]:
    """A number for each value of a graph: the same for values computed alike, in any graph.

    known: what the numbers that were given stand for.
    """
    numbers: dict[Node, int] = {}
    for place, node in enumerate(module.graph.nodes):
        if node.op == "placeholder":
            key: Hashable = ("placeholder", place)
        elif node.op == "get_attr":
            key = ("constant", _constant(str(node.target), module.attr(str(node.target))))
        else:
            args = map_nodes((node.args, node.kwargs), lambda n: _Numbered(numbers[n]))
            key = (node.op, node.target, key_of(args))
        numbers[node] = known.setdefault(key, len(known))
    return numbers


def _constant(path: str, value: Any) -> Hashable:
    """Equal for the same object, and for tensors computed by `fold_constants` that are equal."""
    if not path.startswith("folded"):
        return id(value)
    return value.dtype, value.shape, value.stride(), value.numpy().tobytes()
