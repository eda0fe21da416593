"""The switches of `torch.backends` that scripts set: kept, and without effect on results.

Eager tensors live on the CPU, where products of float32 are summed in float32 and every op gives
the same numbers in every run: no switch trades precision or repeatability for speed.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
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


class Library(Switches):
    """Switches that `flags` sets for a while, each to what it has at the start unless given."""

    _while: dict[str, Any]

    def __init__(self, **values: Any) -> None:
        super().__init__(False, **values)
        self.__dict__["_while"] = {**values, "enabled": False}

    @contextmanager
    def flags(self, enabled: bool = False, **values: Any) -> Iterator[None]:
        """`with cudnn.flags(benchmark=True):`. TypeError for what is no switch."""
        unknown = [name for name in values if name not in self._while]
        if unknown:
            raise TypeError(f"flags() got an unexpected keyword argument {unknown[0]!r}")
        before = {name: getattr(self, name) for name in self._while}
        self.__dict__.update({**self._while, **values, "enabled": enabled})
        try:
            yield
        finally:
            self.__dict__.update(before)

    def version(self) -> int | None:
        """The version of the library: None, there is none."""
        return None


class Cuda(Switches):
    """What is chosen for GPUs; of attention too, which here has one implementation."""

    def flash_sdp_enabled(self) -> bool:
        """Whether `enable_flash_sdp` left that implementation of attention on."""
        return bool(self._flash)

    def enable_flash_sdp(self, enabled: bool) -> None:
        """Without effect but on `flash_sdp_enabled`, as are the next three on theirs."""
        self._flash = enabled

    def mem_efficient_sdp_enabled(self) -> bool:
        """Whether `enable_mem_efficient_sdp` left that implementation on."""
        return bool(self._mem_efficient)

    def enable_mem_efficient_sdp(self, enabled: bool) -> None:
        """Without effect but on `mem_efficient_sdp_enabled`."""
        self._mem_efficient = enabled

    def math_sdp_enabled(self) -> bool:
        """Whether `enable_math_sdp` left that implementation on."""
        return bool(self._math)

    def enable_math_sdp(self, enabled: bool) -> None:
        """Without effect but on `math_sdp_enabled`."""
        self._math = enabled

    def cudnn_sdp_enabled(self) -> bool:
        """Whether `enable_cudnn_sdp` left that implementation on."""
        return bool(self._cudnn)

    def enable_cudnn_sdp(self, enabled: bool) -> None:
        """Without effect but on `cudnn_sdp_enabled`."""
        self._cudnn = enabled

    @contextmanager
    def sdp_kernel(
        self,
        enable_flash: bool = True,
        enable_math: bool = True,
        enable_mem_efficient: bool = True,
        enable_cudnn: bool = True,
    ) -> Iterator[None]:
        """The four for a while; deprecated, as in PyTorch, for `nn.attention.sdpa_kernel`."""
        warnings.warn(
            "backends.cuda.sdp_kernel() is deprecated. Please see nn.attention.sdpa_kernel().",
            FutureWarning,
            stacklevel=3,
        )
        before = {name: self.__dict__[name] for name in _ATTENTION}
        chosen = (enable_flash, enable_math, enable_mem_efficient, enable_cudnn)
        self.__dict__.update(zip(_ATTENTION, chosen, strict=True))
        try:
            yield
        finally:
            self.__dict__.update(before)


_ATTENTION = ("_flash", "_math", "_mem_efficient", "_cudnn")

cudnn = Library(
    enabled=True, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True,
    fp32_precision="none",
)  # fmt: skip
cuda = Cuda(
    False,
    matmul=Switches(
        False,
        allow_tf32=False,
        allow_fp16_reduced_precision_reduction=True,
        allow_bf16_reduced_precision_reduction=True,
        fp32_precision="none",
    ),
    **dict.fromkeys(_ATTENTION, True),
)
mps = Switches(False)
mkl = Switches(False)
mkldnn = Library(enabled=True, deterministic=False, allow_tf32=True, fp32_precision="none")
openmp = Switches(False)
opt_einsum = Switches(False, enabled=True, strategy="auto")

# `import graphwright.backends.cudnn as cudnn`, as scripts have it, finds the switches themselves.
__path__: list[str] = []
for _name in ("cudnn", "cuda", "mps", "mkl", "mkldnn", "openmp", "opt_einsum"):
    sys.modules[f"{__name__}.{_name}"] = globals()[_name]
