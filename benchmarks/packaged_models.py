"""The architectures that `out_of_process` packages, with random weights."""

from __future__ import annotations

import graphwright as gw
from benchmarks.architectures.transformers import bert
from benchmarks.architectures.vision import resnet18
from benchmarks.compile_time import Block
from graphwright import nn
from graphwright.export import ExportedProgram, export


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
        "minilm": ("MiniLM, 16 words", bert(gw, heads=12, pooled=True),
                   gw.randint(0, 30522, (1, 16))),
        "gpt": ("GPT block of width 768, 64 words", Block(768, 12), gw.randn(1, 64, 768)),
        "resnet": ("ResNet-18, one image", resnet18(gw), gw.randn(1, 3, 224, 224)),
    }
    return {name: (title, export(model.eval(), (x,)), x)
            for name, (title, model, x) in cases.items()}
