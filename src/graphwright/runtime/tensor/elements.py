"""The elements of a tensor where the host can read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.dispatch import on_cuda


def elements(tensor: Any) -> np.ndarray[Any, Any]:
    """An array to be read alone: over the tensor's memory or, of a GPU's tensor, over a copy.

    Raises RuntimeError for a tensor without data.
    """
    if _core.has_cuda_memory(tensor):
        tensor = on_cuda().transfers.to_host(tensor)
    nd: np.ndarray[Any, Any] = tensor._nd
    return nd
