"""Layers that few models need: SyncBatchNorm, CrossMapLRN2d, LinearCrossEntropyLoss and others."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn
from graphwright.nn import functional as F
from graphwright.nn import utils


def test_one_process_normalises_as_without_a_group() -> None:
    plain = nn.Sequential(nn.Conv2d(2, 3, 1), nn.Sequential(nn.BatchNorm2d(3, bias=False)))
    plain.eval()
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(plain)
    norm = converted[1][0]
    assert isinstance(norm, nn.SyncBatchNorm) and not norm.training and norm.bias is None
    assert converted[0] is plain[0]
    alone = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(3))
    x = gw.randn(4, 3)
    assert gw.equal(alone(x), nn.BatchNorm1d(3)(x))
    with pytest.raises(ValueError, match="at least 2D"):
        alone(gw.ones(3))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_neighbouring_channels_damp_each_other(size: int) -> None:
    x = gw.randn(2, 6, 2, 3, dtype=gw.float64, requires_grad=True)
    layer = nn.CrossMapLRN2d(size, alpha=0.3, beta=0.6, k=2.0)
    squares, reach = x.detach().numpy() ** 2, (size - 1) // 2 + 1
    summed = np.stack(
        [
            squares[:, : c + reach].sum(1) - squares[:, 1 : max(c - reach, 0) + 1].sum(1)
            for c in range(6)
        ],
        1,
    )
    expected = x.detach().numpy() / (2.0 + 0.3 / size * summed) ** 0.6
    np.testing.assert_allclose(layer(x).detach().numpy(), expected)
    assert gw.autograd.gradcheck(layer, (x,))
    np.testing.assert_allclose(gw.compile(layer)(x).detach().numpy(), expected)
    with pytest.raises(ValueError, match="to be 4D"):
        layer(gw.ones(2, 3))


@pytest.mark.parametrize("outputs", [(), (3, 2)])
def test_cross_entropy_of_a_linear_layer(outputs: tuple[int, ...]) -> None:
    options = nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    loss = nn.LinearCrossEntropyLoss(5, 4, out_features=outputs, bias=True, options=options)
    x = gw.randn(3, 5)
    target = gw.randint(0, 4, (3, *outputs))
    logits = loss.linear(x).reshape(3, 4, *outputs)
    expected = F.cross_entropy(logits, target)
    assert loss(x, target).item() == pytest.approx(expected.item())
    loss(x, target).backward()
    assert loss.linear.weight.grad is not None
    assert gw.compile(loss, fullgraph=True)(x, target).item() == pytest.approx(expected.item())


def test_cross_entropy_of_a_linear_layer_refuses() -> None:
    with pytest.raises(RuntimeError, match=r"expected weight shape to be \(2,\)"):
        nn.LinearCrossEntropyLoss(3, 2, weight=gw.ones(3))
    with pytest.raises(RuntimeError, match="label_smoothing to be in range"):
        nn.LinearCrossEntropyLoss(3, 2, label_smoothing=2.0)
    loss = nn.LinearCrossEntropyLoss(3, 2)
    with pytest.raises(RuntimeError, match="got 5 and 3, respectively"):
        loss(gw.ones(4, 5), gw.zeros(4, dtype=gw.int64))
    with pytest.raises(ValueError, match="batch_size"):
        loss(gw.ones(4, 3), gw.zeros(5, dtype=gw.int64))


def test_layers_of_old_models_warn() -> None:
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        loss = nn.NLLLoss2d(reduction="sum")
    assert loss(gw.zeros(1, 2, 1, 1), gw.zeros(1, 1, 1, dtype=gw.int64)).item() == 0
    with pytest.warns(FutureWarning, match="Container"):
        assert list(nn.Container(first=nn.ReLU())._modules) == ["first"]


def test_only_the_weights_of_convolutions_change_their_memory_format() -> None:
    net = nn.Sequential(nn.Conv2d(2, 3, 2), nn.Conv3d(2, 3, 2), nn.Linear(2, 2))
    assert utils.convert_conv2d_weight_memory_format(net, gw.channels_last) is net
    assert net[0].weight.is_contiguous(memory_format=gw.channels_last)
    assert net[1].weight.is_contiguous()


def test_layers_stand_in_the_modules_where_pytorch_has_them() -> None:
    from graphwright.nn.modules import adaptive, batchnorm, channelshuffle, conv, normalization

    assert batchnorm.SyncBatchNorm is nn.SyncBatchNorm
    assert conv.LazyConv2d is nn.LazyConv2d
    assert normalization.CrossMapLRN2d is nn.CrossMapLRN2d
    assert channelshuffle.ChannelShuffle is nn.ChannelShuffle
    assert adaptive.AdaptiveLogSoftmaxWithLoss is nn.AdaptiveLogSoftmaxWithLoss
