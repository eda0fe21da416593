"""`torch.ao.quantization`: marks in float models do nothing, quantising raises."""

from __future__ import annotations

from typing import Any, NoReturn

from graphwright.nn import Module
from graphwright.runtime.tensor.tensor import Tensor

__all__ = [
    "DeQuantStub", "QConfig", "QuantStub", "QuantWrapper", "convert", "fuse_modules",
    "fuse_modules_qat", "get_default_qat_qconfig", "get_default_qconfig", "prepare",
    "prepare_qat", "quantize", "quantize_dynamic",
]  # fmt: skip


class QuantStub(Module):
    """Where a model would begin to compute in integers: gives its input back."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig is not None:
            quantize()

    def forward(self, x: Tensor) -> Tensor:
        return x


class DeQuantStub(QuantStub):
    """Where it would end to: gives its input back."""


class QuantWrapper(Module):
    """`module` between two stubs."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.quant, self.module, self.dequant = QuantStub(), module, DeQuantStub()

    def forward(self, x: Tensor) -> Any:
        return self.dequant(self.module(self.quant(x)))


def quantize(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError."""
    raise NotImplementedError("ao.quantization: graphwright has no quantised tensors. Compute in "
                              "bfloat16 or float32: model.to(torch.bfloat16)")


QConfig = convert = fuse_modules = fuse_modules_qat = get_default_qat_qconfig = quantize
get_default_qconfig = prepare = prepare_qat = quantize_dynamic = quantize
