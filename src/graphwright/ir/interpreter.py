"""`Interpreter`: runs a graph node by node. Analyses and rewrites are short subclasses of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphwright.ir.graph_module import GraphModule
from graphwright.ir.node import Node, map_leaves
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops.table import Op
from graphwright.runtime.symbolic.symint import SymInt


class Interpreter:
    """Runs `module.graph` on values, one method per kind of node.

    Override `run_node`, or the method of one kind, to change what a node means. Values are
    dropped after their last use. Symbolic sizes in arguments take their values from the inputs.
    """

    def __init__(self, module: GraphModule) -> None:
        self.module = module
        self.env: dict[Node, Any] = {}
        self.sizes: dict[str, Any] = {}
        self._args: tuple[Any, ...] = ()
        self._position = 0

    def run(self, *args: Any) -> Any:
        """The graph's result for these arguments, one per placeholder.

        Raises: TypeError if their number is wrong. Errors of a node name it in a note.
        """
        graph = self.module.graph
        expected = len(graph.placeholders)
        if len(args) != expected:
            raise TypeError(f"the graph takes {expected} arguments, {len(args)} were given")
        self.env, self._args, self._position = {}, args, 0
        self.sizes = self.module.bind_sizes(args)
        last = _last_users(self.module)
        for node in graph.nodes:
            try:
                value = self.run_node(node)
            except Exception as error:
                error.add_note(f"while running node {node.name} of the graph")
                raise
            if node.op == "output":
                return value
            self.env[node] = value
            for dead in last.get(node, ()):
                del self.env[dead]
        raise ValueError("the graph has no output node")

    def run_node(self, node: Node) -> Any:
        """The value of one node."""
        args, kwargs = self.fetch_args_kwargs(node)
        return getattr(self, node.op)(node.target, args, kwargs)

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._position += 1
        return self._args[self._position - 1]

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.module.attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call(target, args, kwargs)

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.module.attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return args[0]

    def fetch_args_kwargs(self, node: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A node's arguments with values in place of nodes and of symbolic sizes."""
        kwargs = map_leaves(node.kwargs, self.value_of) if node.kwargs else {}
        return map_leaves(node.args, self.value_of), kwargs

    def value_of(self, leaf: Any) -> Any:
        """The value that a node, a symbolic size or a constant has in this run."""
        kind = type(leaf)
        if kind is Node:
            return self.env[leaf]
        if kind is SymInt:
            return evaluate_size(leaf, self.sizes)
        return leaf


def call(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """target(*args, **kwargs), where the arguments of an `Op` may be the full bound tuple."""
    if type(target) is Op and not kwargs and len(args) == len(target.schema.params):
        return dispatch(target, args)
    return target(*args, **kwargs)


def evaluate_size(size: SymInt, sizes: Mapping[str, Any]) -> Any:
    """The value of a symbolic size; `sizes` may themselves hold symbolic ones."""
    return size.expr.evaluate(sizes)


def _last_users(module: GraphModule) -> dict[Node, list[Node]]:
    last: dict[Node, Node] = {}
    for node in module.graph.nodes:
        last[node] = node
        for operand in node.all_input_nodes:
            last[operand] = node
    users: dict[Node, list[Node]] = {}
    for operand, node in last.items():
        users.setdefault(node, []).append(operand)
    return users
