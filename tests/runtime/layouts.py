"""Making tensors of given values in every layout, and reading tensors as float64."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw
from graphwright.runtime.tensor.dtypes import dtype as DType

from .samples import Arr, Sample

LAYOUTS = ("contiguous", "transposed", "strided", "offset")


def lay_out(array: np.ndarray[Any, Any], layout: str, torch: Any = None) -> Any:
    """A tensor (of graphwright, or of `torch`) with these values and that layout."""
    make = gw.from_numpy if torch is None else torch.from_numpy
    if layout == "transposed" and array.ndim > 1:
        dims = tuple(range(array.ndim - 1, -1, -1))
        return make(np.ascontiguousarray(array.transpose())).permute(dims)
    if layout == "strided" and array.ndim > 0:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
        wide[..., 1::2] = array
        tensor = make(wide)
        return tensor[..., 1::2]
    if layout == "offset" and array.ndim > 0:
        wide = np.zeros((array.shape[0] + 2, *array.shape[1:]), array.dtype)
        wide[1:-1] = array
        return make(wide)[1:-1]
    return make(array.copy())


def numpy_type(arr: Arr, dtype: DType) -> Any:
    """The NumPy dtype of the values of `arr` where floats are `dtype`."""
    if arr.kind == "float":
        return dtype.numpy
    return {"int": np.int64, "index": np.int64, "pivots": np.int32, "bool": np.bool_}[arr.kind]


def build(sample: Sample, salt: str, leaf: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The sample's arguments with `leaf(arr, values)` in place of each Arr."""
    counter = iter(range(100))

    def convert(value: Any) -> Any:
        if isinstance(value, Arr):
            return leaf(value, value.values(f"{salt}{next(counter)}"))
        if isinstance(value, tuple) and any(isinstance(v, Arr) for v in value):
            return tuple(convert(v) for v in value)
        return value

    return (
        tuple(convert(v) for v in sample.args),
        {name: convert(v) for name, v in sample.kwargs.items()},
    )


def as_float64(value: Any) -> np.ndarray[Any, Any]:
    """A tensor, array or number as float64 (or bool) values."""
    if hasattr(value, "detach"):
        value = value.detach()
        array = value.numpy() if isinstance(value, gw.Tensor) else value.double().numpy()
    else:
        array = np.asarray(value)
    return array.astype(np.float64)


def tensors_in(value: Any) -> list[Any]:
    """The tensors of a result: one, or those of a tuple or list."""
    if isinstance(value, list | tuple):
        return [item for part in value for item in tensors_in(part)]
    return [value] if hasattr(value, "stride") else []
