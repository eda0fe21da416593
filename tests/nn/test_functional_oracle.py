"""Values, gradients, dtypes and shapes of nn.functional against PyTorch's, layouts swept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import graphwright as gw
import graphwright.nn.functional as G

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """`call(F, *tensors)`; inputs by shape; integer inputs by (shape, bound)."""

    call: Callable[..., Any]
    shapes: tuple[Any, ...]
    positive: frozenset[int] = frozenset()
    no_grad: frozenset[int] = frozenset()
    tolerance: float = 1e-10
    empty: bool = True


def _elementwise(call: Callable[..., Any], tolerance: float = 1e-10) -> Case:
    return Case(call, ((4, 5, 6),), tolerance=tolerance)


def _loss(call: Callable[..., Any], **options: Any) -> Case:
    return Case(call, ((4, 5), (4, 5)), **options)


ACTIVATIONS = {
    "relu": _elementwise(lambda F, x: F.relu(x)),
    "relu6": _elementwise(lambda F, x: F.relu6(x * 5)),
    "gelu": _elementwise(lambda F, x: F.gelu(x)),
    "gelu_tanh": _elementwise(lambda F, x: F.gelu(x, approximate="tanh")),
    "silu": _elementwise(lambda F, x: F.silu(x)),
    "mish": _elementwise(lambda F, x: F.mish(x)),
    "hardswish": _elementwise(lambda F, x: F.hardswish(x * 3), 1e-7),
    "hardsigmoid": _elementwise(lambda F, x: F.hardsigmoid(x * 3), 1e-7),
    "selu": _elementwise(lambda F, x: F.selu(x)),
    "elu": _elementwise(lambda F, x: F.elu(x, 0.7)),
    "leaky_relu": _elementwise(lambda F, x: F.leaky_relu(x, 0.2)),
    "hardtanh": _elementwise(lambda F, x: F.hardtanh(x, -0.5, 0.8)),
    "softplus": _elementwise(lambda F, x: F.softplus(x * 20, beta=2.0, threshold=15.0)),
    "logsigmoid": _elementwise(lambda F, x: F.logsigmoid(x * 10)),
    "softsign": _elementwise(lambda F, x: F.softsign(x)),
    "sigmoid": _elementwise(lambda F, x: F.sigmoid(x)),
    "tanh": _elementwise(lambda F, x: F.tanh(x)),
}

SOFTMAXES = {
    "softmax": Case(lambda F, x: F.softmax(x, dim=-1), ((3, 4, 7),)),
    "softmax_0": Case(lambda F, x: F.softmax(x, dim=0), ((3, 4, 7),)),
    "softmax_wide": Case(lambda F, x: F.softmax(x, dim=1), ((3, 400),)),
    "log_softmax": Case(lambda F, x: F.log_softmax(x, dim=-1), ((3, 4, 7),)),
    "log_softmax_1": Case(lambda F, x: F.log_softmax(x, dim=1), ((3, 4, 7),)),
    "softmax_scalar": Case(lambda F, x: F.softmax(x, dim=0), ((),), empty=False),
    "log_softmax_scalar": Case(lambda F, x: F.log_softmax(x, dim=-1), ((),), empty=False),
}

LOSSES = {
    "mse": _loss(lambda F, x, t: F.mse_loss(x, t)),
    "mse_none": _loss(lambda F, x, t: F.mse_loss(x, t, reduction="none")),
    "mse_sum": _loss(lambda F, x, t: F.mse_loss(x, t, reduction="sum")),
    "l1": _loss(lambda F, x, t: F.l1_loss(x, t)),
    "smooth_l1": _loss(lambda F, x, t: F.smooth_l1_loss(x, t, beta=0.7)),
    "smooth_l1_0": _loss(lambda F, x, t: F.smooth_l1_loss(x, t, beta=0.0)),
    "huber": _loss(lambda F, x, t: F.huber_loss(x, t, delta=0.7)),
    "kl_div": _loss(
        lambda F, x, t: F.kl_div(x, t, reduction="batchmean"), positive=frozenset({1})
    ),
    "kl_div_log": _loss(lambda F, x, t: F.kl_div(x, t, reduction="sum", log_target=True)),
    "bce_logits": _loss(
        lambda F, x, t: F.binary_cross_entropy_with_logits(x * 10, t), positive=frozenset({1})
    ),
    "bce": _loss(lambda F, x, t: F.binary_cross_entropy(F.sigmoid(x), t), positive=frozenset({1})),
    "bce_weight": Case(
        lambda F, x, t, w: F.binary_cross_entropy(F.sigmoid(x), t, weight=w, reduction="sum"),
        ((4, 5), (4, 5), (4, 5)),
        positive=frozenset({1, 2}),
        no_grad=frozenset({2}),
    ),
    "bce_pos_weight": Case(
        lambda F, x, t, w: F.binary_cross_entropy_with_logits(x, t, pos_weight=w),
        ((4, 5), (4, 5), (5,)),
        positive=frozenset({1, 2}),
        no_grad=frozenset({2}),
    ),
    "ce": Case(lambda F, x, t: F.cross_entropy(x, t), ((6, 5), ((6,), 5))),
    "ce_one": Case(lambda F, x, t: F.cross_entropy(x, t), ((5,), ((), 5)), empty=False),
    "ce_none": Case(lambda F, x, t: F.cross_entropy(x, t, reduction="none"), ((6, 5), ((6,), 5))),
    "ce_ignore": Case(lambda F, x, t: F.cross_entropy(x, t, ignore_index=2), ((9, 5), ((9,), 5))),
    "ce_weight": Case(
        lambda F, x, t, w: F.cross_entropy(x, t, weight=w, ignore_index=1),
        ((9, 5), ((9,), 5), (5,)),
        positive=frozenset({2}),
        no_grad=frozenset({2}),
    ),
    "ce_smooth": Case(
        lambda F, x, t, w: F.cross_entropy(x, t, w, ignore_index=1, label_smoothing=0.1),
        ((9, 5), ((9,), 5), (5,)),
        positive=frozenset({2}),
        no_grad=frozenset({2}),
    ),
    "ce_smooth_sum": Case(
        lambda F, x, t: F.cross_entropy(x, t, label_smoothing=0.1, reduction="sum"),
        ((9, 5), ((9,), 5)),
    ),
    "ce_smooth_none": Case(
        lambda F, x, t: F.cross_entropy(x, t, label_smoothing=0.1, reduction="none"),
        ((9, 5), ((9,), 5)),
    ),
    "ce_image": Case(
        lambda F, x, t: F.cross_entropy(x, t, ignore_index=3), ((2, 5, 3, 4), ((2, 3, 4), 5))
    ),
    "ce_soft": _loss(lambda F, x, t: F.cross_entropy(x, t), positive=frozenset({1})),
    "ce_soft_smooth": Case(
        lambda F, x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.2),
        ((4, 5, 3), (4, 5, 3), (5,)),
        positive=frozenset({1, 2}),
        no_grad=frozenset({2}),
    ),
    "nll_sum": Case(
        lambda F, x, t: F.nll_loss(x, t, reduction="sum", ignore_index=0), ((6, 5), ((6,), 5))
    ),
}

NORMS = {
    "layer_norm": Case(lambda F, x, w, b: F.layer_norm(x, (6,), w, b), ((3, 4, 6), (6,), (6,))),
    "layer_norm_2": Case(lambda F, x: F.layer_norm(x, (4, 6), eps=1e-3), ((3, 4, 6),)),
    "layer_norm_w": Case(lambda F, x, w: F.layer_norm(x, (4, 6), w), ((3, 4, 6), (4, 6))),
    "layer_norm_all": Case(lambda F, x, w: F.layer_norm(x, (6,), w), ((6,), (6,)), empty=False),
    "rms_norm": Case(lambda F, x, w: F.rms_norm(x, (6,), w), ((3, 4, 6), (6,))),
    "rms_norm_plain": Case(lambda F, x: F.rms_norm(x, (4, 6), eps=1e-3), ((3, 4, 6),)),
    "group_norm": Case(
        lambda F, x, w, b: F.group_norm(x, 2, w, b), ((3, 4, 5), (4,), (4,)), empty=False
    ),
    "batch_norm": Case(
        lambda F, x, w, b: F.batch_norm(x, None, None, w, b, True),
        ((5, 4, 3, 2), (4,), (4,)),
        empty=False,
    ),
    "batch_norm_2d": Case(
        lambda F, x: F.batch_norm(x, None, None, training=True), ((5, 4),), empty=False
    ),
    "batch_norm_eval": Case(
        lambda F, x, m, v, w, b: F.batch_norm(x, m, v, w, b, False),
        ((5, 4, 3), (4,), (4,), (4,), (4,)),
        positive=frozenset({2}),
        no_grad=frozenset({1, 2}),
    ),
}


def _conv(**options: Any) -> Callable[..., Any]:
    return lambda F, x, w, b: F.conv2d(x, w, b, **options)


def _conv_case(x: tuple[int, ...], w: tuple[int, ...], **options: Any) -> Case:
    return Case(_conv(**options), (x, w, (w[0],)), empty=len(x) == 4)


WINDOWS = {
    "conv": _conv_case((2, 3, 7, 8), (4, 3, 3, 3)),
    "conv_one": _conv_case((1, 3, 7, 8), (4, 3, 3, 2), padding=1),
    "conv_stride": _conv_case((2, 3, 9, 8), (4, 3, 3, 2), stride=(2, 3), padding=(1, 2)),
    "conv_dilation": _conv_case((2, 3, 9, 9), (4, 3, 3, 2), dilation=(2, 1), padding=2),
    "conv_groups": _conv_case((2, 4, 6, 6), (6, 2, 3, 3), groups=2, padding=1),
    "conv_depthwise": _conv_case((2, 4, 6, 6), (4, 1, 3, 3), groups=4),
    "conv_same": _conv_case((2, 3, 6, 6), (4, 3, 3, 3), padding="same"),
    "conv_unbatched": _conv_case((3, 6, 6), (4, 3, 3, 3), padding="valid"),
    "conv_1x1": _conv_case((2, 3, 5, 5), (4, 3, 1, 1)),
    "max_pool": Case(lambda F, x: F.max_pool2d(x, 2), ((2, 3, 6, 8),)),
    "max_pool_overlap": Case(lambda F, x: F.max_pool2d(x, 3, 2, 1), ((2, 3, 7, 8),)),
    "max_pool_dilated": Case(
        lambda F, x: F.max_pool2d(x, (3, 2), (1, 2), (1, 0), (2, 1)), ((2, 3, 7, 8),)
    ),
    "max_pool_ceil": Case(
        lambda F, x: F.max_pool2d(x, 3, 2, ceil_mode=True), ((2, 3, 8, 6),)
    ),
    "max_pool_unbatched": Case(lambda F, x: F.max_pool2d(x, 2), ((3, 6, 8),), empty=False),
    "avg_pool": Case(lambda F, x: F.avg_pool2d(x, 2), ((2, 3, 6, 8),)),
    "avg_pool_pad": Case(lambda F, x: F.avg_pool2d(x, 3, 2, 1), ((2, 3, 7, 8),)),
    "avg_pool_exclude": Case(
        lambda F, x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), ((2, 3, 7, 8),)
    ),
    "adaptive": Case(lambda F, x: F.adaptive_avg_pool2d(x, (3, 2)), ((2, 3, 7, 8),)),
    "adaptive_1": Case(lambda F, x: F.adaptive_avg_pool2d(x, 1), ((2, 3, 7, 8),)),
    "adaptive_1_of_a_plane": Case(
        lambda F, x: F.adaptive_avg_pool2d(x, 1), ((7, 8),), empty=False
    ),
    "adaptive_1d": Case(lambda F, x: F.adaptive_avg_pool1d(x, 2), ((3, 8),)),
    "adaptive_max": Case(lambda F, x: F.adaptive_max_pool2d(x, (3, 2)), ((3, 7, 8),)),
    "adaptive_none": Case(lambda F, x: F.adaptive_avg_pool2d(x, (None, 3)), ((2, 3, 5, 6),)),
}

LAYERS = {
    "linear": Case(lambda F, x, w, b: F.linear(x, w, b), ((4, 5), (3, 5), (3,))),
    "linear_3d": Case(lambda F, x, w, b: F.linear(x, w, b), ((2, 4, 5), (3, 5), (3,))),
    "linear_1d": Case(lambda F, x, w: F.linear(x, w), ((5,), (3, 5)), empty=False),
    "embedding": Case(lambda F, i, w: F.embedding(i, w), (((2, 9), 7), (7, 3))),
    "embedding_pad": Case(
        lambda F, i, w: F.embedding(i, w, padding_idx=2), (((2, 9), 7), (7, 3))
    ),
    "attention": Case(
        lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v),
        ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)),
    ),
    "attention_causal": Case(
        lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3),
        ((2, 5, 4), (2, 5, 4), (2, 5, 4)),
    ),
    "attention_mask": Case(
        lambda F, q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m),
        ((2, 5, 4), (2, 5, 4), (2, 5, 4), (5, 5)),
        empty=False,
    ),
}

CASES = {**ACTIVATIONS, **SOFTMAXES, **LOSSES, **NORMS, **WINDOWS, **LAYERS}


def _values(case: Case, dtype: Any) -> list[Array]:
    rng = np.random.default_rng(3)
    arrays = []
    for position, shape in enumerate(case.shapes):
        if shape and isinstance(shape[0], tuple):
            arrays.append(rng.integers(0, shape[1], shape[0]))
        elif position in case.positive:
            arrays.append(rng.random(shape).astype(dtype) * 0.9 + 0.05)
        else:
            arrays.append(rng.standard_normal(shape).astype(dtype))
    return [np.asarray(array) for array in arrays]


def _laid_out(array: Array, layout: str) -> Array:
    """The same values in other memory."""
    if layout == "transposed":
        return np.ascontiguousarray(array.T).T
    if layout == "strided":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2]
    return array


def _tensor(library: Any, array: Array, layout: str, needs_grad: bool) -> Any:
    strided = array.ndim > 0 and layout != "contiguous"
    array = _laid_out(array, layout) if strided else array
    if library is gw:
        tensor = gw.tensor(array)
        if layout == "transposed" and array.ndim:
            backwards = range(array.ndim - 1, -1, -1)
            tensor = gw.tensor(array.T.copy()).permute(*backwards)
        if layout == "strided" and array.ndim:
            wide = gw.zeros(*array.shape[:-1], 2 * array.shape[-1], dtype=tensor.dtype)
            wide[..., ::2] = tensor
            tensor = wide[..., ::2]
    else:
        tensor = torch.from_numpy(array.copy() if array.ndim == 0 else array)
    return tensor.requires_grad_() if needs_grad else tensor


def _run(library: Any, F: Any, case: Case, arrays: list[Array], layout: str) -> list[Any]:
    """[result, gradients of all differentiable inputs] as arrays."""
    tensors = [
        _tensor(library, a, layout, a.dtype.kind == "f" and i not in case.no_grad)
        for i, a in enumerate(arrays)
    ]
    out = case.call(F, *tensors)
    weights = np.cos(np.arange(int(np.prod(out.shape))), dtype=np.float64)
    weights = weights.reshape(tuple(out.shape)).astype(arrays_dtype(arrays))
    cotangent = gw.tensor(weights) if library is gw else torch.from_numpy(np.asarray(weights))
    out.backward(cotangent)
    grads = [t.grad for t in tensors if t.requires_grad]
    return [np.asarray(t.detach().numpy()) for t in (out, *grads)]


def arrays_dtype(arrays: list[Array]) -> Any:
    return next(a.dtype for a in arrays if a.dtype.kind == "f")


def _compare(case: Case, arrays: list[Array], layout: str, tolerance: float) -> None:
    ours = _run(gw, G, case, arrays, layout)
    theirs = _run(torch, torch.nn.functional, case, arrays, layout)
    for mine, reference in zip(ours, theirs, strict=True):
        assert mine.shape == reference.shape and mine.dtype == reference.dtype
        np.testing.assert_allclose(mine, reference, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "strided"])
@pytest.mark.parametrize("name", CASES)
def test_float64(name: str, layout: str) -> None:
    case = CASES[name]
    _compare(case, _values(case, np.float64), layout, case.tolerance)


@pytest.mark.parametrize("name", CASES)
def test_float32(name: str) -> None:
    case = CASES[name]
    _compare(case, _values(case, np.float32), "contiguous", 2e-5)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.empty])
def test_empty_batch(name: str) -> None:
    case = CASES[name]
    first = case.shapes[0][0] if isinstance(case.shapes[0][0], tuple) else case.shapes[0]
    batch = first[0]
    arrays = [
        a[:0] if a.ndim and a.shape[0] == batch and _is_batched(case, i) else a
        for i, a in enumerate(_values(case, np.float64))
    ]
    _compare(case, arrays, "contiguous", case.tolerance)


def _is_batched(case: Case, position: int) -> bool:
    """Whether an input's first dimension is the batch: weights' is not."""
    if case.call.__code__.co_varnames[1 + position] in ("w", "b", "m"):
        return case.shapes[position] == case.shapes[0] and len(case.shapes[0]) > 1
    return True


def test_special_values() -> None:
    values = np.array([-np.inf, np.inf, np.nan, -0.0, 0.0, 1e30, -1e30, 88.0, -88.0, 1e-40])
    for name, case in ACTIVATIONS.items():
        for kind in (np.float32, np.float64):
            x = values.astype(kind)
            ours = case.call(G, gw.tensor(x)).numpy()
            theirs = case.call(torch.nn.functional, torch.from_numpy(x)).numpy()
            known = ~np.isinf(x) if name == "gelu" else np.full(x.shape, True)
            np.testing.assert_allclose(
                ours[known], theirs[known], rtol=1e-5, atol=1e-30, err_msg=name
            )
    rows = np.array([[-np.inf] * 3, [0, -np.inf, 1], [np.inf, 0, 1], [np.nan, 0, 1]])
    for call in (G.softmax, G.log_softmax):
        reference = getattr(torch.nn.functional, call.__name__)
        np.testing.assert_allclose(
            call(gw.tensor(rows), 1).numpy(), reference(torch.from_numpy(rows), 1).numpy()
        )


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "name", ["gelu", "silu", "softmax", "log_softmax", "layer_norm", "rms_norm", "batch_norm",
             "conv", "max_pool", "avg_pool", "linear", "ce"]
)  # fmt: skip
def test_half_precision(name: str, kind: str) -> None:
    case = CASES[name]
    arrays = _values(case, np.float32)
    ours = [gw.tensor(a).to(getattr(gw, kind)) if a.dtype.kind == "f" else gw.tensor(a)
            for a in arrays]  # fmt: skip
    theirs = [torch.tensor(a).to(getattr(torch, kind)) if a.dtype.kind == "f" else torch.tensor(a)
              for a in arrays]  # fmt: skip
    mine = case.call(G, *ours)
    assert mine.dtype is getattr(gw, kind)
    reference = case.call(torch.nn.functional, *theirs).float().numpy()
    tolerance = 1e-2 if kind == "bfloat16" else 2e-3
    np.testing.assert_allclose(mine.float().numpy(), reference, rtol=tolerance, atol=tolerance)
