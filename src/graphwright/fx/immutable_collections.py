"""The lists and dicts that the arguments of nodes are held in."""

from graphwright.ir.graph.immutable import immutable_dict, immutable_list

__all__ = ["immutable_dict", "immutable_list"]
