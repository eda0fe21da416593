"""Tensors and arrays, modules, and this package's own functions."""
