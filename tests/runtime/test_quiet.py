"""Infinities, nan and overflow are values like others: no op warns of them, as NumPy would."""

from __future__ import annotations

import warnings
from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.errstate import quietly

from .layouts import build, numpy_type
from .samples import ALL, OpSamples, Sample

EXTREMES = (3e38, np.inf, -3e38, np.nan, 0.0, -np.inf, 1e-45, 1.0)


def _extreme(arr: Any, values: Any, dtype: gw.dtype) -> gw.Tensor:
    wanted = numpy_type(arr, dtype)
    if np.dtype(wanted).kind != "f":
        return gw.tensor(values.astype(wanted))
    numbers = np.fromiter(islice(cycle(EXTREMES), values.size), np.float64, values.size)
    return gw.tensor(numbers.reshape(values.shape)).to(dtype)


def _call(entry: OpSamples, sample: Sample, dtype: gw.dtype) -> None:
    args, kwargs = build(sample, entry.name, lambda arr, values: _extreme(arr, values, dtype))
    try:
        getattr(ops, entry.name)(*args, **kwargs)
    except (RuntimeError, ValueError, IndexError, TypeError):
        return  # such values, or this dtype, are refused in plain words


@pytest.mark.parametrize("entry", ALL.values(), ids=list(ALL))
def test_no_op_warns_of_extreme_values(entry: OpSamples) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for sample in entry.samples[:3]:
            for dtype in (gw.float32, gw.float16, gw.float64):
                _call(entry, sample, dtype)


@pytest.mark.parametrize(
    "make",
    [
        lambda: gw.tensor(1e40),
        lambda: gw.tensor([1e300, 2.0], dtype=gw.float16),
        lambda: gw.ones(2, dtype=gw.float64).mul(1e300).float(),
        lambda: (gw.ones(2, dtype=gw.float16) * 60000).cumsum(0),
    ],
)
def test_numbers_that_do_not_fit_become_infinite(make: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bool(make().isinf().any())


def test_a_quiet_function_gives_results_and_exceptions_as_they_are() -> None:
    def fail(number: int) -> None:
        raise KeyError(number)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert quietly(np.divide)(1.0, 0.0) == np.inf
        assert quietly(quietly(np.divide))(np.float64(1.0), 0.0) == np.inf
        with pytest.raises(KeyError):
            quietly(fail)(3)
        with pytest.raises(RuntimeWarning):  # NumPy warns again
            np.divide(1.0, np.float64(0.0))


def test_the_core_takes_context_variables_only() -> None:
    with pytest.raises(TypeError):
        _core.Quiet(print, "not a variable", 1)  # type: ignore[arg-type]
