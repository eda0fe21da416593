"""Optimisers, after `torch.optim`. All but SGD and Adam are imported when first asked for."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from graphwright.runtime.naming import missing as _missing
from graphwright.runtime.optim.adam import Adam, AdamW
from graphwright.runtime.optim.optimizer import Optimizer
from graphwright.runtime.optim.sgd import SGD

if TYPE_CHECKING:
    from graphwright.runtime.optim import lr_scheduler, swa_utils
    from graphwright.runtime.optim.adaptive import (
        Adadelta,
        Adagrad,
        Adamax,
        NAdam,
        RAdam,
        RMSprop,
    )
    from graphwright.runtime.optim.averaged import ASGD, Rprop
    from graphwright.runtime.optim.factored import Adafactor, Muon
    from graphwright.runtime.optim.lbfgs import LBFGS
    from graphwright.runtime.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]

_MODULES = {
    **dict.fromkeys(("Adadelta", "Adagrad", "Adamax", "NAdam", "RAdam", "RMSprop"), "adaptive"),
    **dict.fromkeys(("ASGD", "Rprop"), "averaged"),
    **dict.fromkeys(("Adafactor", "Muon"), "factored"),
    "LBFGS": "lbfgs",
    "SparseAdam": "sparse_adam",
}


def __getattr__(name: str) -> Any:
    if name in ("lr_scheduler", "swa_utils"):
        return _import_module(f"graphwright.optim.{name}")
    if name not in _MODULES:
        raise _missing(__name__, name)
    module = _import_module(f"graphwright.runtime.optim.{_MODULES[name]}")
    value = globals()[name] = getattr(module, name)
    return value
