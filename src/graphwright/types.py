"""Names for annotations, after `torch.types`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TypeAlias

from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device
from graphwright.runtime.tensor.storage import UntypedStorage as Storage
from graphwright.runtime.tensor.tensor import Tensor

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]

_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_dtype = dtypes.dtype
_device = device
_size: TypeAlias = Sequence[int]
