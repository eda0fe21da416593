"""`GraphModule`."""

from graphwright.ir.graph_module import GraphModule

__all__ = ["GraphModule"]
