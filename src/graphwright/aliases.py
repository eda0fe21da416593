"""Public names of modules that live below `graphwright.runtime`.

`import graphwright.optim.lr_scheduler` gives `graphwright.runtime.optim.lr_scheduler` itself, not
a second copy of it, also where that is not imported before someone asks for it. Where
`graphwright.as_torch` has asked for it, `import torch.optim.lr_scheduler` gives the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_OWN, _REAL = "graphwright", "graphwright.runtime."

FACE = (
    *("_C", "__config__", "_dynamo", "_higher_order_ops", "_inductor", "_utils", "ao"),
    *("compiler", "futures", "fx", "hub", "jit", "torch_version"),
)
"""Public modules that lie where their names say."""

_DISTRIBUTIONS = (
    *("bernoulli", "beta", "binomial", "categorical", "cauchy", "chi2", "continuous_bernoulli"),
    *("dirichlet", "exponential", "fishersnedecor", "generalized_pareto", "geometric", "gumbel"),
    *("half_cauchy", "half_normal", "independent", "inverse_gamma", "kumaraswamy", "laplace"),
    *("lkj_cholesky", "log_normal", "logistic_normal", "lowrank_multivariate_normal"),
    *("mixture_same_family", "multinomial", "multivariate_normal", "negative_binomial", "normal"),
    *("one_hot_categorical", "pareto", "poisson", "relaxed_bernoulli", "relaxed_categorical"),
    *("studentT", "transformed_distribution", "uniform", "von_mises", "weibull", "wishart"),
)

_ABSENT = {
    "algorithms": (
        *("_checkpoint", "_checkpoint.checkpoint_wrapper", "ddp_comm_hooks", "join"),
        *("model_averaging", "model_averaging.averagers"),
    ),
    "checkpoint": (
        *("_consolidate_hf_safetensors", "default_planner", "format_utils", "hf_storage"),
        *("optimizer", "state_dict", "state_dict_loader"),
    ),
    "fsdp": ("api", "fully_sharded_data_parallel", "sharded_grad_scaler", "wrap"),
    "tensor": ("_utils", "experimental", "experimental._attention", "placement_types"),
}
"""Modules of `distributed` whose own modules are names alone, as they are."""

_ELSEWHERE = {
    **{
        f"distributed.{module}.{own}": f"distributed.{module}"
        for module, names in _ABSENT.items()
        for own in names
    },
    **dict.fromkeys([f"distributions.{name}" for name in _DISTRIBUTIONS], "distributions"),
    "_custom_ops": "library",
    "_jit_internal": "jit",
    **dict.fromkeys(("_subclasses", "_subclasses.fake_tensor"), "fake"),
    **dict.fromkeys(("_C._functorch", "_functorch.vmap", "_functorch"), "batching.functorch"),
    "_tensor": "tensor",
    "_tensor_str": "printing",
    **dict.fromkeys(
        ("_dynamo.decorators", "_dynamo.eval_frame", "_dynamo.utils"), "_dynamo"
    ),
    "amp.autocast_mode": "amp",
    **dict.fromkeys(("ao.nn.quantized", "nn.quantized.modules"), "nn.quantized"),
    "ao.nn": "nn",
    "autograd.anomaly_mode": "autograd.anomaly",
    "autograd.grad_mode": "autograd.modes",
    "autograd.profiler": "profiler",
    **dict.fromkeys(("cuda.graphs", "cuda.memory", "cuda.random"), "cuda"),
    **dict.fromkeys(("jit._script", "jit._trace"), "jit"),
    "distributed._composable": "distributed",
    "distributed._composable.fsdp": "distributed.fsdp",
    "distributed._functional_collectives": "distributed.nn.functional",
    "distributed._tensor": "distributed.tensor",
    "distributed._tensor.experimental": "distributed.tensor",
    "distributed.constants": "distributed.group",
    "distributed.distributed_c10d": "distributed",
    "nn.utils.spectral_norm": "nn.utils.weight_norm",
    **dict.fromkeys(
        ["onnx.symbolic_helper", *(f"onnx.symbolic_opset{version}" for version in range(7, 21))],
        "onnx_symbols",
    ),
    "optim.adadelta": "optim.adaptive",
    "optim.adagrad": "optim.adaptive",
    "optim.adamax": "optim.adaptive",
    "optim.adamw": "optim.adam",
    "optim.asgd": "optim.averaged",
    "optim.nadam": "optim.adaptive",
    "optim.radam": "optim.adaptive",
    "optim.rmsprop": "optim.adaptive",
    "optim.rprop": "optim.averaged",
    "profiler.profiler": "profiler",
    "return_types": "ops.return_types",
    "utils._foreach_utils": "foreach",
    "utils._pytree": "pytree",
    "utils.model_zoo": "hub",
    "utils.data._utils": "utils.data",
    "utils.data._utils.collate": "utils.data.collate",
    "utils.data._utils.pin_memory": "utils.data.collate",
    "utils.data._utils.worker": "utils.data.worker_info",
    "utils.data.dataloader": "utils.data.loader",
    "utils.data.distributed": "utils.data.sampler",
}
"""PyTorch's names of modules whose contents stand in others here."""


