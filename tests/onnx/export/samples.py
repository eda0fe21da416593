"""The samples of ops as functions of tensors, to export."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.runtime.layouts import build, numpy_type, tensors_in
from tests.runtime.samples import OpSamples

import graphwright as gw
from graphwright.runtime.ops import functions as ops
from graphwright.utils._pytree import tree_map

Call = Callable[..., tuple[gw.Tensor, ...]]


def calls(entry: OpSamples, dtype: Any = gw.float32) -> Iterator[tuple[Call, list[gw.Tensor]]]:
    """A function of tensors and its tensors, for each sample."""
    for sample in entry.samples:
        def leaf(arr: Any, values: Any) -> gw.Tensor:
            if arr.kind != "complex":
                values = values.astype(numpy_type(arr, dtype))
            return gw.tensor(values)

        args, kwargs = build(sample, entry.name, leaf)
        tensors = tensors_in((args, tuple(kwargs.values())))

        def call(*given: Any, args: Any = args, kwargs: Any = kwargs) -> tuple[gw.Tensor, ...]:
            left = iter(given)

            def put(value: Any) -> Any:
                return tree_map(
                    lambda one: next(left) if isinstance(one, gw.Tensor) else one, value)

            found = getattr(ops, entry.name)(*put(args), **put(kwargs))
            return tuple(tensors_in(found))

        yield call, tensors
