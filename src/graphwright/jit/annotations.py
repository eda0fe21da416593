"""`torch.jit.annotations`: types as TorchScript's code spells them."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

from graphwright.futures import Future
from graphwright.runtime.tensor.tensor import Tensor

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Future", "List",
    "Optional", "Tensor", "Tuple", "Union",
]  # fmt: skip


class _BroadcastingList:
    """`BroadcastingList2[int]`: a list of two, or one value for both."""

    def __getitem__(self, types: Any) -> None:
        """Says nothing: annotations are not read."""


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()
