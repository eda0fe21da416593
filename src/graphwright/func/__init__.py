"""Functions of functions, after `torch.func`: gradients of plain functions of tensors."""

from __future__ import annotations

from graphwright.func.gradients import grad, grad_and_value, vjp
from graphwright.func.jacobians import hessian, jacfwd, jacrev, jvp, linearize
from graphwright.func.tracking import Func as _Func
from graphwright.nn.layers.batch_norm import _BatchNorm
from graphwright.nn.module import Module
from graphwright.nn.utils.stateless import functional_call
from graphwright.runtime.batching.vmap import stack_module_state, vmap

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]


def functionalize(func: _Func, *, remove: str = "mutations") -> _Func:
    """The function itself: captured graphs are free of in-place changes whatever their source.

    Args:
        func: a function.
        remove: "mutations" or "mutations_and_views".

    Returns: `func`.

    Raises:
        RuntimeError: `remove` is neither.

    Example:
        >>> gw.func.functionalize(gw.sin)(gw.tensor(0.0))
        tensor(0.)
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}"
        )
    return func


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Batch normalisations of a module made to use the batch's statistics, in place.

    Under `vmap` running statistics, which all examples share, cannot be updated by each of
    them.

    Args:
        root: a Module; it and all modules within are changed.

    Returns: `root`.

    Example:
        >>> gw.func.replace_all_batch_norm_modules_(nn.BatchNorm1d(2)).running_mean is None
        True
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
