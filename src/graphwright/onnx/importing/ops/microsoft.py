"""Operators of ONNX Runtime's own domain that its optimizer and quantizer write into files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.ops.convolution import conv
from graphwright.onnx.importing.ops.pooling import average_pool, global_average_pool
from graphwright.onnx.importing.ops.products import exact_product
from graphwright.onnx.importing.ops.quantization import (
    dequantize_linear,
    dynamic_quantize_linear,
    quantize_linear,
)
from graphwright.onnx.importing.ops.recurrent import Layer, activations_of, lstm, run_layers
from graphwright.onnx.importing.ops.windows import Windows
from graphwright.onnx.importing.opsets import MICROSOFT, Tensors, op, plain

_op = partial(op, domain=MICROSOFT)
_op("QuantizeLinear")(quantize_linear)
_op("DequantizeLinear")(dequantize_linear)
plain("Gelu", F.gelu, domain=MICROSOFT)
plain("BiasGelu", lambda x, bias: F.gelu(x + bias), inputs=2, domain=MICROSOFT)
plain("QuickGelu", lambda x, alpha=1.702: x * gw.sigmoid(alpha * x), "alpha", domain=MICROSOFT)


def _plus(x: Tensor, bias: Tensor | None) -> Tensor:
    return x if bias is None else x + bias


@_op("FastGelu")
def fast_gelu(x: Tensor, bias: Tensor | None = None) -> Tensor:
    """The "tanh" approximation of Gelu."""
    return F.gelu(_plus(x, bias), approximate="tanh")


@_op("SkipLayerNormalization")
def skip_layer_normalization(
    x: Tensor, skip: Tensor, gamma: Tensor, beta: Tensor | None = None,
    bias: Tensor | None = None, *, epsilon: float = 1e-12, n_outputs: int = 1,
) -> Any:  # fmt: skip
    """LayerNormalization of a sum; of four outputs the last is the sum."""
    total = _plus(x + skip, bias)
    y = F.layer_norm(total, [total.shape[-1]], gamma, beta, epsilon)
    return (y, None, None, total)[:n_outputs]


@_op("SkipSimplifiedLayerNormalization")
def skip_simplified_layer_normalization(
    x: Tensor, skip: Tensor, gamma: Tensor, bias: Tensor | None = None, *, epsilon: float = 1e-12,
    n_outputs: int = 1,
) -> Any:  # fmt: skip
    """RMSNormalization of a sum; of four outputs the last is the sum."""
    total = _plus(x + skip, bias)
    y = F.rms_norm(total, [total.shape[-1]], gamma, epsilon)
    return (y, None, None, total)[:n_outputs]


@_op("FusedMatMul")
def fused_matmul(
    a: Tensor, b: Tensor, *, alpha: float = 1.0, transA: int = 0, transB: int = 0,
    transBatchA: int = 0, transBatchB: int = 0,
) -> Tensor:  # fmt: skip
    """alpha a b, of matrices or their transposes."""
    if transBatchA or transBatchB:
        raise NotImplementedError("FusedMatMul with transposed batches")
    a = a.transpose(-1, -2) if transA else a
    b = b.transpose(-1, -2) if transB else b
    product = gw.matmul(a, b)
    return product if alpha == 1.0 else product * alpha


@_op("FusedConv", options_of=(conv,))
def fused_conv(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, added: Tensor | None = None, *,
    activation: str = "", activation_params: list[float] | None = None, **options: Any,
) -> Tensor:  # fmt: skip
    """Convolution, a sum, and an activation."""
    y = _plus(conv(x, weight, bias, **options), added)
    parameters = activation_params or []
    if not activation:
        return y
    if activation == "Clip":
        return y.clamp(parameters[0], parameters[1])
    (function,) = activations_of([activation], parameters[:1], parameters[1:])
    return function(y)


def _dynamically(x: Tensor, b: Tensor, b_zero_point: Tensor | None) -> tuple[Tensor, Tensor]:
    """x quantized over its range times integers, exact, and the scale of x."""
    quantized, scale, zero_point = dynamic_quantize_linear(x)
    return exact_product(quantized, b, zero_point, b_zero_point).float(), scale


@_op("DynamicQuantizeMatMul")
def dynamic_quantize_matmul(
    a: Tensor, b: Tensor, b_scale: Tensor, b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """a, quantized over its range, times a quantized matrix, plus a bias."""
    total, scale = _dynamically(a, b, b_zero_point)
    return _plus(total * (scale * b_scale), bias)


@_op("MatMulIntegerToFloat")
def matmul_integer_to_float(
    a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor, a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None, bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The product of quantized matrices, plus a bias."""
    total = exact_product(a, b, a_zero_point, b_zero_point).float()
    return _plus(total * (a_scale * b_scale), bias)


