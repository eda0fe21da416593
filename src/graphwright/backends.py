"""The switches of `torch.backends` that scripts set: kept, and without effect on results but for
those of products on GPUs.

Every op gives the same numbers in every run: no switch trades that for speed. Nor does one trade
precision on CPUs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphwright.compat.switches import Switches
from graphwright.runtime.cuda.precision import float32_products, set_float32_matmul_precision


class Part(Switches):
    """The switches of one library or device."""

    _available: bool

    def __init__(self, available: bool, **values: Any) -> None:
        super().__init__(**values, _available=available)

    def is_available(self) -> bool:
        """Whether tensors can be computed on by it."""
        return self._available

    is_built = is_available


class Library(Part):
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

    def set_flags(self, _enabled: bool | None = None, **values: Any) -> tuple[Any, ...]:
        """Set switches for good; returns what they were. TypeError for what is no switch."""
        given = {"enabled": _enabled, **{name.lstrip("_"): values[name] for name in values}}
        unknown = [name for name in given if name not in self.__dict__]
        if unknown:
            raise TypeError(f"set_flags() got an unexpected keyword argument {unknown[0]!r}")
        before = tuple(self.__dict__[name] for name in given)
        self.__dict__.update({name: v for name, v in given.items() if v is not None})
        return before


class Products(Part):
    """How GPUs multiply matrices: two switches that `set_float32_matmul_precision` sets too."""

    @property
    def allow_tf32(self) -> bool:
        """Whether factors of float32 are rounded to 11 significant bits."""
        return float32_products() == "tf32"

    @property
    def fp32_precision(self) -> str:
        """The same as "ieee" or "tf32"."""
        return float32_products()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("allow_tf32", "fp32_precision"):
            tf32 = value == "tf32" if name == "fp32_precision" else bool(value)
            set_float32_matmul_precision("high" if tf32 else "highest")
        super().__setattr__(name, value)


class Cuda(Part):
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

    def is_flash_attention_available(self) -> bool:
        """Whether GPUs have that implementation of attention: False, as there are none."""
        return False

    def can_use_flash_attention(self, params: Any, debug: bool = False) -> bool:
        """Whether a GPU could compute this attention so: False."""
        return False

    can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention


class Mps(Part):
    """Apple's GPUs, of which there are none."""

    def is_macos_or_newer(self, major: int, minor: int) -> bool:
        """Whether this is that version of macOS: False."""
        return False

    def is_macos13_or_newer(self, minor: int = 0) -> bool:
        """Whether this is macOS 13.`minor`: False."""
        return False


class FastPath(Part):
    """Whether layers of transformers may take PyTorch's fused path; without effect here."""

    def get_fastpath_enabled(self) -> bool:
        """What `set_fastpath_enabled` set; True at first."""
        return bool(self._enabled)

    def set_fastpath_enabled(self, value: bool) -> None:
        """Without effect but on `get_fastpath_enabled`."""
        self._enabled = value


class Cpu(Part):
    """The processor."""

    def get_cpu_capability(self) -> str:
        """"AVX512", "AVX2" or "DEFAULT": the widest of these that the processor has."""
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line for line in file if line.startswith("flags")), "").split()
        return "AVX512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "DEFAULT"


_ATTENTION = ("_flash", "_math", "_mem_efficient", "_cudnn")

cudnn = Library(
    enabled=True, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True,
    fp32_precision="none", conv=Part(False, fp32_precision="none"),
    rnn=Part(False, fp32_precision="none"),
)  # fmt: skip
cuda = Cuda(
    False,
    matmul=Products(
        False,
        allow_tf32=False,
        allow_fp16_reduced_precision_reduction=True,
        allow_bf16_reduced_precision_reduction=True,
        fp32_precision="none",
    ),
    **dict.fromkeys(_ATTENTION, True),
)
mps = Mps(False)
mkl = Part(False)
mkldnn = Library(
    enabled=True, deterministic=False, allow_tf32=True, fp32_precision="none",
    **{name: Part(False, fp32_precision="none") for name in ("conv", "matmul", "rnn")},
)  # fmt: skip
openmp = Part(False)
opt_einsum = Part(False, enabled=True, strategy="auto")
cpu = Cpu(True)
cusparselt = Library()
kleidiai = Part(False)
mha = FastPath(True, _enabled=True)
miopen = Library(immediate=False)
nnpack = Library(enabled=False)
quantized = Part(False, engine="none", supported_engines=[])
xnnpack = Part(False, enabled=False)
fp32_precision = "none"

# `import graphwright.backends.cudnn as cudnn`, as scripts have it, finds the switches themselves.
__path__: list[str] = []
for _name, _value in tuple(globals().items()):
    if isinstance(_value, Switches):
        _value.__dict__["__name__"] = f"{__name__}.{_name}"
        sys.modules[f"{__name__}.{_name}"] = _value  # type: ignore[assignment]
