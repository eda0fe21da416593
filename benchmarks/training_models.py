"""The six models whose training is measured: those of `architectures`, with classes to tell apart.

Batches are made from NumPy, so that graphwright and PyTorch train on the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.architectures import sequences, tables, transformers, vision

WORDS, LENGTH = 1024, 64
CLASSES = 10
FIELDS, CATEGORIES, NUMBERS = 12, 100, 16


def _images(rng: np.random.Generator, batch: int, size: int) -> tuple[Any, ...]:
    return (rng.standard_normal((batch, 3, size, size), dtype=np.float32),
            rng.integers(0, CLASSES, batch))


def _tokens(rng: np.random.Generator) -> tuple[Any, ...]:
    tokens = rng.integers(0, WORDS, (4, LENGTH + 1))
    return tokens[:, :-1].copy(), tokens[:, 1:].reshape(-1)


def _series(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.standard_normal((16, 64, 128), dtype=np.float32), rng.integers(0, CLASSES, 16))


def _table(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.integers(0, CATEGORIES, (256, FIELDS)),
            rng.standard_normal((256, NUMBERS), dtype=np.float32), rng.integers(0, CLASSES, 256))


gpt = partial(transformers.gpt, words=WORDS, places=LENGTH, last=False)
tabular = partial(tables.tabular, categories=FIELDS, values=CATEGORIES, numbers=NUMBERS,
                  inner=(512, 256), outputs=CLASSES)

MODELS: dict[str, tuple[str, Callable[[Any], Any], Callable[..., tuple[Any, ...]]]] = {
    "resnet18": ("ResNet-18, batch 16 at 64", partial(vision.resnet18, classes=CLASSES),
                 partial(_images, batch=16, size=64)),
    "gpt": ("GPT 6x384, 4x64 tokens", gpt, _tokens),
    "vit_tiny": ("ViT-tiny, batch 4", partial(transformers.vision_transformer, classes=CLASSES),
                 partial(_images, batch=4, size=224)),
    "mobilenet_v2": ("MobileNetV2, batch 4 at 96", partial(vision.mobilenet_v2, classes=CLASSES),
                     partial(_images, batch=4, size=96)),
    "lstm": ("LSTM 128, batch 16, 64 steps", partial(sequences.lstm, outputs=CLASSES), _series),
    "tabular": ("tabular MLP, batch 256", tabular, _table),
}
"""Of each its title, what makes it over a library, and what makes the arrays of a step."""


def batch_of(lib: Any, name: str) -> tuple[Any, ...]:
    """What a step of this model takes, the labels last."""
    arrays = MODELS[name][2](np.random.default_rng(0))
    return tuple(lib.from_numpy(array) for array in arrays)


def stepper(lib: Any, model: Any, batch: tuple[Any, ...],
            compiler: Callable[..., Any] | None = None) -> Callable[[], Any]:
    """A training step by AdamW; the loss function goes through `compiler`."""
    optimizer = lib.optim.AdamW(model.parameters(), lr=1e-4)

    def loss_of(*batch: Any) -> Any:
        logits = model(*batch[:-1]).flatten(0, -2)
        return lib.nn.functional.cross_entropy(logits, batch[-1])

    forward = compiler(loss_of) if compiler else loss_of

    def step() -> Any:
        optimizer.zero_grad()
        loss = forward(*batch)
        loss.backward()
        optimizer.step()
        return loss

    return step
