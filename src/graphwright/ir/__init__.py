"""The graph between capture and code generation: nodes, passes over them, and how they print.

    graph, node, graph_module   the data: `Graph`, `Node`, `GraphModule`
    interpreter                 runs a graph node by node; analyses are subclasses of it
    printing, lint              as Python text and tables; is it well formed?
    trace                       runs a graph or function on fake tensors and records its ops
    joint, partition            forward and backward as one graph; split in two
    passes, pipeline            one rewrite per file; the list of them, in order
"""

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.lint import GraphError, lint
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_nodes

__all__ = ["Graph", "GraphError", "GraphModule", "Interpreter", "Node", "lint", "map_nodes"]
