"""The architectures that `out_of_process` packages, with random weights."""

from __future__ import annotations

import graphwright as gw
import graphwright.nn.functional as F
from benchmarks.compile_time import Block
from graphwright import nn
from graphwright.export import ExportedProgram, export


class MiniLM(nn.Module):
    """As all-MiniLM-L6-v2 (Wang et al. 2020): ids [N, T] to means of vectors [N, 384]."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(30522, 384), nn.Embedding(512, 384)
        self.norm = nn.LayerNorm(384)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(384, 12, 1536, 0.0, "gelu", batch_first=True)
            for _ in range(6))

    def forward(self, ids: gw.Tensor) -> gw.Tensor:
        x = self.norm(self.words(ids) + self.places.weight[: ids.shape[1]])
        for layer in self.layers:
            x = layer(x)
        return F.normalize(x.mean(1), dim=-1)


class Residual(nn.Module):
    """Two convolutions around which their input goes."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width),
            nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
        self.around: nn.Module = nn.Identity()
        if stride != 1 or channels != width:
            self.around = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False),
                                        nn.BatchNorm2d(width))

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        return (self.body(x) + self.around(x)).relu()


def resnet18() -> nn.Module:
    """He et al. 2016: images [N, 3, 224, 224] to [N, 1000]."""
    stages = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1),
              (256, 512, 2), (512, 512, 1)]
    return nn.Sequential(
        nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        nn.MaxPool2d(3, 2, 1), *(Residual(*stage) for stage in stages),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def digits() -> nn.Module:
    """The network of examples/package: images [N, 1, 8, 8] to [N, 10]."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(128, 10))


def programs() -> dict[str, tuple[str, ExportedProgram, gw.Tensor]]:
    """By the name of a package: what it is, its program, and the input that is measured."""
    cases: dict[str, tuple[str, nn.Module, gw.Tensor]] = {
        "digits": ("digits CNN, one image", digits(), gw.rand(1, 1, 8, 8)),
        "minilm": ("MiniLM, 16 words", MiniLM(), gw.randint(0, 30522, (1, 16))),
        "gpt": ("GPT block of width 768, 64 words", Block(768, 12), gw.randn(1, 64, 768)),
        "resnet": ("ResNet-18, one image", resnet18(), gw.randn(1, 3, 224, 224)),
    }
    return {name: (title, export(model.eval(), (x,)), x)
            for name, (title, model, x) in cases.items()}
