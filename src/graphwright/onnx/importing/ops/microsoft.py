"""Operators of ONNX Runtime's own domain that its optimizer and quantizer write into files."""

from __future__ import annotations

from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.ops.convolution import conv
from graphwright.onnx.importing.ops.pooling import average_pool, global_average_pool
from graphwright.onnx.importing.ops.products import exact_product, minus_zero_point
from graphwright.onnx.importing.ops.quantization import (
    dequantize_linear,
    dynamic_quantize_linear,
    quantize_linear,
)
from graphwright.onnx.importing.ops.recurrent import (
    Layer,
    activations_of,
    directions_of,
    lstm_step,
    run_layers,
)
from graphwright.onnx.importing.opsets import MICROSOFT, Tensors, op

op("QuantizeLinear", domain=MICROSOFT)(quantize_linear)
op("DequantizeLinear", domain=MICROSOFT)(dequantize_linear)


@op("Gelu", domain=MICROSOFT)
def gelu(x: Tensor) -> Tensor:
    """Gelu."""
    return F.gelu(x)


@op("BiasGelu", domain=MICROSOFT)
def bias_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """Gelu of x plus a bias."""
    return F.gelu(x + bias)


@op("FastGelu", domain=MICROSOFT)
def fast_gelu(x: Tensor, bias: Tensor | None = None) -> Tensor:
    """The "tanh" approximation of Gelu."""
    return F.gelu(x if bias is None else x + bias, approximate="tanh")


@op("QuickGelu", domain=MICROSOFT)
def quick_gelu(x: Tensor, *, alpha: float = 1.702) -> Tensor:
    """x sigmoid(alpha x)."""
    return x * gw.sigmoid(alpha * x)


@op("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_normalization(
    x: Tensor, skip: Tensor, gamma: Tensor, beta: Tensor | None = None,
    bias: Tensor | None = None, *, epsilon: float = 1e-12, n_outputs: int = 1,
) -> Any:  # fmt: skip
    """LayerNormalization of a sum; of four outputs the last is the sum."""
    total = x + skip if bias is None else x + skip + bias
    y = F.layer_norm(total, [total.shape[-1]], gamma, beta, epsilon)
    return (y, None, None, total)[:n_outputs] if n_outputs > 1 else y


@op("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_simplified_layer_normalization(
    x: Tensor, skip: Tensor, gamma: Tensor, bias: Tensor | None = None, *, epsilon: float = 1e-12,
    n_outputs: int = 1,
) -> Any:  # fmt: skip
    """RMSNormalization of a sum; of four outputs the last is the sum."""
    total = x + skip if bias is None else x + skip + bias
    y = F.rms_norm(total, [total.shape[-1]], gamma, epsilon)
    return (y, None, None, total)[:n_outputs] if n_outputs > 1 else y


@op("FusedMatMul", domain=MICROSOFT)
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


