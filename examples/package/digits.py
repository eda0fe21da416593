"""Packages a classifier of handwritten digits and its training step as C libraries.

    python examples/package/digits.py OUT [TARGET]

Writes into the folder OUT: `learn` and `classify` (each .so, .h and .safetensors) and the images,
`digits.bin`, of which train.c and classify.c read: two int64 counts of images to learn from and to
test on, then 64 floats an image, then an int64 label an image.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import graphwright as gw
from graphwright import nn
from graphwright.export import Dim, export
from graphwright.export.packaging import package

LEARNT = 1437
"""How many of the 1,797 images are learnt from."""


class Digits(nn.Module):
    """Two convolutions and a layer behind them."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
        self.last = nn.Linear(32 * 2 * 2, 10)

    def forward(self, images: Any) -> Any:
        x = nn.functional.max_pool2d(gw.relu(self.first(images)), 2)
        x = nn.functional.max_pool2d(gw.relu(self.second(x)), 2)
        return self.last(x.flatten(1))


def main(out: Path, target: str = "native") -> None:
    """Write the packages, untrained, and the images."""
    gw.manual_seed(0)
    out.mkdir(parents=True, exist_ok=True)
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    images = (images[order] / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    labels = labels[order].astype(np.int64)
    counts = np.array([LEARNT, len(labels) - LEARNT], np.int64)
    (out / "digits.bin").write_bytes(counts.tobytes() + images.tobytes() + labels.tobytes())

    net = Digits()
    optimiser = gw.optim.Adam(net.parameters(), 3e-3)

    def learn(images: Any, labels: Any) -> Any:
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimiser.step()
        return loss

    def classify(images: Any) -> Any:
        return net(images).argmax(1)

    x, y = gw.from_numpy(images[:32]), gw.from_numpy(labels[:32])
    learn(x, y)     # the optimiser's state exists from its first step on
    batch = Dim("batch", min=2)
    package(export(learn, (x, y), dynamic_shapes=({0: batch}, {0: batch})), out / "learn",
            target=target)
    package(export(classify, (x,), dynamic_shapes=({0: Dim("batch")},)), out / "classify",
            target=target)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/package"), *sys.argv[2:3])
