"""`Graph`: a list of nodes in execution order, and the methods that add to it."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from graphwright.ir.lint import check
from graphwright.ir.node import Node, Target, map_nodes
from graphwright.ir.printing import table_of

_RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"self", "ops", "device"}


class Graph:
    """Nodes in execution order. New ones go to the insertion point, which is the end at first.

    Names are given in order and depend on nothing else, so that the same steps print the same.
    """

    def __init__(self) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert_before = self._root
        self._names: dict[str, int] = {}
        self._length = 0

    @property
    def nodes(self) -> Nodes:
        """The nodes in order: iterable, reversible, with a length. Erasing on the way is fine."""
        return Nodes(self)

    def placeholder(self, name: str) -> Node:
        """Add an argument."""
        return self.create_node("placeholder", name, (), {}, name)

    def get_attr(self, path: str, name: str | None = None) -> Node:
        """Add a constant that the module holds under `path`."""
        return self.create_node("get_attr", path, (), {}, name)

    def call_function(
        self, target: Callable[..., Any], args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None, name: str | None = None,
    ) -> Node:
        """Add target(*args, **kwargs)."""
        return self.create_node("call_function", target, args, kwargs, name)

    def call_method(
        self, target: str, args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None, name: str | None = None,
    ) -> Node:
        """Add getattr(args[0], target)(*args[1:], **kwargs)."""
        return self.create_node("call_method", target, args, kwargs, name)

    def call_module(
        self, target: str, args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None, name: str | None = None,
    ) -> Node:
        """Add a call of the module's submodule at path `target`."""
        return self.create_node("call_module", target, args, kwargs, name)

    def output(self, value: Any) -> Node:
        """Add the result: a node, or tuples, lists and dicts of nodes and constants."""
        return self.create_node("output", "output", (value,), {}, "output")

    @property
    def output_node(self) -> Node:
        """The output node. Raises: ValueError if there is none yet."""
        for node in reversed(self.nodes):
            if node.op == "output":
                return node
        raise ValueError("the graph has no output node")

    def set_results(self, results: Sequence[Any]) -> None:
        """Make the graph return a tuple of these instead."""
        node = self.output_node
        node.args = (tuple(results),)
        node.meta["val"] = tuple(
            [r.meta.get("val") if isinstance(r, Node) else r for r in results])

    @property
    def placeholders(self) -> list[Node]:
        """The arguments, in order."""
        return [node for node in self.nodes if node.op == "placeholder"]

    def create_node(
        self, op: str, target: Target, args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None, name: str | None = None,
    ) -> Node:
        """Add a node of any kind at the insertion point, named after `name` or its target."""
        node = Node(self, self._unique(_base_name(name or target)), op, target, args, kwargs or {})
        self._insert_before.prepend(node)
        self._length += 1
        return node

    def node_copy(self, node: Node, value_of: Callable[[Node], Any]) -> Node:
        """Add a copy of a node of another graph, with `value_of` in place of its inputs."""
        copy = self.create_node(node.op, node.target, map_nodes(node.args, value_of),
                                map_nodes(node.kwargs, value_of), node.name)
        copy.meta = dict(node.meta)
        return copy

    def erase_node(self, node: Node) -> None:
        """Remove a node. Raises: ValueError if its value is still in use."""
        if node.users:
            raise ValueError(f"node {node} is still used by {', '.join(map(str, node.users))}")
        if node.erased:
            return
        if self._insert_before is node:
            self._insert_before = node.next
        node.args, node.kwargs = (), {}
        node._unlink()
        node.erased = True
        self._length -= 1

    @contextmanager
    def inserting_before(self, node: Node | None = None) -> Iterator[None]:
        """Within the block new nodes go before `node` (None: to the beginning)."""
        saved, self._insert_before = self._insert_before, node or self._root.next
        try:
            yield
        finally:
            self._insert_before = saved

    @contextmanager
    def inserting_after(self, node: Node | None = None) -> Iterator[None]:
        """Within the block new nodes go after `node` (None: to the beginning), in order."""
        with self.inserting_before((node or self._root).next):
            yield

    def find_nodes(self, *, op: str, target: Target | None = None) -> list[Node]:
        """The nodes of that kind, and with that target unless it is None, in order."""
        return [node for node in self.nodes
                if node.op == op and (target is None or node.target == target)]

    def eliminate_dead_code(self, is_impure: Callable[[Node], bool] = Node.is_impure) -> int:
        """Erase what nothing uses, placeholders and impure nodes apart. Returns: how many."""
        erased = 0
        for node in reversed(self.nodes):
            if not node.users and node.op not in ("placeholder", "output") and not is_impure(node):
                self.erase_node(node)
                erased += 1
        return erased

    def copy(self) -> tuple[Graph, dict[Node, Node]]:
        """A copy with the same names, and the map from old nodes to new."""
        graph = Graph()
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

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        memo[id(self)] = result = self.copy()[0]
        return result

    def _unique(self, base: str) -> str:
        count = self._names.get(base)
        if count is None and base not in _RESERVED:
            self._names[base] = 0
            return base
        count = count or 0
        while True:
            count += 1
            name = f"{base}_{count}"
            if name not in self._names:
                self._names[base] = count
                self._names[name] = 0
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


def _base_name(target: Target) -> str:
    if isinstance(target, str):
        text = target
    else:
        name = getattr(target, "name", None) or getattr(target, "__name__", None)
        text = str(name or type(target).__name__)
    return _identifier(text)


@lru_cache(maxsize=4096)
def _identifier(text: str) -> str:
    """A name in lower case that begins with a letter or an underscore."""
    text = re.sub(r"\W", "_", text).strip("_").lower() or "value"
    return f"_{text}" if text[0].isdigit() else text
