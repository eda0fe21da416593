"""Ops that run in C: which do, and the gradients that one kernel computes."""
