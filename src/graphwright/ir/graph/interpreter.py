"""`Interpreter`: runs a graph node by node. Analyses and rewrites are short subclasses of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.lint import follow
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.nn.module import Module
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops.table import Op
from graphwright.runtime.symbolic.symint import SymInt


class Interpreter:
    """Runs a module's graph on values, one method per kind of node.

    Override `run_node`, or the method of one kind, to change what a node means. Symbolic sizes in
    arguments take their values from the inputs.

    Args:
        module: where constants and submodules are found; its graph is run, unless `graph` is.
        garbage_collect_values: drop values after their last use.
        graph: another graph to run, of any module.
    """

    def __init__(
        self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.garbage_collect_values = garbage_collect_values
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.sizes: dict[str, Any] = {}
        self._args: tuple[Any, ...] = ()
        self._position = 0

    def run(
        self, *args: Any, initial_env: Mapping[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """The graph's result for these arguments, one per placeholder.

        Args:
            initial_env: values of nodes, which are not run then.
            enable_io_processing: flatten nested arguments and rebuild the result, where the graph
                was traced from a function of nested ones.

        Raises: TypeError if the number of arguments is wrong. Errors of a node name it in a note.
        """
        graph = self.graph
        if graph.signature is not None and enable_io_processing:
            args = graph.process_inputs(*args)
        self.env = {} if initial_env is None else dict(initial_env)
        if initial_env is None:
            self.check_arguments(args)
        self._args, self._position = args, 0
        if isinstance(self.module, GraphModule):
            self.sizes = self.module.bind_sizes(args)
        last = _last_users(graph) if self.garbage_collect_values else {}
        for node in graph.nodes:
            if node in self.env:
                continue
            try:
                value = self.run_node(node)
            except Exception as error:
                error.add_note(f"while running node {node.name} of the graph")
                raise
            self.env[node] = value
            if node.op == "output":
                return graph.process_outputs(value) if enable_io_processing else value
            for dead in last.get(node, ()):
                del self.env[dead]
        raise ValueError("the graph has no output node")

    def check_arguments(self, args: tuple[Any, ...]) -> None:
        """Raises: TypeError if a call of the graph cannot have so many arguments."""
        nodes = self.graph.placeholders
        expected, given = len(nodes), len(args)
        if expected != given:
            starred = [node for node in nodes if str(node.target).startswith("*")]
            needed = [node for node in nodes if not node.args and node not in starred]
            if given < len(needed) or (given > expected and not starred):
                raise TypeError(f"the graph takes {expected} arguments, {given} were given")

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument of the call, or the default; the rest of them for `*args`."""
        start = self._position
        if target.startswith("*"):
            self._position = len(self._args)
            return list(self._args[start:])
        self._position += 1
        return self._args[start] if start < len(self._args) else args[0]

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The constant at a path of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """target(*args, **kwargs)."""
        return call(target, args, kwargs)

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The method of that name of the first argument, called with the others."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The submodule at a path, called."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The graph's result."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """What the module has at a path. Raises: AttributeError if there is nothing."""
        return follow(self.module, target)

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A node's arguments with values in place of nodes and of symbolic sizes."""
        kwargs = map_leaves(n.kwargs, self.value_of) if n.kwargs else {}
        return map_leaves(n.args, self.value_of), kwargs

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """`args`, which are of a node, with values in place of nodes."""
        return map_leaves(args, self.value_of)

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


def _last_users(graph: Graph) -> dict[Node, list[Node]]:
    last: dict[Node, Node] = {}
    for node in graph.nodes:
        last[node] = node
        for operand in node.all_input_nodes:
            last[operand] = node
    users: dict[Node, list[Node]] = {}
    for operand, node in last.items():
        users.setdefault(node, []).append(operand)
    return users
