"""The layers under the names of `torch.nn.modules`: `nn.modules.conv.Conv2d` is `nn.Conv2d`.

The modules here hold nothing of their own: each shows what one or more modules of `nn` define.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from graphwright.runtime.naming import missing as _missing

_NN = "graphwright.nn"

_PARTS = {
    "activation": ("layers.activation", "attention"),
    "adaptive": ("layers.adaptive_softmax",),
    "batchnorm": ("layers.batch_norm", "layers.sync_batch_norm", "lazy"),
    "channelshuffle": ("layers.pixelshuffle",),
    "container": ("containers", "parameter_containers", "layers.deprecated"),
    "conv": ("layers.conv", "lazy"),
    "distance": ("layers.distance",),
    "dropout": ("layers.dropout",),
    "flatten": ("layers.flatten",),
    "fold": ("layers.fold",),
    "instancenorm": ("layers.batch_norm", "lazy"),
    "lazy": ("lazy",),
    "linear": ("layers.linear", "lazy"),
    "loss": (
        "layers.loss", "layers.margin_loss", "layers.linear_cross_entropy", "layers.deprecated",
    ),
    "module": ("module", "state", "global_hooks", "hooks"),
    "normalization": ("layers.norm", "layers.deprecated"),
    "padding": ("layers.padding",),
    "pixelshuffle": ("layers.pixelshuffle",),
    "pooling": ("layers.pooling",),
    "rnn": ("layers.rnn",),
    "sparse": ("layers.embedding",),
    "transformer": ("layers.transformer",),
    "upsampling": ("layers.upsampling",),
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
