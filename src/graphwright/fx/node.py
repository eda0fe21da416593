"""`Node`, and functions over the arguments of nodes."""

from graphwright.ir.graph.node import Node, Target, has_side_effect, map_aggregate, map_arg

__all__ = ["Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]
