"""The ONNX forms of ops: op name -> functions that write its nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from graphwright.ir.graph.node import Node, map_leaves
from graphwright.runtime.ops.table import Op
from graphwright.runtime.record import Record

Emit = Callable[..., Any]
"""form(g, out, *args): g is the `Builder`, out the fake tensors of the results, args those of the
op in the order of its schema, tensors as `Value`s. Returns the result's `Value`, or a tuple."""

OLDEST, NEWEST = 18, 26
"""The opsets that files can be written for."""
DEFAULT = 23
"""The first opset with Attention and RMSNormalization; onnxruntime 1.32 runs it on CPUs."""


class Form(Record):
    """How an op is written from opset `since` on, for the arguments that `accepts` takes."""

    emit: Emit
    since: int
    accepts: Callable[..., bool] | None


FORMS: dict[str, list[Form]] = {}


def form(
    *names: str, since: int = OLDEST, accepts: Callable[..., bool] | None = None
) -> Callable[[Emit], Emit]:
    """A decorator: the function is a form of these ops. The last one that takes the arguments is
    taken, so that narrower forms come later."""

    def register(emit: Emit) -> Emit:
        for name in names:
            FORMS.setdefault(name, []).insert(0, Form(emit, since, accepts))
        return emit

    return register


def forms(table: Mapping[str, Emit], accepts: Callable[..., bool] | None = None) -> None:
    """Forms that are one expression, by the names of their ops, separated by spaces."""
    for names, emit in table.items():
        form(*names.split(), accepts=accepts)(emit)


def form_of(name: str, args: tuple[Any, ...], opset: int) -> Form | None:
    """The form of an op for these arguments, or None."""
    for one in FORMS.get(name, ()):
        if opset >= one.since and (one.accepts is None or one.accepts(*args)):
            return one
    return None


def has_form(node: Node, opset: int) -> bool:
    """Whether what a node calls is an op that has a form for its arguments."""
    args = map_leaves(node.args, lambda one: one.meta["val"] if isinstance(one, Node) else one)
    return isinstance(node.target, Op) and form_of(node.target.name, args, opset) is not None
