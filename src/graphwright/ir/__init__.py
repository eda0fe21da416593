"""The graph between capture and code generation: nodes, passes over them, and how they print.

    graph/              `Graph`, `Node`, `GraphModule`; `Interpreter`, lint and printing
    trace               runs a graph or function on fake tensors and records its ops
    joint/              forward and backward as one graph, and its partition into two
    rules/, passes/     patterns; one rewrite of a graph in each file
    pipeline            the list of passes, in order
"""

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.lint import GraphError, lint
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_nodes

__all__ = ["Graph", "GraphError", "GraphModule", "Interpreter", "Node", "lint", "map_nodes"]
