"""The layers under the names of `torch.nn.modules`: `nn.modules.conv.Conv2d` is `nn.Conv2d`.

The modules here hold nothing of their own: each shows what one or more modules of `nn` define.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from graphwright.runtime.naming import missing as _missing

_NN = "graphwright.runtime.nn"

_PARTS = {
    "activation": ("activation", "attention"),
    "adaptive": ("adaptive_softmax",),
    "batchnorm": ("batch_norm", "sync_batch_norm", "lazy"),
    "channelshuffle": ("pixelshuffle",),
    "container": ("containers", "parameter_containers", "older"),
    "conv": ("conv", "lazy"),
    "distance": ("distance",),
    "dropout": ("dropout",),
    "flatten": ("flatten",),
    "fold": ("fold",),
    "instancenorm": ("batch_norm", "lazy"),
    "lazy": ("lazy",),
    "linear": ("linear", "lazy"),
    "loss": ("loss", "margin_loss", "linear_cross_entropy", "older"),
    "module": ("module", "state", "global_hooks", "hooks"),
    "normalization": ("norm", "older"),
    "padding": ("padding",),
    "pixelshuffle": ("pixelshuffle",),
    "pooling": ("pooling",),
    "rnn": ("rnn",),
    "sparse": ("embedding",),
    "transformer": ("transformer",),
    "upsampling": ("upsampling",),
}

_BASES = {
    "batchnorm": {"_NormBase": "_Tracking"},
    "conv": {"_ConvTransposeNd": "_ConvTranspose"},
    "loss": {"_Loss": "Loss", "_WeightedLoss": "WeightedLoss"},
    "module": {"_EXTRA_STATE_KEY_SUFFIX": "EXTRA_STATE"},
    "padding": {
        "_CircularPadNd": "_CircularPad", "_ConstantPadNd": "_ConstantPad",
        "_ReflectionPadNd": "_ReflectionPad", "_ReplicationPadNd": "_ReplicationPad",
    },
    "pooling": {
        "_AdaptiveAvgPoolNd": "_AdaptiveAvgPool", "_AdaptiveMaxPoolNd": "_AdaptiveMaxPool",
        "_AvgPoolNd": "_AvgPool", "_LPPoolNd": "_LPPool", "_MaxPoolNd": "_MaxPool",
        "_MaxUnpoolNd": "_MaxUnpool",
    },
    "transformer": {"_get_activation_fn": "_activation", "_get_clones": "_clones"},
}  # fmt: skip
"""PyTorch's names of bases and helpers that users derive from, by their names here."""


def _shown(name: str, parts: tuple[str, ...]) -> ModuleType:
    """A module with the public names of `parts`; classes keep the module that defines them."""
    module = ModuleType(f"{__name__}.{name}", f"What `torch.nn.modules.{name}` has.")
    for part in parts:
        contents = vars(import_module(f"{_NN}.{part}"))
        vars(module).update({key: contents[key] for key in contents if not key.startswith("__")})
    for known, own in _BASES.get(name, {}).items():
        setattr(module, known, getattr(module, own))
    return module


for _name, _parts in _PARTS.items():
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = _shown(_name, _parts)


def __getattr__(name: str) -> object:
    """The layers themselves, such as `nn.modules.Linear`, and the module of helpers."""
    if name == "utils":
        return import_module("graphwright.nn.modules.utils")
    layer = getattr(import_module(_NN), name, None)
    if name.startswith("_") or not isinstance(layer, type):
        raise _missing(__name__, name)
    return layer
