"""Eager tensors: the C core, dtypes and devices, the op table, autograd, nn and optim."""
