"""`Graph`: a list of nodes in execution order, and the methods that add to it."""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphwright.ir.graph.lint import check
from graphwright.ir.graph.node import Node, Target, map_leaves, map_nodes
from graphwright.ir.graph.printing import PythonCode, describe, source_of, table_of
from graphwright.ir.graph.signature import Signature

if TYPE_CHECKING:
    from graphwright.ir.graph.module import GraphModule

_RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"self", "ops", "device"}


class Graph:
    """Nodes in execution order. New ones go to the insertion point, which is the end at first.

    Names are given in order and depend on nothing else, so that the same steps print the same.

    Attributes:
        signature: how the arguments and results of calls are nested, where they are.
        _tracer_cls: the class of the tracer that made it, as libraries ask; None of others.
    """

    def __init__(
        self, owning_module: GraphModule | None = None, tracer_cls: type | None = None
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert_before = self._root
        self._names: set[str] = set()
        self._counts: dict[str, int] = {}
        self._length = 0
        self.owning_module = owning_module
        self._tracer_cls = tracer_cls
        self.signature: Signature | None = None

    @property
    def nodes(self) -> Nodes:
        """The nodes in order: iterable, reversible, with a length. Erasing on the way is fine."""
        return Nodes(self)

    @property
    def owning_module(self) -> GraphModule | None:
        """The module that runs the graph; None if there is none (any more)."""
        return None if self._owner is None else self._owner()

    @owning_module.setter
    def owning_module(self, module: GraphModule | None) -> None:
        self._owner = None if module is None else weakref.ref(module)

    def placeholder(
        self, name: str, type_expr: Any = None, default_value: Any = inspect.Parameter.empty
    ) -> Node:
        """Add an argument; one named `*args` or `**kwargs` takes the rest of a call's."""
        args = () if default_value is inspect.Parameter.empty else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add a constant that the module holds under that path."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(
        self, the_function: Callable[..., Any], args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None, type_expr: Any = None, name: str | None = None,
    ) -> Node:
        """Add the_function(*args, **kwargs)."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def call_method(
        self, method_name: str, args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None, type_expr: Any = None,
    ) -> Node:
        """Add getattr(args[0], method_name)(*args[1:], **kwargs)."""
        return self.create_node("call_method", method_name, args, kwargs, None, type_expr)

    def call_module(
        self, module_name: str, args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None, type_expr: Any = None,
    ) -> Node:
        """Add a call of the module's submodule at that path."""
        return self.create_node("call_module", module_name, args, kwargs, None, type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """Add the result: a node, or tuples, lists and dicts of nodes and constants."""
        return self.create_node("output", "output", (result,), None, "output", type_expr)

    def output_node(self) -> Node:
        """The output node. Raises: ValueError if there is none yet."""
        for node in reversed(self.nodes):
            if node.op == "output":
                return node
        raise ValueError("the graph has no output node")

    def to_networkx(self) -> Any:
        """The graph as a `networkx.DiGraph`, to analyse or draw it.

        Its nodes are the names of this graph's, in order, with the attributes `op`, `target` (as
        text) and, where they are known, `shape` and `dtype`; its edges go from what computes a
        value to what takes it. Raises ImportError where networkx is not installed.
        """
        import networkx

        found = networkx.DiGraph()
        for node in self.nodes:
            value = node.meta.get("val")
            known = {name: getattr(value, name) for name in ("shape", "dtype")
                     if hasattr(value, name)}
            target = getattr(node.target, "__name__", None) or str(node.target)
            found.add_node(node.name, op=node.op, target=target, **known)
            found.add_edges_from((source.name, node.name) for source in node.all_input_nodes)
        return found

    def set_results(self, results: Sequence[Any]) -> None:
        """Make the graph return a tuple of these instead."""
        node = self.output_node()
        node.args = (tuple(results),)
        node.meta["val"] = tuple(
            [r.meta.get("val") if isinstance(r, Node) else r for r in results])

    @property
    def placeholders(self) -> list[Node]:
        """The arguments, in order."""
        return [node for node in self.nodes if node.op == "placeholder"]

    def create_node(
        self, op: str, target: Target, args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None, name: str | None = None, type_expr: Any = None,
    ) -> Node:
        """Add a node of any kind at the insertion point, named `name` or after its target."""
        name = self._unique(_of_target(target) if name is None else _identifier(name))
        node = Node(self, name, op, target, tuple(args), kwargs or {}, type_expr)
        self._insert_before.prepend(node)
        self._length += 1
        return node

    def node_copy(
        self, node: Node, arg_transform: Callable[[Node], Any] = lambda node: node
    ) -> Node:
        """Add a copy of a node of another graph, with `arg_transform` applied to its inputs."""
        copy = self.create_node(node.op, node.target, map_nodes(node.args, arg_transform),
                                map_nodes(node.kwargs, arg_transform), node.name, node.type)
        copy.meta = dict(node.meta)
        return copy

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Any:
        """Add copies of the nodes of `g` but its output.

        Args:
            val_map: what stands for nodes of `g`, which are not copied; the copies are added.
            return_output_node: whether the output node of `g` is wanted, too.

        Returns: what `g` returns, of the copies; None if it has no output.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_nodes(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def erase_node(self, node: Node) -> None:
        """Remove a node.

        Raises: RuntimeError if its value is still in use, or if it is not of this graph.
        """
        if node.users:
            raise RuntimeError(f"node {node} is still used by {', '.join(map(str, node.users))}")
        if node.graph is not self:
            raise RuntimeError(f"node {node} belongs to another graph")
        if node.erased:
            return
        if self._insert_before is node:
            self._insert_before = node.next
        node.args, node.kwargs = (), {}
        node._unlink()
        node.erased = True
        self._length -= 1

    @contextmanager
    def inserting_before(self, n: Node | None = None) -> Iterator[None]:
        """Within the block new nodes go before `n` (None: to the beginning)."""
        saved, self._insert_before = self._insert_before, n or self._root.next
        try:
            yield
        finally:
            self._insert_before = saved

    @contextmanager
    def inserting_after(self, n: Node | None = None) -> Iterator[None]:
        """Within the block new nodes go after `n` (None: to the beginning), in order."""
        with self.inserting_before((n or self._root).next):
            yield

    def find_nodes(
        self, *, op: str, target: Target | None = None, sort: bool = True
    ) -> list[Node]:
        """The nodes of that kind, and with that target unless it is None; always in order."""
        return [node for node in self.nodes
                if node.op == op and (target is None or node.target == target)]

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase what nothing uses, placeholders and impure nodes apart. Returns: whether any."""
        is_impure = Node.is_impure if is_impure_node is None else is_impure_node
        before = self._length
        for node in reversed(self.nodes):
            if not node.users and node.op not in ("placeholder", "output") and not is_impure(node):
                self.erase_node(node)
        return self._length < before

    def process_inputs(self, *args: Any) -> tuple[Any, ...]:
        """One value for each placeholder, of a call's arguments."""
        return args if self.signature is None else tuple(self.signature.flatten(args))

    def process_outputs(self, outputs: Any) -> Any:
        """What a call returns, of the output node's value."""
        return outputs if self.signature is None else self.signature.result(outputs)

    def python_code(self, root_module: str = "self") -> PythonCode:
        """The graph as a function `forward`: its text, and the names that this needs."""
        if root_module != "self":
            raise ValueError(f"the module is called self in generated code, not {root_module!r}")
        return source_of(self, {})

    def copy(self) -> tuple[Graph, dict[Node, Node]]:
        """A copy with the same names, and the map from old nodes to new."""
        graph = Graph()
        graph.signature = self.signature
        new: dict[Node, Node] = {}
        for node in self.nodes:
            new[node] = graph.node_copy(node, new.__getitem__)
        return graph, new

    def lint(self) -> None:
        """Raises: GraphError if the graph is not well formed.

        `GraphModule.lint` also checks that the module has the constants.
        """
        check(self)

    def print_tabular(self) -> None:
        """Print the graph as a table."""
        print(self)

    def __str__(self) -> str:
        return table_of(self)

    def _repr_html_(self) -> str:
        notebook = import_module("graphwright.report.notebook")
        html: str = notebook.graph_html(self, describe, str(self))
        return html

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        result, nodes = self.copy()
        memo[id(self)] = result
        memo.update({id(old): new for old, new in nodes.items()})
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as a list of nodes, without their `meta`."""
        places = {node: _Place(place) for place, node in enumerate(self.nodes)}
        rows = [(node.op, node.target, map_nodes(node.args, places.__getitem__),
                 map_nodes(node.kwargs, places.__getitem__), node.name, node.type)
                for node in self.nodes]
        return _rebuilt, (rows, self.signature)

    def _unique(self, name: str) -> str:
        """`name`, with another number at its end where it is taken or reserved."""
        base, number = _numbered(name)
        if number is None or name in self._names:
            number = self._counts.get(base, 0)
            if name in _RESERVED:
                number += 1
                name = f"{base}_{number}"
        while name in self._names:
            number += 1
            name = f"{base}_{number}"
        self._names.add(name)
        self._counts[base] = number
        return name


class Nodes:
    """The nodes of a graph in order, as a view."""

    __slots__ = ("_graph",)

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __len__(self) -> int:
        return self._graph._length

    def __iter__(self) -> Iterator[Node]:
        root = self._graph._root
        node = root._next
        while node is not root:
            following = node._next
            yield node
            node = following if node.erased else node._next

    def __reversed__(self) -> Iterator[Node]:
        root = self._graph._root
        node = root._prev
        while node is not root:
            following = node._prev
            yield node
            node = following if node.erased else node._prev


class _Place(int):
    """The place of a node in its graph, in a pickle."""


def _rebuilt(rows: list[tuple[Any, ...]], signature: Signature | None) -> Graph:
    graph = Graph()
    graph.signature = signature
    nodes: list[Node] = []

    def known(leaf: Any) -> Any:
        return nodes[leaf] if type(leaf) is _Place else leaf

    for op, target, args, kwargs, name, kind in rows:
        nodes.append(graph.create_node(
            op, target, map_leaves(args, known), map_leaves(kwargs, known), name, kind))
    return graph


def _of_target(target: Target) -> str:
    """The name for the value of a target: `relu`, `add` of `__add__`, `my_layer` of `myLayer`."""
    if isinstance(target, str):
        text = target
    else:
        name = getattr(target, "name", None) or getattr(target, "__name__", None)
        text = str(name or type(target).__name__)
    return _snake_case(text)


@lru_cache(maxsize=4096)
def _snake_case(text: str) -> str:
    if text.startswith("__") and text.endswith("__"):
        text = text[2:-2]
    return _identifier(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower())


@lru_cache(maxsize=4096)
def _identifier(text: str) -> str:
    """`text` with underscores for what no name may contain."""
    text = re.sub(r"[^0-9a-zA-Z_]+", "_", text) or "_unnamed"
    return f"_{text}" if text[0].isdigit() else text


@lru_cache(maxsize=4096)
def _numbered(name: str) -> tuple[str, int | None]:
    """A name without the number at its end, and this."""
    base, _, number = name.rpartition("_")
    return (base, int(number)) if base and number.isdigit() else (name, None)
