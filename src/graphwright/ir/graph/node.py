"""`Node`: one step of a graph.

There are six kinds, which `op` names:

    placeholder     an argument of the graph; `target` is its name
    get_attr        a constant held by the module; `target` is its path
    call_function   target(*args, **kwargs); `target` is an `Op` or any other callable
    call_method     getattr(args[0], target)(*args[1:], **kwargs)
    call_module     the submodule at path `target`, called
    output          returns args[0]

`args` and `kwargs` hold nodes, constants, and tuples, lists, dicts and slices of them; lists and
dicts are held as immutable ones, of other classes of dicts those that have nodes. The args of a
placeholder are its default, if it has one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Union

from graphwright.ir.graph.immutable import immutable_dict, immutable_list
from graphwright.runtime.tensor.dtypes import dtype
from graphwright.runtime.torch_check import _assert

if TYPE_CHECKING:
    from graphwright.ir.graph.graph import Graph

Target: TypeAlias = Union[Callable[..., Any], str]
F = TypeVar("F", bound=Callable[..., Any])

OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")

RECOMPUTED = "recomputed"
"""The key of a node's meta that says to recompute it for gradients, and keep its inputs."""

ROUND = "round"
"""The key of a node's meta that has the number of its round: see `ir.rounds`."""


_ATOMS = frozenset({int, float, bool, str, type(None), dtype})
LISTS = frozenset({list, immutable_list})
DICTS = frozenset({dict, immutable_dict})


def map_nodes(value: Any, function: Callable[[Node], Any]) -> Any:
    """`value` with `function` applied to every node in it, as `map_leaves` applies it."""
    kind = type(value)
    if kind is Node:
        return function(value)
    if kind is tuple:
        return tuple([
            item if type(item) in _ATOMS else map_nodes(item, function) for item in value])
    return map_leaves(value, lambda leaf: function(leaf) if type(leaf) is Node else leaf)


