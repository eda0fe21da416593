"""Analyses of graphs."""

from graphwright.fx.passes import shape_prop

__all__ = ["shape_prop"]
