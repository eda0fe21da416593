"""What code that describes ops for an export to ONNX imports, under several names of PyTorch's.

Descriptions are kept as they are and never called; what they would be made of is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def parse_args(*arg_descriptors: str) -> Callable[[F], F]:
    """A decorator that returns the description of an op as it is."""
    return lambda description: description


def quantized_args(*arg_q_descriptors: bool, **options: Any) -> Callable[[F], F]:
    """A decorator that returns the description of an op as it is."""
    return lambda description: description