@_op("MatMulNBits")
def matmul_n_bits(
    a: Tensor, b: Tensor, scales: Tensor, zero_points: Tensor | None = None,
    g_idx: Tensor | None = None, bias: Tensor | None = None, *, K: int, N: int, bits: int = 4,
    block_size: int, accuracy_level: int = 0,
) -> Tensor:  # fmt: skip
    """a times the transpose of (N, K) numbers of 4 or 8 bits, with a scale for each block."""
    if bits not in (4, 8) or g_idx is not None:
        raise NotImplementedError(f"MatMulNBits of {bits} bits, or with an order of groups")
    blocks = -(-K // block_size)
    whole = _unpacked(b.reshape([N, blocks, -1]), bits)[:, :, :block_size]
    zero: Any = 1 << (bits - 1)
    if zero_points is not None:
        zero = zero_points.reshape([N, -1])
        zero = zero if zero.dtype.is_floating_point else _unpacked(zero, bits)[:, :blocks]
        zero = zero.reshape([N, blocks, 1]).to(a.dtype)
    weight = (whole.to(a.dtype) - zero) * scales.reshape([N, blocks, 1])
    return F.linear(a, weight.reshape([N, -1])[:, :K], bias)


def _unpacked(x: Tensor, bits: int) -> Tensor:
    """Bytes as numbers of 8 bits, or twice as many of 4, the low ones first."""
    if bits == 8:
        return x
    both = gw.stack([gw.bitwise_and(x, 15), gw.bitwise_right_shift(x, 4)], dim=-1)
    return both.reshape([*x.shape[:-1], -1])


def _of_two_quantized(name: str, function: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Enter a function of two tensors of real numbers for quantized ones."""
    @_op(name)
    def compute(
        a: Tensor, a_scale: Tensor, a_zero: Any, b: Tensor, b_scale: Tensor, b_zero: Any,
        y_scale: Tensor, y_zero: Any = None,
    ) -> Any:  # fmt: skip
        reals = dequantize_linear(a, a_scale, a_zero), dequantize_linear(b, b_scale, b_zero)
        return quantize_linear(function(*reals), y_scale, y_zero)


_of_two_quantized("QLinearAdd", gw.add)
_of_two_quantized("QLinearMul", gw.mul)


def _of_quantized(
    name: str, function: Callable[..., Tensor], *options_of: Callable[..., Any]
) -> None:
    """Enter a function of real numbers for quantized ones."""
    @_op(name, options_of=(function, *options_of))
    def compute(
        x: Tensor, x_scale: Tensor, x_zero: Any, y_scale: Tensor, y_zero: Any = None,
        **options: Any,
    ) -> Any:  # fmt: skip
        y = function(dequantize_linear(x, x_scale, x_zero), **options)
        return quantize_linear(y, y_scale, y_zero)


def _leaky_relu(x: Tensor, *, alpha: float = 0.01) -> Tensor:
    return F.leaky_relu(x, alpha)


def _softmax(x: Tensor, *, axis: int, opset: int) -> Tensor:
    if opset < 13:
        raise NotImplementedError("QLinearSoftmax of rows")
    return gw.softmax(x, dim=axis)


def _with_channels_first(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def compute(x: Tensor, *, channels_last: int = 0, **options: Any) -> Tensor:
        if channels_last:
            raise NotImplementedError("pooling of quantized numbers with channels_last")
        return function(x, **options)

    return compute


_of_quantized("QLinearSigmoid", lambda x: gw.sigmoid(x))
_of_quantized("QLinearLeakyRelu", _leaky_relu)
_of_quantized("QLinearSoftmax", _softmax)
_of_quantized("QLinearGlobalAveragePool", _with_channels_first(global_average_pool))
_of_quantized("QLinearAveragePool", _with_channels_first(average_pool), average_pool, Windows)


@_op("QLinearConcat")
def qlinear_concat(y_scale: Tensor, y_zero: Any, *parts: Any, axis: int) -> Any:
    """Quantized tensors, each with a scale and zero point of its own, one after the other."""
    reals = [dequantize_linear(*parts[i : i + 3]) for i in range(0, len(parts), 3)]
    return quantize_linear(gw.cat(reals, dim=axis), y_scale, y_zero)


@_op("QGemm")
def q_gemm(
    a: Tensor, a_scale: Tensor, a_zero: Tensor | None, b: Tensor, b_scale: Tensor,
    b_zero: Tensor | None, c: Tensor | None = None, y_scale: Tensor | None = None,
    y_zero: Any = None, *, alpha: float = 1.0, transA: int = 0, transB: int = 0,
) -> Any:  # fmt: skip
    """The product of quantized matrices plus integers c, quantized where there is a y_scale."""
    a, b = a.t() if transA else a, b.t() if transB else b
    total = _plus(exact_product(a, b, a_zero, b_zero), c)
    real = (total * alpha).float() * (a_scale * b_scale)
    return real if y_scale is None else quantize_linear(real, y_scale, y_zero)


class _QuantizedLayer(Layer):
    """A recurrent layer whose weights are integers (features, gates hidden), their scale and
    their zero point."""

    def of_input(self, x: Tensor) -> Tensor:
        return self._product(x, *self.weight) + self.input_bias

    def of_state(self, hidden: Tensor) -> Tensor:
        return self._product(hidden, *self.recurrent) + self.hidden_bias

    @staticmethod
    def _product(x: Tensor, weight: Tensor, weight_scale: Tensor, zero_point: Tensor) -> Tensor:
        total, scale = _dynamically(x, weight, zero_point)
        return total * (scale * weight_scale)


@_op("DynamicQuantizeLSTM", options_of=(lstm, run_layers))
def dynamic_quantize_lstm(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None, lengths: Tensor | None,
    initial_h: Tensor | None, initial_c: Tensor | None, p: Tensor | None, w_scale: Tensor,
    w_zero_point: Tensor, r_scale: Tensor, r_zero_point: Tensor, *, hidden_size: int,
    **options: Any,
) -> Tensors:  # fmt: skip
    """LSTM whose inputs and states are quantized over their range at each step."""
    weights, recurrent = [
        list(zip(*[one.unbind(0) for one in parts], strict=True))
        for parts in ((w, w_scale, w_zero_point), (r, r_scale, r_zero_point))
    ]
    return lstm(
        x, weights, recurrent, b, lengths, initial_h, initial_c, p, layer=_QuantizedLayer,
        hidden_size=hidden_size, **options,
    )
