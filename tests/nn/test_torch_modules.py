"""Modules against PyTorch's own samples of them: text, state, results, gradients."""

from __future__ import annotations

import pytest

NAMES = """
    BatchNorm1d BatchNorm2d BatchNorm3d Bilinear BCELoss BCEWithLogitsLoss CELU CTCLoss
    CosineEmbeddingLoss CrossEntropyLoss ELU Embedding GELU GLU GaussianNLLLoss GroupNorm
    Hardshrink Hardswish Hardtanh HingeEmbeddingLoss HuberLoss InstanceNorm1d InstanceNorm2d
    InstanceNorm3d KLDivLoss L1Loss LayerNorm LeakyReLU Linear LocalResponseNorm LogSigmoid
    LogSoftmax MSELoss MarginRankingLoss Mish MultiLabelMarginLoss MultiLabelSoftMarginLoss
    MultiMarginLoss MultiheadAttention NLLLoss PReLU PoissonNLLLoss RMSNorm ReLU ReLU6 SELU
    SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink
    Softsign Tanh Tanhshrink Threshold Transformer TransformerDecoderLayer TransformerEncoder
    TransformerEncoderLayer
"""


@pytest.mark.oracle
@pytest.mark.parametrize("name", NAMES.split())
def test_module(name: str) -> None:
    pytest.importorskip("torch")
    from .torch_modules import check

    assert check(f"nn.{name}") == []