@op("FusedConv", domain=MICROSOFT)
def fused_conv(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, added: Tensor | None = None, *,
    activation: str = "", activation_params: list[float] | None = None,
    kernel_shape: list[int] | None = None, strides: list[int] | None = None,
    dilations: list[int] | None = None, pads: list[int] | None = None, auto_pad: str = "NOTSET",
    group: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution, a sum, and an activation."""
    y = conv(
        x, weight, bias, kernel_shape=kernel_shape, strides=strides, dilations=dilations,
        pads=pads, auto_pad=auto_pad, group=group,
    )  # fmt: skip
    y = y if added is None else y + added
    parameters = activation_params or []
    if activation in ("", "Relu"):
        return gw.relu(y) if activation else y
    if activation == "Clip":
        return y.clamp(parameters[0], parameters[1])
    (function,) = activations_of([activation], parameters[:1], parameters[1:])
    return function(y)


def _dynamically(x: Tensor, b: Tensor, b_zero_point: Tensor | None) -> tuple[Tensor, Tensor]:
    """x quantized over its range times integers, exact, and the scale of x."""
    quantized, scale, zero_point = dynamic_quantize_linear(x)
    whole = quantized.to(gw.int32) - zero_point.to(gw.int32)
    return exact_product(whole, minus_zero_point(b, b_zero_point, True)).float(), scale


@op("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(
    a: Tensor, b: Tensor, b_scale: Tensor, b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """a, quantized over its range, times a quantized matrix, plus a bias."""
    total, scale = _dynamically(a, b, b_zero_point)
    y = total * (scale * b_scale)
    return y if bias is None else y + bias


@op("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(
    a: Tensor, b: Tensor, a_scale: Tensor, b_scale: Tensor, a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None, bias: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The product of quantized matrices, plus a bias."""
    total = exact_product(
        minus_zero_point(a, a_zero_point, False), minus_zero_point(b, b_zero_point, True)
    )
    y = total.float() * (a_scale * b_scale)
    return y if bias is None else y + bias


@op("MatMulNBits", domain=MICROSOFT)
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


def _through_floats(
    function: Any, x: Tensor, x_scale: Tensor, x_zero: Any, y_scale: Tensor, y_zero: Any
) -> Any:
    """A function of real numbers on quantized ones."""
    return quantize_linear(function(dequantize_linear(x, x_scale, x_zero)), y_scale, y_zero)


@op("QLinearAdd", domain=MICROSOFT)
def qlinear_add(
    a: Tensor, a_scale: Tensor, a_zero: Any, b: Tensor, b_scale: Tensor, b_zero: Any,
    y_scale: Tensor, y_zero: Any = None,
) -> Any:  # fmt: skip
    """The sum of quantized tensors, quantized."""
    total = dequantize_linear(a, a_scale, a_zero) + dequantize_linear(b, b_scale, b_zero)
    return quantize_linear(total, y_scale, y_zero)


@op("QLinearMul", domain=MICROSOFT)
def qlinear_mul(
    a: Tensor, a_scale: Tensor, a_zero: Any, b: Tensor, b_scale: Tensor, b_zero: Any,
    y_scale: Tensor, y_zero: Any = None,
) -> Any:  # fmt: skip
    """The product of quantized tensors, element by element, quantized."""
    product = dequantize_linear(a, a_scale, a_zero) * dequantize_linear(b, b_scale, b_zero)
    return quantize_linear(product, y_scale, y_zero)


@op("QLinearSigmoid", domain=MICROSOFT)
def qlinear_sigmoid(
    x: Tensor, x_scale: Tensor, x_zero: Any, y_scale: Tensor, y_zero: Any = None
) -> Any:
    """Sigmoid of quantized numbers, quantized."""
    return _through_floats(gw.sigmoid, x, x_scale, x_zero, y_scale, y_zero)


@op("QLinearLeakyRelu", domain=MICROSOFT)
def qlinear_leaky_relu(
    x: Tensor, x_scale: Tensor, x_zero: Any, y_scale: Tensor, y_zero: Any = None, *,
    alpha: float = 0.01,
) -> Any:  # fmt: skip
    """LeakyRelu of quantized numbers, quantized."""
    def function(real: Tensor) -> Tensor:
        return F.leaky_relu(real, alpha)

    return _through_floats(function, x, x_scale, x_zero, y_scale, y_zero)


@op("QLinearGlobalAveragePool", domain=MICROSOFT)
def qlinear_global_average_pool(
    x: Tensor, x_scale: Tensor, x_zero: Any, y_scale: Tensor, y_zero: Any = None, *,
    channels_last: int = 0,
) -> Any:  # fmt: skip
    """The means of channels of quantized numbers, quantized."""
    if channels_last:
        raise NotImplementedError("QLinearGlobalAveragePool with channels_last")
    return _through_floats(global_average_pool, x, x_scale, x_zero, y_scale, y_zero)


@op("QLinearAveragePool", domain=MICROSOFT)
def qlinear_average_pool(
    x: Tensor, x_scale: Tensor, x_zero: Any, y_scale: Tensor, y_zero: Any = None, *,
    kernel_shape: list[int], strides: list[int] | None = None, pads: list[int] | None = None,
    auto_pad: str = "NOTSET", ceil_mode: int = 0, count_include_pad: int = 0,
    channels_last: int = 0,
) -> Any:  # fmt: skip
    """The means of windows of quantized numbers, quantized."""
    if channels_last:
        raise NotImplementedError("QLinearAveragePool with channels_last")

    def function(real: Tensor) -> Tensor:
        return average_pool(
            real, kernel_shape=kernel_shape, strides=strides, pads=pads, auto_pad=auto_pad,
            ceil_mode=ceil_mode, count_include_pad=count_include_pad,
        )  # fmt: skip

    return _through_floats(function, x, x_scale, x_zero, y_scale, y_zero)


@op("QLinearSoftmax", domain=MICROSOFT)
def qlinear_softmax(
    x: Tensor, x_scale: Tensor, x_zero: Any, y_scale: Tensor, y_zero: Any = None, *, axis: int,
    opset: int,
) -> Any:  # fmt: skip
    """Softmax of quantized numbers, quantized."""
    if opset < 13:
        raise NotImplementedError("QLinearSoftmax of rows")

    def function(real: Tensor) -> Tensor:
        return gw.softmax(real, dim=axis)

    return _through_floats(function, x, x_scale, x_zero, y_scale, y_zero)


@op("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(y_scale: Tensor, y_zero: Any, *parts: Any, axis: int) -> Any:
    """Quantized tensors, each with a scale and zero point of its own, one after the other."""
    reals = [dequantize_linear(*parts[i : i + 3]) for i in range(0, len(parts), 3)]
    return quantize_linear(gw.cat(reals, dim=axis), y_scale, y_zero)


@op("QGemm", domain=MICROSOFT)
def q_gemm(
    a: Tensor, a_scale: Tensor, a_zero: Tensor | None, b: Tensor, b_scale: Tensor,
    b_zero: Tensor | None, c: Tensor | None = None, y_scale: Tensor | None = None,
    y_zero: Any = None, *, alpha: float = 1.0, transA: int = 0, transB: int = 0,
) -> Any:  # fmt: skip
    """The product of quantized matrices plus integers c, quantized where there is a y_scale."""
    a, b = a.t() if transA else a, b.t() if transB else b
    total = exact_product(
        minus_zero_point(a, a_zero, False), minus_zero_point(b, b_zero, True)
    )
    total = total if c is None else total + c.double()
    real = (total * alpha).float() * (a_scale * b_scale)
    return real if y_scale is None else quantize_linear(real, y_scale, y_zero)


class _QuantizedLayer(Layer):
    """A recurrent layer with integers for weights, (features, gates hidden), and scales."""

    def quantized(
        self, scales: tuple[Tensor, Tensor], zeros: tuple[Tensor | None, Tensor | None]
    ) -> _QuantizedLayer:
        """This layer, with the scales and zero points of its two weights."""
        self.scales, self.zeros = scales, zeros
        return self

    def of_input(self, x: Tensor) -> Tensor:
        total, scale = _dynamically(x, self.weight, self.zeros[0])
        return total * (scale * self.scales[0]) + self.input_bias

    def of_state(self, hidden: Tensor) -> Tensor:
        total, scale = _dynamically(hidden, self.recurrent, self.zeros[1])
        return total * (scale * self.scales[1]) + self.hidden_bias


@op("DynamicQuantizeLSTM", domain=MICROSOFT)
def dynamic_quantize_lstm(
    x: Tensor, w: Tensor, r: Tensor, b: Tensor | None, lengths: Tensor | None,
    initial_h: Tensor | None, initial_c: Tensor | None, p: Tensor | None, w_scale: Tensor,
    w_zero_point: Tensor, r_scale: Tensor, r_zero_point: Tensor, *,
    activations: list[str] | None = None, activation_alpha: list[float] | None = None,
    activation_beta: list[float] | None = None, clip: float | None = None,
    direction: str = "forward", hidden_size: int, input_forget: int = 0,
) -> Tensors:  # fmt: skip
    """LSTM whose inputs and states are quantized over their range at each step."""
    count = directions_of(direction)
    functions = activations_of(
        activations or ["Sigmoid", "Tanh", "Tanh"] * count, activation_alpha, activation_beta
    )
    bias = gw.zeros([count, 8 * hidden_size]) if b is None else b
    layers: list[Layer] = []
    for k in range(count):
        layer = _QuantizedLayer(
            w[k], r[k], bias[k], functions[3 * k : 3 * k + 3], clip, hidden_size, 4
        )
        zeros = (w_zero_point[k], r_zero_point[k])
        layers.append(layer.quantized((w_scale[k], r_scale[k]), zeros))
    steps = [lstm_step(None if p is None else p[k], bool(input_forget)) for k in range(count)]
    y, (last, cells) = run_layers(
        x, layers, steps, lengths, [initial_h, initial_c], direction, 0
    )
    return y, last, cells
