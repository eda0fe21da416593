"""Convolutions."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.unary import is_float
from graphwright.onnx.exporting.ops.views import is_static
from graphwright.onnx.exporting.registry import form


def _has_attributes(x: Any, weight: Any, bias: Any, *attributes: Any) -> bool:
    """An ONNX file has numbers there, no dynamic sizes; and no convolutions of integers."""
    numbers = [one if isinstance(one, tuple | list) else (one,) for one in attributes]
    return is_float(x) and all(map(is_static, numbers))


@form("convolution", accepts=_has_attributes)
def _convolution(
    g: Builder, out: Any, x: Value, weight: Value, bias: Value | None, stride: Any, padding: Any,
    dilation: Any, transposed: bool, output_padding: Any, groups: int,
) -> Value:
    kernel = weight.shape[2:]
    return g.op(
        "ConvTranspose" if transposed else "Conv", x, weight, bias, strides=list(stride),
        pads=[*padding, *padding], dilations=list(dilation), group=groups,
        kernel_shape=list(kernel) if is_static(kernel) else None,
        output_padding=list(output_padding) if transposed else None)
