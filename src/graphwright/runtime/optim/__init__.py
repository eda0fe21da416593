"""Optimisers, after `torch.optim`."""

from graphwright.runtime.optim.adam import Adam, AdamW
from graphwright.runtime.optim.optimizer import Optimizer
from graphwright.runtime.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
