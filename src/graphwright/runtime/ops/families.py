"""The modules that define ops, and how an entry of the table is completed when it is first used.

`import graphwright` imports none of them: which one defines an op is in `_families.py`, generated
with the face. A family that is named here is found by the generator, which imports them all.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from graphwright.runtime.fake import meta
from graphwright.runtime.ops._families import FAMILY
from graphwright.runtime.ops.errstate import quietly
from graphwright.runtime.ops.table import Kind, Op, define, is_defined, publish

FAMILIES = (
    "activations.dropout",
    "activations.piecewise",
    "activations.smooth",
    "creation.arange_and_windows",
    "creation.fill",
    "creation.linspace",
    "creation.matrices",
    "fft.functions",
    "fft.stft",
    "fft.transforms",
    "indexing.advanced_indexing",
    "indexing.embedding",
    "indexing.index_writes",
    "indexing.masks",
    "indexing.scatter",
    "indexing.select",
    "inplace",
    "linalg.factors",
    "linalg.forms",
    "linalg.functions",
    "linalg.ldl",
    "linalg.least_squares",
    "linalg.lu",
    "linalg.solvers",
    "losses.ctc",
    "losses.elementwise",
    "losses.margin",
    "norms.batch_norm",
    "norms.layer_norm",
    "norms.softmax",
    "optim.adaptive",
    "optim.sgd_adam",
    "pointwise.arithmetic",
    "pointwise.binary",
    "pointwise.compare",
    "pointwise.complex_numbers",
    "pointwise.composite",
    "pointwise.copies",
    "pointwise.functions",
    "pointwise.powers",
    "pointwise.scaling",
    "pointwise.special",
    "pointwise.unary",
    "products.addmm",
    "products.cdist",
    "products.chains",
    "products.contractions",
    "products.distances",
    "products.einsum",
    "products.grouped",
    "products.linear",
    "products.scaled",
    "products.tensordot",
    "products.vectors",
    "random.distributions",
    "random.draws",
    "random.gamma",
    "random.inplace",
    "reductions.extrema",
    "reductions.folds",
    "reductions.histogramdd",
    "reductions.histograms",
    "reductions.norms",
    "reductions.quantiles",
    "reductions.segments",
    "reductions.statistics",
    "scans.cumulative",
    "scans.differences",
    "scans.distinct",
    "scans.searching",
    "scans.sorting",
    "sequences.attention",
    "sequences.recurrent",
    "value_checks",
    "views.basic",
    "views.copies",
    "views.gradients",
    "views.join",
    "views.rearrange",
    "views.scatter",
    "views.shape",
    "views.split",
    "windows.conv",
    "windows.interpolate",
    "windows.pad",
    "windows.pixels",
    "windows.pooling",
    "windows.pooling_adaptive",
    "windows.sampling",
    "windows.unfold",
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
    import_module("graphwright.runtime.ops.native.composite_gradients").attach(entry)
    native = import_module("graphwright.runtime.ops.native.c_kernels")
    return native.kernel(entry, quietly(meta.minding_device(entry, run)))


meta.install()
