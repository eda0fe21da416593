"""`Function`: operations with a gradient of the user's own, after `torch.autograd.function`."""

from graphwright.runtime.tape.function import (
    Function,
    FunctionContext,
    FunctionCtx,
    once_differentiable,
)

__all__ = ["Function", "FunctionContext", "FunctionCtx", "once_differentiable"]
