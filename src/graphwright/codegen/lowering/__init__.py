"""Lowering: from ops of a graph to loop-level nodes. One file of rules per op family."""
