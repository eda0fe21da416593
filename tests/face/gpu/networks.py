"""Networks that training on GPUs is tested with: small, and of each kind."""

from __future__ import annotations

from typing import Any

import graphwright as gw
from graphwright import nn

F = nn.functional
WIDTH, HEADS = 16, 2


def _heads(x: Any) -> Any:
    """[batch, tokens, width] as [batch, heads, tokens, width of a head]."""
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


class GptBlock(nn.Module):
    """Norms, causal attention, two layers, dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Any) -> Any:
        q, k, v = map(_heads, self.qkv(self.first(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.drop(self.out(y))
        hidden = F.gelu(self.up(self.second(x)), approximate="tanh")
        return x + self.drop(self.down(hidden))


class SentenceEncoder(nn.Module):
    """A layer of MiniLM and its pooling: attention with a mask, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.first, self.second = (nn.LayerNorm(WIDTH, eps=1e-12) for _ in range(2))
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: Any, mask: Any) -> Any:
        q, k, v = (_heads(layer(x)) for layer in (self.q, self.k, self.v))
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        weights = gw.softmax(scores + (1.0 - mask[:, None, None, :]) * -1e9, -1)
        x = self.first(x + self.out((weights @ v).transpose(1, 2).flatten(2)))
        x = self.second(x + self.down(F.gelu(self.up(x))))
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1e-9)
        return F.normalize(mean, dim=-1)


class Convolutional(nn.Module):
    """Convolutions, batch norm, pooling, dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 6, 3, stride=2)
        self.norm, self.drop, self.last = nn.BatchNorm2d(4), nn.Dropout(0.3), nn.Linear(6, 5)

    def forward(self, x: Any) -> Any:
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.adaptive_avg_pool2d(F.relu(self.second(x)), 1)
        return self.last(self.drop(x.flatten(1)))


class Recurrent(nn.Module):
    """An embedding and an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.last = nn.Embedding(20, 8), nn.Linear(6, 20)
        self.lstm = nn.LSTM(8, 6, batch_first=True)

    def forward(self, indices: Any) -> Any:
        return self.last(self.lstm(self.words(indices))[0])


class Classifier(nn.Module):
    """Two layers with dropout, for training steps."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.drop, self.last = nn.Linear(6, 8), nn.Dropout(0.2), nn.Linear(8, 3)

    def forward(self, x: Any) -> Any:
        return self.last(self.drop(gw.tanh(self.first(x))))


def inputs() -> dict[type[nn.Module], tuple[Any, ...]]:
    """Arguments for each network."""
    gw.manual_seed(0)
    return {
        GptBlock: (gw.randn(2, 7, WIDTH),),
        SentenceEncoder: (gw.randn(2, 7, WIDTH), (gw.rand(2, 7) > 0.3).float()),
        Convolutional: (gw.randn(6, 1, 8, 8),),
        Recurrent: (gw.randint(0, 20, (3, 4)),),
    }
