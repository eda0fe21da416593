"""The table of lowering rules: op name -> rule(lowering, call) -> Tensor or tuple of Tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.codegen.lowering.context import Lowering, Tensor, shape_of
from graphwright.codegen.lowering.nodes import Shape
from graphwright.runtime.record import Record
from graphwright.runtime.tensor.dtypes import dtype


class Call(Record):
    """One op call: `args` with tensors as `Tensor`s; `val`: the fake result(s).

    `sole`: nothing else reads its first argument. part_of: the name of the op it is a part of, or
    its own.
    """

    name: str
    op: Any
    args: tuple[Any, ...]
    val: Any
    sole: bool = False
    part_of: str = ""

    @property
    def shape(self) -> Shape:
        """The shape of the (single) result."""
        return shape_of(self.val.shape)

    @property
    def dtype(self) -> dtype:
        """The dtype of the (single) result."""
        return self.val.dtype


Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}


def lowering(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule(lowering, call, *args) for the ops of these names."""
    def register(rule: Rule) -> Rule:
        for name in names:
            RULES[name] = rule
        return rule
    return register


def lower_call(context: Lowering, call: Call) -> Tensor | tuple[Tensor, ...]:
    """Apply the rule of the call's op.

    Raises: KeyError without a rule; Unlowerable where the rule does not cover the arguments.
    """
    return RULES[call.op.name](context, call, *call.args)
