"""Public names of modules that live below `graphwright.runtime`.

`import graphwright.optim.lr_scheduler` gives `graphwright.runtime.optim.lr_scheduler` itself, not
a second copy of it, also where that is not imported before someone asks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

_PUBLIC, _REAL = "graphwright.", "graphwright.runtime."

_DISTRIBUTIONS = (
    *("bernoulli", "beta", "binomial", "categorical", "cauchy", "chi2", "continuous_bernoulli"),
    *("dirichlet", "exponential", "fishersnedecor", "generalized_pareto", "geometric", "gumbel"),
    *("half_cauchy", "half_normal", "independent", "inverse_gamma", "kumaraswamy", "laplace"),
    *("lkj_cholesky", "log_normal", "logistic_normal", "lowrank_multivariate_normal"),
    *("mixture_same_family", "multinomial", "multivariate_normal", "negative_binomial", "normal"),
    *("one_hot_categorical", "pareto", "poisson", "relaxed_bernoulli", "relaxed_categorical"),
    *("studentT", "transformed_distribution", "uniform", "von_mises", "weibull", "wishart"),
)

_ELSEWHERE = {
    **dict.fromkeys([f"distributions.{name}" for name in _DISTRIBUTIONS], "distributions"),
    "amp.autocast_mode": "amp",
    "autograd.anomaly_mode": "autograd.anomaly",
    "autograd.grad_mode": "autograd.modes",
    "autograd.profiler": "profiler",
    "nn.utils.spectral_norm": "nn.utils.weight_norm",
    "optim.adadelta": "optim.adaptive",
    "optim.adagrad": "optim.adaptive",
    "optim.adamax": "optim.adaptive",
    "optim.adamw": "optim.adam",
    "optim.asgd": "optim.averaged",
    "optim.nadam": "optim.adaptive",
    "optim.radam": "optim.adaptive",
    "optim.rmsprop": "optim.adaptive",
    "optim.rprop": "optim.averaged",
    "return_types": "ops.return_types",
    "utils._pytree": "pytree",
    "utils.data._utils": "utils.data",
    "utils.data._utils.collate": "utils.data.collate",
    "utils.data.dataloader": "utils.data.loader",
    "utils.data.distributed": "utils.data.sampler",
}
"""PyTorch's names of modules whose contents stand in others here."""


def _real_name(name: str) -> str:
    rest = name.removeprefix(_PUBLIC)
    return _REAL + _ELSEWHERE.get(rest, rest)


class _Loader:
    """Gives the module of the real name, and leaves it as it is."""

    def __init__(self) -> None:
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(_real_name(spec.name))
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class Aliases:
    """Finds the modules of the given folders by their public names."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = frozenset(folders)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for names of other modules, and for what does not exist."""
        parts = name.split(".")
        if len(parts) < 2 or parts[0] != "graphwright" or parts[1] not in self._folders:
            return None
        real = _real_name(name)
        parent, _, last = real.rpartition(".")
        finder = import_module(parent)
        if real in sys.modules:
            return ModuleSpec(name, _Loader())  # type: ignore[arg-type]
        for place in getattr(finder, "__path__", ()):
            for entry in sys.meta_path:
                if entry is not self and entry.find_spec(f"{parent}.{last}", [place]):
                    return ModuleSpec(name, _Loader())  # type: ignore[arg-type]
        return None


def install(folders: Sequence[str]) -> None:
    """Share the modules that are imported, and find the others when they are asked for."""
    for name, module in tuple(sys.modules.items()):
        rest = name.removeprefix(_REAL)
        if name.startswith(_REAL) and rest.partition(".")[0] in folders:
            sys.modules[_PUBLIC + rest] = module
    sys.meta_path.insert(0, Aliases(folders))
