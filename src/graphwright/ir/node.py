"""`Node`: one step of a graph.

There are six kinds, told apart by `op`:

    placeholder     an argument of the graph; `target` is its name
    get_attr        a constant held by the module; `target` is its path
    call_function   target(*args, **kwargs); `target` is an `Op` or any other callable
    call_method     getattr(args[0], target)(*args[1:], **kwargs)
    call_module     the submodule at path `target`, called
    output          returns args[0]

`args` and `kwargs` hold nodes, constants, and tuples, lists, dicts and slices of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from graphwright.runtime.dtypes import dtype

if TYPE_CHECKING:
    from graphwright.ir.graph import Graph

Target: TypeAlias = Union[Callable[..., Any], str]

OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")

RECOMPUTED = "recomputed"
"""The key of a node's meta that says to compute it again for gradients, and keep its inputs."""


_ATOMS = frozenset({int, float, bool, str, type(None), dtype})


def map_nodes(value: Any, function: Callable[[Node], Any]) -> Any:
    """`value` with `function` applied to every node in it; containers keep their kind."""
    return map_leaves(value, lambda leaf: function(leaf) if type(leaf) is Node else leaf)


def map_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """`value` with `function` applied to what is in it; containers keep their kind.

    Numbers, strings, dtypes and None stay as they are.
    """
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is tuple:
        return tuple([map_leaves(item, function) for item in value])
    if kind is list:
        return [map_leaves(item, function) for item in value]
    if kind is dict:
        return {key: map_leaves(item, function) for key, item in value.items()}
    if kind is slice:
        return slice(*(map_leaves(p, function) for p in (value.start, value.stop, value.step)))
    if isinstance(value, tuple):
        items = [map_leaves(item, function) for item in value]
        return kind(*items) if hasattr(value, "_fields") else tuple(items)
    return function(value)


def collect_nodes(value: Any, found: dict[Node, None]) -> None:
    """Add the nodes in `value` to `found`, in order."""
    kind = type(value)
    if kind is Node:
        found[value] = None
    elif kind in _ATOMS:
        return
    elif isinstance(value, (tuple, list)):
        for item in value:
            collect_nodes(item, found)
    elif kind is dict:
        for item in value.values():
            collect_nodes(item, found)
    elif kind is slice:
        collect_nodes((value.start, value.stop, value.step), found)


_WRITES = frozenset({
    operator.setitem, operator.delitem, operator.iadd, operator.isub, operator.imul,
    operator.imatmul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    operator.ilshift, operator.irshift, operator.iand, operator.ior, operator.ixor,
})  # fmt: skip


class Node:
    """One step of a graph; made by the methods of `Graph`.

    Attributes:
        graph: the graph it belongs to.
        name: unique in the graph; the variable that holds its value in `GraphModule.code`.
        op, target: see the module's docstring.
        users: the nodes that take this one's value, in order of their first use (dict as set).
        meta: what is known of it. Keys in use: "val" (its value on fake tensors), "source" (of
            a placeholder: where capture found it), "stack" (filename, line number, source text).
    """

    __slots__ = ("_args", "_inputs", "_kwargs", "_next", "_prev", "erased", "graph", "meta",
                 "name", "op", "target", "users")

    def __init__(
        self, graph: Graph, name: str, op: str, target: Target,
        args: tuple[Any, ...], kwargs: dict[str, Any],
    ) -> None:
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self.erased = False
        self._prev = self._next = self
        self._inputs: dict[Node, None] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._set(args, kwargs)

    @property
    def args(self) -> tuple[Any, ...]:
        return self._args

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._set(tuple(args), self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._set(self._args, dict(kwargs))

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes whose values it takes, each once, in order."""
        return list(self._inputs)

    def takes(self, node: Node) -> bool:
        """Whether it takes the value of `node`."""
        return node in self._inputs

    @property
    def next(self) -> Node:
        """The node after it (a node whose `op` is "root" at the end)."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before it (a node whose `op` is "root" at the beginning)."""
        return self._prev

    def _set(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for node in self._inputs:
            node.users.pop(self, None)
        inputs: dict[Node, None] = {}
        self._args, self._kwargs, self._inputs = args, kwargs, inputs
        collect_nodes(args, inputs)
        if kwargs:
            collect_nodes(kwargs, inputs)
        for node in inputs:
            node.users[self] = None

    def update_arg(self, position: int, value: Any) -> None:
        """Take `value` as that positional argument. Raises: IndexError if there is none."""
        args = list(self._args)
        args[position] = value
        self.args = tuple(args)

    def insert_arg(self, position: int, value: Any) -> None:
        """Take `value` as a further positional argument, before the one that stands there."""
        args = list(self._args)
        args.insert(position, value)
        self.args = tuple(args)

    def update_kwarg(self, name: str, value: Any) -> None:
        """Take `value` as the argument of that name."""
        self.kwargs = {**self._kwargs, name: value}

    def is_impure(self) -> bool:
        """Whether it does more than give a value, as far as its target's name tells.

        Placeholders, the output, modules, writes in place and changes of a mode, which give
        nothing, do; a random draw does not.
        """
        if self.op not in ("call_function", "call_method"):
            return self.op != "get_attr"
        name: str = self.target if isinstance(self.target, str) else getattr(
            self.target, "__name__", "")
        in_place = name.endswith("_") and not name.endswith("__")
        return in_place or name.startswith("set_") or self.target in _WRITES

    def replace_input_with(self, old: Node, new: Node) -> None:
        """Take `new` wherever this node takes `old`."""
        def swap(node: Node) -> Node:
            return new if node is old else node
        self._set(map_nodes(self._args, swap), map_nodes(self._kwargs, swap))

    def replace_all_uses_with(
        self, new: Node, where: Callable[[Node], bool] = lambda user: True
    ) -> list[Node]:
        """Make the users of this node, those for which `where` holds, take `new` instead.

        Returns: the nodes that were changed.
        """
        changed = [user for user in self.users if user is not new and where(user)]
        for user in changed:
            user.replace_input_with(self, new)
        return changed

    def append(self, node: Node) -> None:
        """Move `node` directly after this one."""
        self._next.prepend(node)

    def prepend(self, node: Node) -> None:
        """Move `node` directly before this one."""
        node._unlink()
        before = self._prev
        before._next, node._prev = node, before
        node._next, self._prev = self, node

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev
        self._prev = self._next = self

    def __repr__(self) -> str:
        return self.name

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        raise TypeError("nodes are copied with their graph: copy.deepcopy(node.graph)")
