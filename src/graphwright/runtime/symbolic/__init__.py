"""Integers that are known by their expressions: sizes of tensors, and indices of loops."""
