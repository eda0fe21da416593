"""Arrays cast as tensors are: NumPy does it for all dtypes but float8."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType

Array = np.ndarray[Any, Any]


def cast_array(array: Array, dtype: DType) -> Array:
    """The numbers of an array in `dtype`; the array itself where it has that dtype.

    float8 is reached by way of float32, as `runtime/tensor/float8.py` says; of complex numbers the
    real part is left.
    """
    if dtype not in dtypes.FLOAT8 or array.dtype == dtype.numpy:
        return array.astype(dtype.numpy, copy=False)
    real = array.real if array.dtype.kind == "c" else array
    single = np.array(real, np.float32, order="C")
    out = np.empty(array.shape, dtype.numpy)
    target = _core.from_ndarray(TensorBase, out, dtype)
    _core.convert_into(target, _core.from_ndarray(TensorBase, single, dtypes.float32))
    return out
