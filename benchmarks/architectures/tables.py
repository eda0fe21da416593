"""Networks for rows of tables: categories and numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any


def perceptron(lib: Any, widths: tuple[int, ...]) -> Any:
    """Linear layers with ReLU between them."""
    layers: list[Any] = []
    for number, (fan_in, fan_out) in enumerate(pairwise(widths)):
        layers += [lib.nn.ReLU()] * (number > 0) + [lib.nn.Linear(fan_in, fan_out)]
    return lib.nn.Sequential(*layers)


def tabular(lib: Any, *, categories: int = 12, values: int = 1000, width: int = 16,
            numbers: int = 20, inner: tuple[int, ...] = (256, 128), outputs: int = 1) -> Any:
    """(categories [N, categories], numbers [N, numbers]) to [N, outputs]."""
    nn = lib.nn

    class Tabular(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embeddings = nn.ModuleList(
                nn.Embedding(values, width) for _ in range(categories))
            self.norm = nn.BatchNorm1d(numbers)
            self.layers = perceptron(lib, (categories * width + numbers, *inner, outputs))

        def forward(self, ids: Any, x: Any) -> Any:
            parts = [table(ids[:, number]) for number, table in enumerate(self.embeddings)]
            return self.layers(lib.cat((*parts, self.norm(x)), 1))

    return Tabular()


def dlrm(
    lib: Any, *, categories: int = 26, values: int = 10000, width: int = 16, numbers: int = 13,
    bottom: tuple[int, ...] = (512, 256), top: tuple[int, ...] = (512, 256),
) -> Any:
    """Naumov et al. 2019: (ids [N, categories], numbers [N, numbers]) to probabilities [N, 1]:
    products of each two of the vectors, and a perceptron."""
    nn = lib.nn

    class Dlrm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embeddings = nn.ModuleList(
                nn.Embedding(values, width) for _ in range(categories))
            self.bottom = perceptron(lib, (numbers, *bottom, width))
            pairs = (categories + 1) * categories // 2
            self.top = perceptron(lib, (width + pairs, *top, 1))
            self.register_buffer("pairs", lib.stack(
                [lib.tensor(ends) for ends in zip(*(
                    (i, j) for i in range(categories + 1) for j in range(i)), strict=True)]))

        def forward(self, ids: Any, x: Any) -> Any:
            x = self.bottom(x).relu()
            parts = [table(ids[:, number]) for number, table in enumerate(self.embeddings)]
            vectors = lib.stack((x, *parts), 1)
            products = vectors @ vectors.transpose(1, 2)
            return self.top(lib.cat((x, products[:, self.pairs[0], self.pairs[1]]), 1)).sigmoid()

    return Dlrm()