def map_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """`value` with `function` applied to what is in it; containers keep their kind.

    Numbers, strings, dtypes and None stay as they are. Immutable lists and dicts become plain.
    """
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is tuple:
        return tuple([
            item if type(item) in _ATOMS else map_leaves(item, function) for item in value])
    if kind in LISTS:
        return [map_leaves(item, function) for item in value]
    if kind in DICTS:
        return {key: map_leaves(item, function) for key, item in value.items()}
    if kind is slice:
        return slice(*(map_leaves(p, function) for p in (value.start, value.stop, value.step)))
    if isinstance(value, tuple):
        items = [map_leaves(item, function) for item in value]
        return kind(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return _other_dict(value, {key: map_leaves(item, function) for key, item in value.items()})
    return function(value)


def _other_dict(value: dict[Any, Any], items: dict[Any, Any]) -> Any:
    """Of a dict of another class, `items` in a plain one; itself if they are those it has."""
    same = all([items[key] is value[key] for key in items])
    return value if same else items


def _frozen(value: Any, found: dict[Node, None]) -> Any:
    """`value` with immutable lists and dicts in it; its nodes are added to `found`, in order."""
    kind = type(value)
    if kind is Node:
        found[value] = None
        return value
    if kind in _ATOMS:
        return value
    if kind in LISTS:
        return immutable_list([_frozen(item, found) for item in value])
    if kind in DICTS:
        return immutable_dict({key: _frozen(item, found) for key, item in value.items()})
    if kind is slice:
        return slice(*[_frozen(part, found) for part in (value.start, value.stop, value.step)])
    if isinstance(value, tuple):
        items = [item if type(item) in _ATOMS else _frozen(item, found) for item in value]
        if all(map(operator.is_, items, value)):
            return value
        return kind(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):     # of another class
        inner: dict[Node, None] = {}
        frozen = {key: _frozen(item, inner) for key, item in value.items()}
        found.update(inner)
        return immutable_dict(frozen) if inner else value
    return value


_NO_KWARGS: immutable_dict[str, Any] = immutable_dict()

_WRITES = frozenset({
    operator.setitem, operator.delitem, operator.iadd, operator.isub, operator.imul,
    operator.imatmul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow,
    operator.ilshift, operator.irshift, operator.iand, operator.ior, operator.ixor,
})  # fmt: skip


_IMPURE: set[Callable[..., Any]] = {_assert}


map_aggregate, map_arg = map_leaves, map_nodes


def has_side_effect(function: F) -> F:
    """Keep calls of `function` in graphs although nothing uses their value; also a decorator."""
    _IMPURE.add(function)
    return function


class Node:
    """One step of a graph; made by the methods of `Graph`.

    Attributes:
        graph: the graph it belongs to.
        name: unique in the graph; the variable that holds its value in `GraphModule.code`.
        op, target: see the module's docstring.
        type: what the program annotates its value with, or None.
        users: the nodes that take this one's value, in order of their first use (dict as set).
        meta: what is known of it. Keys in use: "val" (its value on fake tensors), "source" (of
            a placeholder: where capture found it), "stack" (filename, line number, source text),
            "part_of" (of a part of a decomposed op: the name of that op).
    """

    __slots__ = ("__dict__", "__weakref__", "_args", "_inputs", "_kwargs", "_next", "_prev",
                 "erased", "graph", "meta", "name", "op", "target", "type", "users")

    def __init__(
        self, graph: Graph, name: str, op: str, target: Target,
        args: tuple[Any, ...], kwargs: Mapping[str, Any], type: Any = None,
    ) -> None:
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = type
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
    def kwargs(self, kwargs: Mapping[str, Any]) -> None:
        self._set(self._args, kwargs)

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

    def _set(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        for node in self._inputs:
            node.users.pop(self, None)
        inputs: dict[Node, None] = {}
        for arg in args:
            kind = type(arg)
            if kind is Node:
                inputs[arg] = None
            elif kind not in _ATOMS:
                args = _frozen(args, inputs)
                break
        self._args, self._inputs = args, inputs
        self._kwargs = _frozen(dict(kwargs), inputs) if kwargs else _NO_KWARGS
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
        """Whether it has an effect besides its value, judged by its target.

        Placeholders, the output, writes in place, changes of a mode, which give nothing, and what
        `has_side_effect` names do; a random draw does not. A submodule does if its `_is_impure`
        says so, or if the graph belongs to no module.
        """
        if self.op == "call_module":
            owner = self.graph.owning_module
            called = None if owner is None else owner.attr(str(self.target))
            return called is None or bool(getattr(called, "_is_impure", False))
        if self.op not in ("call_function", "call_method"):
            return self.op != "get_attr"
        if self.target in _IMPURE:
            return True
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
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] = lambda user: True, *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Make the users of this node, those for which `delete_user_cb` holds, take another.

        `replace_with` itself goes on taking this node. With `propagate_meta` it gets this node's
        facts. Returns: the nodes that were changed.
        """
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users
                   if user is not replace_with and delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    @property
    def stack_trace(self) -> str | None:
        """Where the program computes it, as text; None if that is not known."""
        if "stack_trace" in self.meta or "stack" not in self.meta:
            return self.meta.get("stack_trace")
        filename, line, text = self.meta["stack"]
        return f'File "{filename}", line {line}\n    {text}'

    @stack_trace.setter
    def stack_trace(self, text: str | None) -> None:
        self.meta["stack_trace"] = text

    def format_node(self) -> str:
        """The node on one line: name, number of users, kind, target and arguments."""
        arguments = ""
        if self.op not in ("placeholder", "get_attr", "output"):
            arguments = f"(args = {_shown(self.args)}, kwargs = {_shown(self.kwargs)})"
        if self.op == "output":
            return f"return {_shown(self.args[0])}"
        target = getattr(self.target, "__name__", self.target)
        return (f"%{self.name} : [num_users={len(self.users)}] = "
                f"{self.op}[target={target}]{arguments}")

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


def _shown(value: Any) -> str:
    """Arguments as text in which nodes are marked by a percent sign."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join([f'{key}: {_shown(item)}' for key, item in value.items()])}}}"
    return str(value)
