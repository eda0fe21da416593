"""Optimisers, after `torch.optim`. All but SGD and Adam are imported when first asked for."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from graphwright.optim.adam import Adam, AdamW
from graphwright.optim.optimizer import Optimizer
from graphwright.optim.sgd import SGD
from graphwright.runtime.naming import missing as _missing

if TYPE_CHECKING:
    from graphwright.optim import lr_scheduler, swa_utils
    from graphwright.optim.adaptive import Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop
    from graphwright.optim.averaged import ASGD, Rprop
    from graphwright.optim.factored import Adafactor, Muon
    from graphwright.optim.lbfgs import LBFGS
    from graphwright.optim.sparse_adam import SparseAdam

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
    module = _import_module(f"graphwright.optim.{_MODULES[name]}")
    value = globals()[name] = getattr(module, name)
    return value
