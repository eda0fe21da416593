"""The six models whose training is measured, with the names that graphwright and PyTorch share.

Each function takes the library, `graphwright` or `torch`, and returns the model; `BATCHES` makes
what a step takes, from NumPy, so that both libraries train on the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

VOCABULARY = 1024
CLASSES = 10
FIELDS = 12
CATEGORIES = 100

Convolution = Callable[..., list[Any]]


def _convolution(lib: Any, fan_in: int, fan_out: int, size: int, stride: int = 1,
                 groups: int = 1) -> list[Any]:
    """A convolution without bias and its batch norm."""
    return [lib.nn.Conv2d(fan_in, fan_out, size, stride, size // 2, groups=groups, bias=False),
            lib.nn.BatchNorm2d(fan_out)]


def _residual(lib: Any, main: list[Any], shortcut: list[Any], last: list[Any]) -> Any:
    """A module: last(main(x) + shortcut(x)); an empty list is the identity."""

    class Residual(lib.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.main = lib.nn.Sequential(*main)
            self.shortcut = lib.nn.Sequential(*shortcut)
            self.last = lib.nn.Sequential(*last)

        def forward(self, x: Any) -> Any:
            return self.last(self.main(x) + self.shortcut(x))

    return Residual()


def resnet18(lib: Any) -> Any:
    """ResNet-18 as it is for CIFAR: a first convolution of 3x3, no pooling after it."""
    nn, convolution = lib.nn, partial(_convolution, lib)
    layers = [*convolution(3, 64, 3), nn.ReLU()]
    width = 64
    for stage, wider in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage and not block else 1
            main = [*convolution(width, wider, 3, stride), nn.ReLU(),
                    *convolution(wider, wider, 3)]
            short = convolution(width, wider, 1, stride) if stride > 1 else []
            layers.append(_residual(lib, main, short, [nn.ReLU()]))
            width = wider
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))


def mobilenet_v2(lib: Any) -> Any:
    """MobileNetV2, width 1."""
    nn, convolution = lib.nn, partial(_convolution, lib)
    layers = [*convolution(3, 32, 3, 2), nn.ReLU6()]
    width = 32
    for factor, wider, count, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                        (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(count):
            stride, inner = first if block == 0 else 1, width * factor
            main = [] if factor == 1 else [*convolution(width, inner, 1), nn.ReLU6()]
            main += [*convolution(inner, inner, 3, stride, inner), nn.ReLU6(),
                     *convolution(inner, wider, 1)]
            layers += [_residual(lib, main, [], [])] if stride == 1 and width == wider else main
            width = wider
    return nn.Sequential(*layers, *convolution(width, 1280, 1), nn.ReLU6(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, CLASSES))


def block(lib: Any, width: int, heads: int, causal: bool) -> Any:
    """A pre-norm transformer block."""
    nn = lib.nn

    class Attention(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            batch, time, _ = x.shape
            parts = self.inner(x).reshape(batch, time, 3, heads, width // heads)
            query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
            mixed = nn.functional.scaled_dot_product_attention(
                query, key, value, is_causal=causal)
            return self.out(mixed.transpose(1, 2).reshape(batch, time, width))

    widened = [nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
               nn.Linear(4 * width, width)]
    return nn.Sequential(
        _residual(lib, [nn.LayerNorm(width), Attention()], [], []),
        _residual(lib, widened, [], []))


def gpt(lib: Any) -> Any:
    """A decoder of 6 layers of width 384 with 6 heads."""
    nn = lib.nn

    class GPT(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(VOCABULARY, 384), nn.Embedding(64, 384)
            self.blocks = nn.Sequential(*(block(lib, 384, 6, True) for _ in range(6)))
            self.head = nn.Sequential(nn.LayerNorm(384), nn.Linear(384, VOCABULARY, bias=False))

        def forward(self, tokens: Any) -> Any:
            places = self.places(lib.arange(tokens.shape[1]))
            return self.head(self.blocks(self.tokens(tokens) + places)).flatten(0, 1)

    return GPT()


def vit_tiny(lib: Any) -> Any:
    """ViT-tiny: 12 layers of width 192 with 3 heads, patches of 16."""
    nn = lib.nn

    class ViT(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(3, 192, 16, 16)
            self.first = nn.Parameter(lib.zeros(1, 1, 192))
            self.places = nn.Parameter(lib.zeros(1, 197, 192))
            self.blocks = nn.Sequential(*(block(lib, 192, 3, False) for _ in range(12)))
            self.head = nn.Sequential(nn.LayerNorm(192), nn.Linear(192, CLASSES))

        def forward(self, images: Any) -> Any:
            patches = self.patches(images).flatten(2).transpose(1, 2)
            first = self.first.expand(images.shape[0], -1, -1)
            x = self.blocks(lib.cat([first, patches], 1) + self.places)
            return self.head(x[:, 0])

    return ViT()


def lstm(lib: Any) -> Any:
    """An LSTM of width 128 and a classifier of its last output."""
    nn = lib.nn

    class Classifier(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.recurrent = nn.LSTM(128, 128, batch_first=True)
            self.head = nn.Linear(128, CLASSES)

        def forward(self, x: Any) -> Any:
            return self.head(self.recurrent(x)[0][:, -1])

    return Classifier()


def tabular(lib: Any) -> Any:
    """An MLP over 12 embedded categories and 16 numbers."""
    nn = lib.nn

    class Tabular(nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.embeddings = nn.ModuleList([nn.Embedding(CATEGORIES, 16) for _ in range(FIELDS)])
            self.layers = nn.Sequential(
                nn.Linear(16 * FIELDS + 16, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Dropout(0.1),
                nn.Linear(512, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.1),
                nn.Linear(256, CLASSES))

        def forward(self, categories: Any, numbers: Any) -> Any:
            columns = zip(self.embeddings, categories.unbind(1), strict=True)
            embedded = [embedding(column) for embedding, column in columns]
            return self.layers(lib.cat([*embedded, numbers], 1))

    return Tabular()


def _images(rng: np.random.Generator, batch: int, size: int) -> tuple[Any, ...]:
    return (rng.standard_normal((batch, 3, size, size), dtype=np.float32),
            rng.integers(0, CLASSES, batch))


def _tokens(rng: np.random.Generator) -> tuple[Any, ...]:
    tokens = rng.integers(0, VOCABULARY, (4, 65))
    return tokens[:, :-1].copy(), tokens[:, 1:].reshape(-1)


def _series(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.standard_normal((16, 64, 128), dtype=np.float32), rng.integers(0, CLASSES, 16))


def _table(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.integers(0, CATEGORIES, (256, FIELDS)),
            rng.standard_normal((256, 16), dtype=np.float32), rng.integers(0, CLASSES, 256))


MODELS: dict[str, tuple[str, Callable[[Any], Any], Callable[..., tuple[Any, ...]]]] = {
    "resnet18": ("ResNet-18 CIFAR, batch 16", resnet18, partial(_images, batch=16, size=32)),
    "gpt": ("GPT 6x384, 4x64 tokens", gpt, _tokens),
    "vit_tiny": ("ViT-tiny, batch 4", vit_tiny, partial(_images, batch=4, size=224)),
    "mobilenet_v2": ("MobileNetV2, batch 4 at 96", mobilenet_v2,
                     partial(_images, batch=4, size=96)),
    "lstm": ("LSTM 128, batch 16, 64 steps", lstm, _series),
    "tabular": ("tabular MLP, batch 256", tabular, _table),
}


def batch_of(lib: Any, name: str) -> tuple[Any, ...]:
    """What a step of this model takes, the labels last."""
    arrays = MODELS[name][2](np.random.default_rng(0))
    return tuple(lib.from_numpy(array) for array in arrays)


def stepper(lib: Any, model: Any, batch: tuple[Any, ...],
            compiler: Callable[..., Any] | None = None) -> Callable[[], Any]:
    """A training step by AdamW; the loss function goes through `compiler`."""
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-4)

    def loss_of(*batch: Any) -> Any:
        return lib.nn.functional.cross_entropy(model(*batch[:-1]), batch[-1])

    forward = compiler(loss_of) if compiler else loss_of

    def step() -> Any:
        optimizer.zero_grad()
        loss = forward(*batch)
        loss.backward()
        optimizer.step()
        return loss

    return step
