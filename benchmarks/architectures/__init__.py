"""Models that `models` and `roofline` measure, each written once for graphwright and PyTorch.

A function here builds a module over the namespace `lib`, which is `graphwright` or `torch`; its
keywords are sizes. `cases` says which sizes are measured, and on which inputs.
"""
