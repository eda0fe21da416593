"""vmap of every op against a loop: all samples of the table, batched on each of their arguments.

Ops without a rule run as loops themselves: `LOOPS` is the list of those, and of no others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import TABLE

from ..layouts import as_float64, build, numpy_type, tensors_in
from ..samples import ALL, OpSamples, Sample

COUNT = 2
DYNAMIC = frozenset({
    "argwhere", "bincount", "masked_select", "nonzero", "unique", "unique_consecutive",
})  # fmt: skip
"""Ops whose results have as many elements as their values tell."""
VALUES = frozenset({"allclose", "equal"})
"""Ops that answer with a Python value."""
NO_NUMBERS = frozenset({
    "bernoulli", "binomial", "empty_like", "multinomial", "normal", "poisson", "rand_like",
    "randint_like", "randn_like", "standard_gamma",
})  # fmt: skip
"""Ops whose numbers are drawn, or whatever memory holds."""
LOOPS = frozenset({
    "fused_attention", "isin", "resample", "resample_backward",
})


def _examples(entry: OpSamples, sample: Sample, which: int) -> tuple[Any, Any, list[bool]]:
    """Arguments, keywords, and which of their tensors count examples: `which`, or all for -1."""
    places = iter(range(100))
    chosen: list[bool] = []

    def leaf(arr: Any, values: Any) -> Any:
        place = next(places)
        chosen.append(which in (-1, place))
        if chosen[-1]:
            values = np.stack([values, arr.values(f"{entry.name}, the other example {place}")])
        if arr.kind != "complex":
            values = values.astype(numpy_type(arr, gw.float64))
        return gw.tensor(values)

    args, kwargs = build(sample, entry.name, leaf)
    return args, kwargs, chosen


def _calls(entry: OpSamples, sample: Sample) -> Iterator[tuple[Any, Any, Any]]:
    """A function of tensors, the tensors, and the dims that count examples."""
    count = len(_examples(entry, sample, -1)[2])
    for which in range(-1 if count > 1 else 0, count):
        args, kwargs, chosen = _examples(entry, sample, which)
        tensors = tensors_in((args, tuple(kwargs.values())))

        def call(*given: Any, args: Any = args, kwargs: Any = kwargs) -> Any:
            left = iter(given)

            def put(value: Any) -> Any:
                if isinstance(value, tuple):
                    return tuple(put(part) for part in value)
                return next(left) if isinstance(value, gw.Tensor) else value

            own = [put(value) for value in args]
            out = getattr(ops, entry.name)(*own, **{k: put(v) for k, v in kwargs.items()})
            return tuple(tensors_in(out))

        yield call, tensors, tuple(0 if dim else None for dim in chosen)


def _loop(call: Any, tensors: list[Any], dims: tuple[int | None, ...]) -> list[Any]:
    rows = [
        call(*[t if d is None else t[i].clone() for t, d in zip(tensors, dims, strict=True)])
        for i in range(COUNT)
    ]
    return [gw.stack(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize(
    "entry", [e for e in ALL.values() if e.name not in NO_NUMBERS], ids=lambda entry: entry.name
)
def test_vmap_is_the_loop(entry: OpSamples) -> None:
    looped = False
    for sample in entry.samples:
        for call, tensors, dims in _calls(entry, sample):
            if not tensors:
                continue
            mapped = gw.vmap(call, in_dims=dims)
            if entry.name in DYNAMIC and None in dims:
                continue
            if entry.name in DYNAMIC | VALUES:
                with pytest.raises(RuntimeError, match="vmap"):
                    mapped(*tensors)
                continue
            try:
                want = _loop(call, tensors, dims)
            except RuntimeError:
                continue    # the other example's values are not in the op's domain
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                got = mapped(*tensors)
            looped = looped or any("performance drop" in str(w.message) for w in told)
            for a, b in zip(got, want, strict=True):
                assert a.shape == b.shape
                assert a.dtype is b.dtype
                np.testing.assert_allclose(as_float64(a), as_float64(b), rtol=1e-9, atol=1e-9)
    assert looped == (entry.name in LOOPS)


def test_ops_without_samples_are_none_of_those_that_loop() -> None:
    assert LOOPS <= ALL.keys() <= TABLE.keys()


def _pulled(call: Any, tensors: list[Any]) -> Any:
    """A function that gives a number of which every float tensor has a gradient."""
    places = tuple(i for i, t in enumerate(tensors) if t.dtype.is_floating_point)

    def total(*given: Any) -> Any:
        outs = [out for out in call(*given) if out.dtype.is_floating_point]
        return sum((out * out.cos()).sum() for out in outs)

    return places and gw.func.grad(total, places)


@pytest.mark.parametrize(
    "entry", [e for e in ALL.values() if e.name not in NO_NUMBERS | VALUES | DYNAMIC and e.grad],
    ids=lambda entry: entry.name,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_gradients_of_examples_are_those_of_the_loop(entry: OpSamples) -> None:
    call, tensors, dims = next(_calls(entry, entry.samples[0]), (None, [], ()))
    gradient = _pulled(call, tensors)
    if not gradient:
        return
    try:
        want = _loop(gradient, tensors, dims)
    except (RuntimeError, TypeError):
        return      # no gradient, or the other example is not in the op's domain
    got = gw.vmap(gradient, dims)(*tensors)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(as_float64(a), as_float64(b), rtol=1e-7, atol=1e-8)
