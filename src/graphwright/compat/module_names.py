"""PyTorch's names of modules, and the finder by which they mean modules of graphwright.

Where `graphwright.as_torch` has asked for it, `import torch.optim.adagrad` gives
`graphwright.optim.adaptive` itself, not a second copy, whether it was imported before or not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_OWN = "graphwright"

INTERNAL = frozenset({
    *("as_torch", "capture", "cli", "codegen", "compat", "face", "ir", "report", "runtime"),
    "saving",
})
"""Folders whose names are no public modules."""

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

ELSEWHERE = {
    **{
        f"distributed.{module}.{own}": f"distributed.{module}"
        for module, names in _ABSENT.items()
        for own in names
    },
    **dict.fromkeys([f"distributions.{name}" for name in _DISTRIBUTIONS], "distributions"),
    "_custom_ops": "library",
    "_jit_internal": "jit",
    **dict.fromkeys(("_subclasses", "_subclasses.fake_tensor"), "runtime.fake.fake_tensor"),
    **dict.fromkeys(
        ("_C._functorch", "_functorch.vmap", "_functorch"), "compat.functorch"
    ),
    "_tensor": "runtime.tensor.tensor",
    "_tensor_str": "runtime.tensor.printing",
    **dict.fromkeys(
        ("_dynamo.decorators", "_dynamo.eval_frame", "_dynamo.utils"), "_dynamo"
    ),
    "amp.autocast_mode": "amp",
    **dict.fromkeys(("ao.nn.quantized", "nn.quantized.modules"), "nn.quantized"),
    "ao.nn": "nn",
    "autograd.anomaly_mode": "runtime.tape.anomaly",
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
        "compat.onnx_symbols",
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
    "autograd.profiler_util": "profiler.events",
    "storage": "runtime.tensor.storage",
    "utils._foreach_utils": "compat.foreach",
    "utils.model_zoo": "hub",
    "utils.data._utils": "utils.data",
    "utils.data._utils.collate": "utils.data.collate",
    "utils.data._utils.pin_memory": "utils.data.collate",
    "utils.data._utils.worker": "utils.data.worker_info",
    "utils.data.dataloader": "utils.data.loader",
    "utils.data.distributed": "utils.data.sampler",
}
"""PyTorch's names of modules whose contents stand in others here."""


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
    """Finds the modules below a root as those of graphwright.

    Attributes:
        root: the name that means graphwright.
        found: called with graphwright's name of a module ("graphwright.x") and the module.
        lacking: called with each name below the root that means no module.
        find_distributions: what `importlib.metadata` asks for.
    """

    def __init__(
        self, root: str, found: Callable[[str, Any], None], lacking: Callable[[str], None],
        find_distributions: Callable[[Any], Iterable[Any]],
    ) -> None:
        self.root, self.found, self.lacking = root, found, lacking
        self.find_distributions = find_distributions

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for names of other modules, and for what does not exist."""
        root, _, rest = name.partition(".")
        if root != self.root:
            return None
        real = self._real(rest) if rest else _OWN
        if real is None:
            self.lacking(name)
            return None
        public = f"{_OWN}.{rest}" if rest else _OWN
        loader: Any = _Loader(real, lambda module: self.found(public, module))
        return ModuleSpec(name, loader)

    def _real(self, rest: str) -> str | None:
        """The full name of the module that a public name means, None where there is none."""
        if rest.partition(".")[0] in INTERNAL:
            return None
        real = f"{_OWN}.{ELSEWHERE.get(rest, rest)}"
        return real if real in sys.modules or find_spec(real) is not None else None
