"""Each op that has both says the same through its kernel and through its decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import TABLE

from ..runtime.layouts import LAYOUTS, as_float64, build, lay_out, numpy_type, tensors_in
from ..runtime.samples import ALL, OpSamples, Sample

# Nothing to compare: what is in them, or another draw of random numbers.
ARBITRARY = {"empty", "empty_like", "randperm", "random_bits", "random_scaled"}
BOTH = [
    pytest.param(entry, sample, id=f"{name}-{i}")
    for name, entry in ALL.items()
    if TABLE[name].eager and TABLE[name].decompose and name not in ARBITRARY
    for i, sample in enumerate(entry.samples)
]


def _run(entry: OpSamples, sample: Sample, layout: str, dtype: Any) -> list[Any]:
    def leaf(arr: Any, values: Any) -> Any:
        return lay_out(values.astype(numpy_type(arr, dtype)), layout)

    args, kwargs = build(sample, entry.name, leaf)
    return tensors_in(getattr(ops, entry.name)(*args, **kwargs))


@pytest.mark.parametrize(("entry", "sample"), BOTH)
def test_kernel_and_decomposition_agree(
    entry: OpSamples, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    op = TABLE[entry.name]
    for dtype, tolerance in ((gw.float64, 1e-12), (gw.float32, 2e-5)):
        for layout in LAYOUTS:
            kernel = _run(entry, sample, layout, dtype)
            with monkeypatch.context() as patch:
                patch.setattr(op, "run", op.decompose)
                rules = _run(entry, sample, layout, dtype)
            for a, b in zip(kernel, rules, strict=True):
                assert a.shape == b.shape and a.dtype is b.dtype
                np.testing.assert_allclose(
                    as_float64(a), as_float64(b), rtol=tolerance, atol=tolerance
                )


@pytest.mark.parametrize("kind", [gw.float32, gw.bfloat16])
@pytest.mark.parametrize("p", [0.3, 1.0])
def test_dropout_draws_the_same_numbers_both_ways(p: float, kind: Any) -> None:
    x = gw.randn(33, 7).to(kind)
    state = _core.rng_state()
    kernel = ops.native_dropout(x, p)
    after = _core.rng_state()
    _core.set_rng_state(*state)
    rules = TABLE["native_dropout"].decompose(x, p)  # type: ignore[misc]
    assert _core.rng_state() == after
    for a, b in zip(kernel, rules, strict=True):
        assert a.dtype is b.dtype
        np.testing.assert_array_equal(as_float64(a), as_float64(b))