def _real_name(rest: str) -> str:
    """The full name of the module that `rest`, a public name below the root, means."""
    real = _ELSEWHERE.get(rest, rest)
    return (f"{_OWN}." if real.partition(".")[0] in FACE else _REAL) + real


class _Loader:
    """Gives the module of the real name, and leaves it as it is."""

    def __init__(self, real: str, found: Callable[[Any], None]) -> None:
        self._real, self._found = real, found
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._real)
        self._spec = getattr(module, "__spec__", None)
        if self._real != _OWN:
            _share(spec.name, self._real)
        return module

    def exec_module(self, module: ModuleType) -> None:
        if self._spec is not None:  # switches, which stand for modules, have none
            module.__spec__ = self._spec
        self._found(module)


def _share(public: str, real: str) -> None:
    """Give the modules that a package has imported below itself their public names, too.

    To import them anew would set attributes of the package, which may be functions by now.
    """
    for name, module in tuple(sys.modules.items()):
        if name.startswith(f"{real}."):
            sys.modules.setdefault(public + name.removeprefix(real), module)


class Aliases:
    """Finds the modules of the given folders by their public names.

    Attributes:
        stand_in: the root, besides "graphwright", of names that mean graphwright's; None of none.
        found: called with the public name ("graphwright.x") and each module that was found.
        lacking: called with each name below `stand_in` that means no module.
        find_distributions: what `importlib.metadata` asks for; None where nothing stands in.
    """

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = frozenset((*folders, *FACE))
        self.stand_in: str | None = None
        self.found: Callable[[str, Any], None] = lambda name, module: None
        self.lacking: Callable[[str], None] = lambda name: None
        self.find_distributions: Callable[[Any], Iterable[Any]] | None = None

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for names of other modules, and for what does not exist."""
        root, _, rest = name.partition(".")
        if root == self.stand_in:
            real = self._real(rest) if rest else _OWN
            if real is None:
                self.lacking(name)
        elif root == _OWN and rest and rest.partition(".")[0] not in FACE:
            real = self._real(rest)
        else:
            return None
        if real is None:
            return None
        public = f"{_OWN}.{rest}" if rest else _OWN
        loader: Any = _Loader(real, lambda module: self.found(public, module))
        return ModuleSpec(name, loader)

    def is_public(self, name: str) -> bool:
        """Whether a full name below "graphwright" is one of those that others may import."""
        return name.split(".")[1] in self._folders

    def _real(self, rest: str) -> str | None:
        """The full name of the module that a public name means, None where there is none."""
        if rest.partition(".")[0] not in self._folders:
            return None
        real = _real_name(rest)
        if real in sys.modules:
            return real
        places = getattr(import_module(real.rpartition(".")[0]), "__path__", ())
        finders = [entry for entry in sys.meta_path if entry is not self]
        there = any(entry.find_spec(real, [place]) for place in places for entry in finders)
        return real if there else None


def install(folders: Sequence[str]) -> Aliases:
    """Share the modules that are imported, and find the others when they are asked for."""
    for name, module in tuple(sys.modules.items()):
        rest = name.removeprefix(_REAL)
        if name.startswith(_REAL) and rest.partition(".")[0] in folders:
            sys.modules[f"{_OWN}.{rest}"] = module
    finder = Aliases(folders)
    sys.meta_path.insert(0, finder)
    return finder
