"""The modules that define ops, and how an entry of the table is completed when it is first used.

`import graphwright` imports none of them: which one defines an op is in `_where.py`, generated
with the face. A family that is named here is found by the generator, which imports them all.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from graphwright.runtime import meta
from graphwright.runtime.ops._where import FAMILY
from graphwright.runtime.ops.quiet import quietly
from graphwright.runtime.ops.table import Kind, Op, define, is_defined, publish

FAMILIES = (
    "advanced",
    "cdist",
    "complex_numbers",
    "contractions",
    "creation",
    "einsum",
    "fourier",
    "fourier_frames",
    "fourier_functions",
    "histogramdd",
    "index_writes",
    "indexing",
    "inplace",
    "linalg_factors",
    "linalg_forms",
    "linalg_functions",
    "linalg_ldl",
    "linalg_lu",
    "linalg_solvers",
    "masks",
    "nn_activations",
    "nn_attention",
    "nn_batch_norm",
    "nn_conv",
    "nn_ctc",
    "nn_distances",
    "nn_dropout",
    "nn_embedding",
    "nn_grouped",
    "nn_interpolate",
    "nn_layers",
    "nn_losses",
    "nn_margin_losses",
    "nn_norms",
    "nn_optimizers",
    "nn_optimizers_adaptive",
    "nn_pad",
    "nn_piecewise",
    "nn_pixels",
    "nn_pooling",
    "nn_pooling_adaptive",
    "nn_recurrent",
    "nn_sampling",
    "nn_softmax",
    "nn_windows",
    "norms",
    "pointwise",
    "pointwise_binary",
    "pointwise_compare",
    "pointwise_composite",
    "pointwise_functions",
    "pointwise_special",
    "pointwise_unary",
    "powers",
    "products",
    "products_scaled",
    "quantiles",
    "random",
    "random_gamma",
    "random_inplace",
    "rearrange",
    "reductions",
    "scans",
    "scatter",
    "searching",
    "segments",
    "sequences",
    "sorting",
    "spaced",
    "statistics",
    "value_checks",
    "views",
    "views_join",
    "views_scatter",
    "views_shape",
    "views_split",
)


def load_all() -> None:
    """Define every op."""
    for family in FAMILIES:
        _load(family)


def _load(family: str) -> None:
    """Import a family and publish what it defines.

    Raises ImportError where this thread is in the midst of importing it: a signal handler.
    """
    module = import_module(f"graphwright.runtime.ops.{family}")
    if getattr(module.__spec__, "_initializing", False):
        raise ImportError(f"the ops of '{family}' are used while '{family}' is being imported")
    publish(module)


def complete(entry: Op, attribute: str) -> None:
    """Set a field that is not set: define the entry, or attach its kernel.

    An op that no family defines has a schema without parameters and a kernel that says so.
    """
    if not is_defined(entry):
        _define(entry)
    if attribute == "eager" and entry.is_inplace:
        entry.eager = import_module("graphwright.runtime.ops.inplace").derived(entry)
    elif attribute == "run":
        entry.run = _kernel(entry)


def _define(entry: Op) -> None:
    family = FAMILY.get(entry.name)
    if family is not None:
        _load(family)
    if not is_defined(entry):
        load_all()
    if not is_defined(entry):
        define(f"{entry.name}()", Kind.OTHER)


def _kernel(entry: Op) -> Callable[..., Any]:
    """What runs an op on real tensors: C where it can, else NumPy, else its decomposition."""
    run = entry.eager or entry.decompose or entry.undefined
    import_module("graphwright.runtime.ops.shortcuts").attach(entry)
    native = import_module("graphwright.runtime.ops.native")
    return native.kernel(entry, quietly(meta.minding_device(entry, run)))


meta.install()
