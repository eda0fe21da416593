"""The switches of `torch.backends` that scripts set: kept, and without effect on results.

Eager tensors live on the CPU, where products of float32 are summed in float32 and every op gives
the same numbers in every run: no switch trades precision or repeatability for speed.
"""

from __future__ import annotations

from typing import Any


class Switches:
    """A namespace of switches. Setting one that does not exist raises AttributeError."""

    _available: bool

    def __init__(self, available: bool, **values: Any) -> None:
        self.__dict__.update(values, _available=available)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"backends: there is no switch {name!r}")
        self.__dict__[name] = value

    def is_available(self) -> bool:
        """Whether tensors can be computed on by it."""
        return self._available

    is_built = is_available


cudnn = Switches(
    False, enabled=True, benchmark=False, deterministic=False, allow_tf32=True, benchmark_limit=10
)
cuda = Switches(
    False,
    matmul=Switches(
        False,
        allow_tf32=False,
        allow_fp16_reduced_precision_reduction=True,
        allow_bf16_reduced_precision_reduction=True,
    ),
)
mps = Switches(False)
mkl = Switches(False)
mkldnn = Switches(False, enabled=True, deterministic=False, allow_tf32=True)
openmp = Switches(False)
