"""Graphs of Python functions and modules by symbolic tracing, after `torch.fx`.

    proxy, tracer       values that record what is done with them, and who follows a call
    interception        how library functions get to know that they are given such values
    interpreter         `Transformer`: from graph to graph
    subgraph_rewriter   `replace_pattern`
    passes              shapes of a graph's values

`Graph`, `Node`, `GraphModule` and `Interpreter` are those of `graphwright.ir`, which compiled code
is made of, too: a graph that is traced here can be compiled, and a graph that capture hands to a
backend can be edited with what is here.
"""

from graphwright.fx import graph, graph_module, immutable_collections, node, proxy
from graphwright.fx._symbolic_trace import (
    PH,
    ProxyableClassMeta,
    Tracer,
    symbolic_trace,
    wrap,
)
from graphwright.fx.interpreter import Interpreter, Transformer
from graphwright.fx.proxy import Proxy, TraceError
from graphwright.fx.subgraph_rewriter import replace_pattern
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, has_side_effect, map_arg

__all__ = [
    "PH", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "ProxyableClassMeta",
    "TraceError", "Tracer", "Transformer", "graph", "graph_module", "has_side_effect",
    "immutable_collections", "map_arg", "node", "proxy", "replace_pattern", "symbolic_trace",
    "wrap",
]
