"""`Interpreter`, which runs a graph, and `Transformer`, which makes a graph while it runs one."""

from __future__ import annotations

import inspect
from typing import Any

from graphwright.fx._symbolic_trace import Tracer
from graphwright.fx.proxy import Proxy
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import map_leaves
from graphwright.nn.module import Module

__all__ = ["Interpreter", "Transformer"]


class _Copying(Tracer):
    """The tracer of a transformation: what is a call in the old graph is one in the new."""

    def __init__(self, graph: Graph, root: Module) -> None:
        super().__init__()
        self.graph = graph
        self.root = root
        self.tensor_attrs = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """An interpreter on proxies, which record a new graph.

    Override the method of a kind of node to put something else in its place: it is given proxies,
    and what it computes with them becomes part of the new graph::

        class Double(Transformer):
            def call_function(self, target, args, kwargs):
                return 2 * super().call_function(target, args, kwargs)

        doubled = Double(module).transform()

    Args:
        module: the module whose graph is transformed.
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.signature = module.graph.signature
        self.tracer: Tracer = _Copying(self.new_graph, module)

    def check_arguments(self, args: tuple[Any, ...]) -> None:
        """The proxies of the placeholders are made here; no arguments are given."""

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A proxy of a placeholder of the new graph."""
        default = args[0] if args else inspect.Parameter.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A proxy of the same constant."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A proxy of the same call; of a module that the tracer looks into, of what it does."""
        submodule = self.fetch_attr(target)
        return self.tracer.call_module(submodule, submodule.forward, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A proxy of the same call."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """A module of the new graph, with the attributes of the old one."""
        result = self.run(enable_io_processing=False)
        output = self.new_graph.output(
            map_leaves(result, lambda leaf: leaf.node if isinstance(leaf, Proxy) else leaf))
        output.meta = dict(self.graph.output_node().meta)
        assert isinstance(self.module, GraphModule)
        return GraphModule(self.module, self.new_graph, self.module._get_name())
