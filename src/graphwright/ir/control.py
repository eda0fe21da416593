"""Branches and loops that depend on values, as nodes of a graph that hold graphs.

A captured call of `cond` or `while_loop` is a call of a function on its graphs::

    cond = graphwright.ir.control_flow.cond(gt, cond_true, cond_false, (x, y))
    getitem = cond[0]

The graphs are functional: they take the operands and return a tuple of tensors of their own. In
traces the call becomes one op, which has the graphs::

    cond_1 = cond(gt, x, y)
    getitem = cond_1[0]

What the op does with its graphs is said by a `Control` (`ir.control_flow` has them): its kernel
runs them op by op, code generation compiles each of them once and hands what it has compiled to
the same function. The gradient is again such an op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.runtime.dispatch import dispatch, without_autocast
from graphwright.runtime.fake.fake_tensor import make_fake
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import Op, unlisted
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.tensor import Tensor

Calls = Sequence[Callable[..., tuple[Any, ...]]]
FAMILY = "control"


class Control:
    """Graphs, and what is done with them.

    Attributes:
        graphs: functional graphs, each of which returns a tuple of tensors.
        specs: the types of the results.
    """

    name: str
    specs: tuple[TensorSpec, ...]

    def __init__(self, graphs: Sequence[GraphModule]) -> None:
        self.graphs = tuple(graphs)
        self._ops: dict[tuple[str, ...], ControlOp] = {}

    def inputs(self, args: Sequence[Any]) -> list[Sequence[Any]]:
        """For each graph, fake values of what it is given where the op is given `args`."""
        raise NotImplementedError

    def run(self, calls: Calls, args: Sequence[Any]) -> tuple[Any, ...]:
        """The op's results; `calls` compute the graphs."""
        raise NotImplementedError

    def gradient(self, saved: Any, args: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
        """The gradients of `args`, None for those that have none; `grads` of results may be None.

        `saved.needs` says by the names of the op's parameters which tensors need one.
        """
        raise NotImplementedError

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """The results: recorded in a trace, and on the tape."""
        kinds = tuple(["Tensor" if isinstance(arg, Tensor) else "int" for arg in args])
        op = self._ops.get(kinds)
        if op is None:
            op = self._ops[kinds] = _op(self, kinds)
        results: tuple[Any, ...] = dispatch(op, args)
        return results

    def interpret(self, *args: Any) -> tuple[Any, ...]:
        """The results, op by op; the graphs say themselves what autocast does."""
        return without_autocast(self.run, [graph.forward for graph in self.graphs], args)


class ControlOp(Op):
    """The op of a `Control`."""

    __slots__ = ("control",)
    control: Control


def _op(control: Control, kinds: Sequence[str]) -> ControlOp:
    """The op for arguments of these types."""
    names = [f"{kind[0].lower()}{place}" for place, kind in enumerate(kinds)]
    params = ", ".join([f"{kind} {name}" for kind, name in zip(kinds, names, strict=True)])

    def vjp(saved: Any, *grads: Any) -> tuple[Any, ...]:
        found = control.gradient(saved, [getattr(saved, name) for name in names], grads)
        return tuple([grad for grad, kind in zip(found, kinds, strict=True) if kind == "Tensor"])

    op: ControlOp = unlisted(
        f"{control.name}({params})",
        meta=lambda *args: control.specs,
        vjp=vjp,
        saves=tuple([name for name, kind in zip(names, kinds, strict=True) if kind == "Tensor"]),
        decompose=None,
        call=control.__call__,
        eager=control.interpret,
        family=FAMILY,
        cls=ControlOp,
    )
    op.control = control
    return op


def results_of(graph: GraphModule) -> list[Any]:
    """The fake values that a traced graph returns."""
    return [node.meta["val"] for node in graph.graph.output_node().args[0]]


def laid_out(graph: GraphModule) -> GraphModule:
    """A copy whose results get the strides that they have in `graph`, whatever becomes of it."""
    copy = graph.copy()
    copy.meta["layouts"] = [value.stride() for value in results_of(graph)]
    return copy


def specs_of(values: Sequence[Any]) -> tuple[TensorSpec, ...]:
    """The types of fake tensors."""
    return tuple([TensorSpec(value.shape, value.stride(), value.dtype, value.device)
                  for value in values])


def contiguous_like(value: Any) -> Any:
    """A fake tensor of the same type in row-major order; an int as it is."""
    if not isinstance(value, Tensor):
        return value
    return make_fake(value.shape, contiguous_strides(value.shape), value.dtype, value.device)
