"""`Proxy`: a value that is not known yet, and records what a program does with it."""

from __future__ import annotations

import dataclasses
import enum
import opcode
import operator
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.node import Node, Target, map_leaves
from graphwright.nn.parameter import Parameter
from graphwright.overrides import is_tensor_method_or_property
from graphwright.runtime.ops.table import Op
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.device import device
from graphwright.runtime.tensor.dtypes import dtype
from graphwright.runtime.tensor.memory_format import layout, memory_format
from graphwright.runtime.tensor.tensor import Tensor

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "Scope", "TraceError",
           "TracerBase"]

_PLAIN = (str, int, float, bool, complex, bytes, dtype, device, layout, memory_format, Tensor, Op,
          SymInt, enum.Enum, type(None), type(...))
"""Values that arguments of nodes may be as they are."""


class TraceError(ValueError):
    """A program asked for something of a traced value that only a real one has."""


class Scope(NamedTuple):
    """The module whose call is traced: its path and its class; ("", None) outside of one."""

    module_path: str
    module_type: type | None


class TracerBase:
    """Makes nodes of operations on proxies; what tracers have in common.

    Attributes:
        graph: where the nodes go.
        record_stack_traces: note on each node which line of the program made it.
        scope, module_stack: the module whose call is traced, and those around it.
        node_name_to_scope: the scope in which each node was made.
    """

    graph: Graph
    record_stack_traces: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"

    def __init__(self) -> None:
        self.scope = Scope("", None)
        self.module_stack: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self.node_name_to_scope: dict[str, Scope] = {}

    def create_node(
        self, kind: str, target: Target, args: tuple[Any, ...], kwargs: Mapping[str, Any],
        name: str | None = None, type_expr: Any = None,
    ) -> Node:
        """Add a node; override it to check or change what is recorded."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = self.scope
        if self.module_stack:
            node.meta["nn_module_stack"] = self.module_stack.copy()
        if self.record_stack_traces:
            frame = _user_frame()
            if frame is not None:
                node.stack_trace = (
                    f'File "{frame.f_code.co_filename}", line {frame.f_lineno}, '
                    f"in {frame.f_code.co_name}")
        return node

    def proxy(self, node: Node) -> Proxy:
        """The value of a node; override it for proxies of another class."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Target, args: tuple[Any, ...], kwargs: Mapping[str, Any],
        name: str | None = None, type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Any:
        """A proxy of a new node; `args` and `kwargs` may hold proxies."""
        node = self.create_node(
            kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Any:
        """A value as an argument of a node.

        Raises: NotImplementedError for one of a type that graphs do not hold.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(item) for key, item in a.items()}
        if isinstance(a, slice):
            return slice(*map(self.create_arg, (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(*map(self.create_arg, (a.start, a.stop, a.step)))
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {part.name: self.create_arg(getattr(a, part.name))
                      for part in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        if isinstance(a, _PLAIN):
            return a
        raise NotImplementedError(f"a {type(a).__name__} cannot be an argument of a node: {a!r}")

    def _key(self, key: Any) -> Any:
        def refuse(node: Node) -> NoReturn:
            raise RuntimeError(f"a key of a dict depends on the traced value {node}")

        return map_leaves(self.create_arg(key),
                          lambda leaf: refuse(leaf) if isinstance(leaf, Node) else leaf)

    def to_bool(self, obj: Proxy) -> bool:
        """The truth of a traced value; override it to decide. Raises: TraceError."""
        raise TraceError(
            f"the program branches on {obj}, whose value is not known while it is traced: `if`, "
            "`while`, `and`, `or`, `not` and `assert` need one; give the argument that decides "
            "by concrete_args, hide the branch in a function marked by fx.wrap, or use "
            "gw.where or gw.cond")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """The items of a traced value; override it to give some. Raises: TraceError."""
        raise TraceError(
            f"the program iterates over {obj}, whose length is not known while it is traced, in "
            "a loop or as *args; loop over a range of a known length and index, or hide the loop "
            "in a function marked by fx.wrap")

    def keys(self, obj: Proxy) -> Any:
        """What `proxy.keys()` is, also for `**proxy`."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds to a graph what is done with proxies of its nodes."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph


class Proxy:
    """The value of a node, which operations on it are recorded for.

    Operators, indexing, attributes, methods and functions of this library make nodes of the
    tracer's graph, whose values are proxies again. Truth, iteration (but unpacking), `len` and
    conversions to Python's numbers need a real value and are errors.

    Args:
        node: whose value this is.
        tracer: who records; by default one that adds to the node's graph, at its insertion point.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.node = node
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        count = _unpacked(sys._getframe(1))
        if count is not None:
            return iter([self[index] for index in range(count)])  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> int:
        raise RuntimeError(
            f"the length of {self} is not known while it is traced; use .size(0) or .shape, or "
            "call fx.wrap('len') at the top level of the module to record calls of len")

    def keys(self) -> Any:
        """Recorded as a call of the method."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Record a function or method that is given proxies.

        Raises: RuntimeError if they are of different tracers.
        """
        kwargs = kwargs or {}
        tracer = tracer_of(func, args, kwargs)
        assert tracer is not None
        kind = "call_method" if is_tensor_method_or_property(func) else "call_function"
        target = func.__name__ if kind == "call_method" else func
        return tracer.create_proxy(kind, target, tuple(args), kwargs)


class Attribute(Proxy):
    """An attribute of a proxy. Its node is made when it is used other than as a method."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that reads the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy(
                "call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A proxy of a parameter, whose shape is known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Parameter) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    @property
    def shape(self) -> Any:
        """The parameter's shape."""
        return self.param.shape

    @property
    def ndim(self) -> int:
        """The parameter's number of dimensions."""
        return self.param.ndim

    def size(self, *dim: int) -> Any:
        """The parameter's shape, or its size in one dimension."""
        return self.param.size(*dim)

    def dim(self) -> int:
        """The parameter's number of dimensions."""
        return self.param.dim()

    def numel(self) -> int:
        """The parameter's number of elements."""
        return self.param.numel()

    nelement = numel


def tracer_of(function: Callable[..., Any], args: Any, kwargs: Any) -> TracerBase | None:
    """The tracer of the proxies among arguments; None if there are none.

    Raises: RuntimeError if they have different ones.
    """
    tracers: dict[TracerBase, None] = {}

    def look(leaf: Any) -> Any:
        if isinstance(leaf, Proxy):
            tracers[leaf.tracer] = None
        return leaf

    map_leaves((*args, *kwargs.values()), look)
    if len(tracers) > 1:
        raise RuntimeError(f"{function} is given values of {len(tracers)} different traces")
    return next(iter(tracers), None)


_UNPACK = opcode.opmap["UNPACK_SEQUENCE"]


def _unpacked(frame: FrameType) -> int | None:
    """How many variables the frame is about to unpack to; None if it does something else."""
    code, place = frame.f_code.co_code, frame.f_lasti
    return code[place + 1] if code[place] == _UNPACK else None


def _user_frame() -> FrameType | None:
    """The innermost frame of a program."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("graphwright."):
        frame = frame.f_back
    return frame


def _binary(name: str) -> Callable[..., Any]:
    target = getattr(operator, name)

    def record(self: Proxy, *others: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, (self, *others), {})

    return record


def _reflected(name: str) -> Callable[..., Any]:
    target = getattr(operator, name)

    def record(self: Proxy, other: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, (other, self), {})

    return record


_REFLECTABLE = ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift",
                "and_", "or_", "xor", "matmul")
for _name in ("eq", "ne", "lt", "gt", "le", "ge", "pos", "neg", "invert", "getitem",
              *_REFLECTABLE):
    setattr(Proxy, f"__{_name.strip('_')}__", _binary(_name))
for _name in _REFLECTABLE:
    setattr(Proxy, f"__r{_name.strip('_')}__", _reflected(_name))
