"""Reverse-mode differentiation: the tape, the engine, grad modes, custom functions."""

from graphwright.runtime.autograd import hooks, inplace
from graphwright.runtime.autograd.engine import backward, grad
from graphwright.runtime.autograd.function import Function, once_differentiable
from graphwright.runtime.autograd.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from graphwright.runtime.autograd.node import Node

__all__ = [
    "Function",
    "Node",
    "backward",
    "enable_grad",
    "grad",
    "hooks",
    "inference_mode",
    "inplace",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "once_differentiable",
    "set_grad_enabled",
]
