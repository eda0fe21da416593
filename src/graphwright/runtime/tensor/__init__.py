"""Tensor: its type, memory, dtypes and devices, how it is made, indexed and printed."""
