"""Every op, function and method, of instances of a subclass: values as of plain tensors, and the
results are of the subclass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import TABLE

from ..runtime.layouts import build, numpy_type, tensors_in
from ..runtime.samples import ALL, OpSamples

DRAWN = frozenset({
    "bernoulli", "binomial", "empty_like", "multinomial", "new_empty", "normal", "poisson",
    "rand_like", "randint_like", "randn_like", "standard_gamma",
})  # fmt: skip
"""Ops whose numbers are drawn, or whatever memory holds."""

OTHER_ORDER = frozenset({"where"})
"""Methods of which the tensor is not the function's first argument."""


class Kept(gw.Tensor):
    """A subclass without anything of its own."""


def _arguments(entry: OpSamples, subclass: bool) -> tuple[Any, Any]:
    def leaf(arr: Any, values: Any) -> Any:
        if arr.kind != "complex":
            values = np.asarray(values).astype(numpy_type(arr, gw.float64))
        made = gw.tensor(values)
        return made.as_subclass(Kept) if subclass else made

    return build(entry.samples[0], entry.name, leaf)


def _calls(entry: OpSamples) -> list[Any]:
    """Results as a function and, where there is such a method of a tensor, as a method."""
    args, options = _arguments(entry, True)
    made = [getattr(ops, entry.name)(*args, **options)]
    method = getattr(args[0], entry.name, None)
    if isinstance(args[0], gw.Tensor) and callable(method) and entry.name not in OTHER_ORDER:
        made.append(method(*args[1:], **options))
    return made


@pytest.mark.parametrize(
    "entry", [ALL[name] for name in sorted(ALL) if name in TABLE], ids=lambda entry: entry.name
)
def test_results_are_of_the_subclass(entry: OpSamples) -> None:
    args, options = _arguments(entry, False)
    if not tensors_in((args, tuple(options.values()))):
        pytest.skip("no tensor among the arguments")
    expected = tensors_in((getattr(ops, entry.name)(*args, **options),))
    for result in _calls(entry):
        found = tensors_in((result,))
        assert [type(tensor) for tensor in found] == [Kept] * len(expected)
        for own, other in zip(found, expected, strict=True):
            if entry.name not in DRAWN:
                gw.testing.assert_close(own.as_subclass(gw.Tensor), other, equal_nan=True)
