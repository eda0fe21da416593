"""Reverse-mode differentiation: the tape, the engine, grad modes, custom functions.

`forward_ad`, `functional`, `gradcheck` and `gradgradcheck` are imported when they are first asked
for.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from graphwright.autograd import graph
from graphwright.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from graphwright.autograd.variable import Variable
from graphwright.runtime.naming import missing as _missing
from graphwright.runtime.tape import hooks, inplace
from graphwright.runtime.tape.anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from graphwright.runtime.tape.engine import backward, grad
from graphwright.runtime.tape.function import Function, once_differentiable
from graphwright.runtime.tape.node import Node

if TYPE_CHECKING:
    import graphwright.autograd.forward_ad as forward_ad
    import graphwright.autograd.function as function
    import graphwright.autograd.functional as functional
    from graphwright.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "Node",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "hooks",
    "inference_mode",
    "inplace",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "once_differentiable",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def __getattr__(name: str) -> Any:
    if name in ("forward_ad", "function", "functional", "profiler"):
        return _import_module(f"graphwright.autograd.{name}")
    if name not in ("gradcheck", "gradgradcheck", "GradcheckError"):
        raise _missing(__name__, name)
    module = _import_module("graphwright.autograd.gradcheck")
    globals().update(
        gradcheck=module.gradcheck,
        gradgradcheck=module.gradgradcheck,
        GradcheckError=module.GradcheckError,
    )
    return globals()[name]
