"""Recurrent networks and convolutions over time."""

from __future__ import annotations

from typing import Any


def lstm(lib: Any, *, width: int = 128, outputs: int = 10) -> Any:
    """Hochreiter & Schmidhuber 1997: [N, T, width] to [N, outputs], from the last state."""
    nn = lib.nn

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rnn, self.out = nn.LSTM(width, width, batch_first=True), nn.Linear(width, outputs)

        def forward(self, x: Any) -> Any:
            return self.out(self.rnn(x)[0][:, -1])

    return Recurrent()


def gru_tagger(lib: Any, *, words: int = 10000, width: int = 128, tags: int = 17) -> Any:
    """Cho et al. 2014, in both directions: ids [N, T] to the logits of tags [N, T, tags]."""
    nn = lib.nn

    class Tagger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(words, width)
            self.rnn = nn.GRU(width, width, batch_first=True, bidirectional=True)
            self.out = nn.Linear(2 * width, tags)

        def forward(self, ids: Any) -> Any:
            return self.out(self.rnn(self.words(ids))[0])

    return Tagger()


def wavenet(lib: Any, *, layers: int = 10, width: int = 64, outputs: int = 256) -> Any:
    """van den Oord et al. 2016: causal convolutions, the distances doubling from layer to layer,
    with gates, residuals and skips: samples [N, 1, T] to logits [N, outputs, T]."""
    nn, functional = lib.nn, lib.nn.functional

    class Layer(nn.Module):
        def __init__(self, dilation: int) -> None:
            super().__init__()
            self.dilation = dilation
            self.gated = nn.Conv1d(width, 2 * width, 2, dilation=dilation)
            self.residual, self.skip = nn.Conv1d(width, width, 1), nn.Conv1d(width, width, 1)

        def forward(self, x: Any) -> Any:
            value, gate = self.gated(functional.pad(x, (self.dilation, 0))).chunk(2, dim=1)
            y = value.tanh() * gate.sigmoid()
            return x + self.residual(y), self.skip(y)

    class WaveNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Conv1d(1, width, 1)
            self.layers = nn.ModuleList(Layer(1 << number) for number in range(layers))
            self.last = nn.Sequential(
                nn.ReLU(), nn.Conv1d(width, width, 1), nn.ReLU(), nn.Conv1d(width, outputs, 1))

        def forward(self, x: Any) -> Any:
            x = self.first(x)
            total = 0.0
            for layer in self.layers:
                x, skip = layer(x)
                total = total + skip
            return self.last(total)

    return WaveNet()
