"""Every op of the table, lowered: forward and backward as in eager execution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.ir.lowered_graph import CannotLower
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import TABLE, Kind

from ..runtime.layouts import build, lay_out, numpy_type
from ..runtime.samples import ALL, OpSamples, Sample
from .lowering import check

ARBITRARY = {"dropout", "native_dropout", "empty", "empty_strided", "empty_permuted", "normal",
             "bernoulli", "multinomial"} | {
    name for name, op in TABLE.items() if op.kind is Kind.RANDOM or name.startswith("rand")}
REFUSED = {
    **{name: {"contiguous": DataDependent, "strided": DataDependent}
       for name, op in TABLE.items() if "data_dependent" in op.tags},
    "as_strided": {"strided": CannotLower},
}
WITHOUT_DERIVATIVE = frozenset({
    *("floor_divide", "heaviside", "geqrf", "qr_reflections", "histogram"),
    *("histogram_counts", "histogram_edges", "histogramdd", "histogramdd_counts", "ldl_factors"),
    *("linalg_ldl_factor", "linalg_ldl_factor_ex", "linalg_ldl_solve", "scatter_combined"),
})
"""Ops whose results require gradients, which backward refuses."""

CASES = [
    pytest.param(entry, sample, id=f"{entry.name}-{i}")
    for entry in ALL.values() if entry.name not in ARBITRARY
    for i, sample in enumerate(entry.samples)
]


CONTIGUOUS_ONLY = ("view", "view_as", "view_copy", "as_strided_copy")


def split_arguments(
    entry: OpSamples, sample: Sample, layout: str, dtype: Any = gw.float64
) -> tuple[list[Any], Any]:
    """The sample's tensors, those that can be differentiated as leaves; and a function of them."""
    inputs: list[Any] = []

    def leaf(arr: Any, values: Any) -> Any:
        made = lay_out(values.astype(numpy_type(arr, dtype)), layout).detach()
        inputs.append(made.requires_grad_(arr.kind == "float" and arr.grad))
        return Slot(len(inputs) - 1)

    args, kwargs = build(sample, entry.name, leaf)

    def fn(*tensors: Any) -> Any:
        return flat(getattr(ops, entry.name)(
            *filled(args, tensors), **{k: filled(v, tensors) for k, v in kwargs.items()}))

    return inputs, fn


def flat(result: Any) -> Any:
    """Results that are tuples of tensors themselves, in one tuple with the others."""
    if not isinstance(result, tuple):
        return result
    return tuple(t for item in result for t in (item if isinstance(item, tuple) else (item,)))


class Slot:
    """The place of a tensor among the arguments."""

    def __init__(self, index: int) -> None:
        self.index = index


def filled(value: Any, tensors: Any) -> Any:
    if isinstance(value, Slot):
        return tensors[value.index]
    return tuple(filled(v, tensors) for v in value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(("entry", "sample"), CASES)
@pytest.mark.parametrize("layout", ["contiguous", "strided"])
def test_as_eager(entry: OpSamples, sample: Sample, layout: str) -> None:
    inputs, fn = split_arguments(entry, sample, layout)
    op = TABLE[entry.name]
    if op.is_inplace or entry.name.endswith("_"):
        inputs = [x.detach() for x in inputs]
    if entry.name in WITHOUT_DERIVATIVE:
        with pytest.raises(CannotLower, match="derivative"):
            check(fn, *inputs)
        inputs = [x.detach() for x in inputs]
    with np.errstate(all="ignore"):
        if layout == "strided" and entry.name in CONTIGUOUS_ONLY:
            return
        refused = REFUSED.get(entry.name, {}).get(layout)
        if refused is not None:
            with pytest.raises(refused):
                check(fn, *inputs)
        else:
            check(fn, *inputs, tolerance=1e-9)
