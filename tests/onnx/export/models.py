"""Models that are exported, beside those of `tests.models.zoo`."""

from __future__ import annotations

import math
from typing import Any

import graphwright as gw
from graphwright import nn
from graphwright.nn import functional as F


class Mlp(nn.Module):
    """Two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 4))

    def forward(self, x: Any) -> Any:
        return self.layers(x)


class Cnn(nn.Module):
    """Convolutions with batch norm."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        return F.log_softmax(self.fc(x.mean((2, 3))), dim=-1)


class GptBlock(nn.Module):
    """Causal attention, in batches of any size and length."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.words, self.places = nn.Embedding(50, width), nn.Embedding(64, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))

    def forward(self, ids: Any) -> Any:
        batch, length = ids.shape
        x = self.words(ids) + self.places(gw.arange(length))
        parts = self.qkv(self.norm1(x)).reshape(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, -1))
        return (x + self.mlp(self.norm2(x))) @ self.words.weight.t()


class BertLayer(nn.Module):
    """A layer of an encoder with a mask of padding."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(50, width, padding_idx=0)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out, self.norm1, self.norm2 = (
            nn.Linear(width, width), nn.LayerNorm(width), nn.LayerNorm(width))
        self.up, self.down = nn.Linear(width, 64), nn.Linear(64, width)

    def forward(self, ids: Any, attention_mask: Any) -> Any:
        x = self.words(ids)
        q, k, v = (part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in (self.q, self.k, self.v))
        mask = attention_mask[:, None, None, :].bool()
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.norm1(x + self.out(mixed.transpose(1, 2).flatten(2)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Tagger(nn.Module):
    """A recurrent tagger of each word."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 12)
        self.rnn = getattr(nn, kind)(12, 16, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(32, 5)

    def forward(self, ids: Any) -> Any:
        hidden, _ = self.rnn(self.words(ids))
        return self.tags(hidden).argmax(-1), self.tags(hidden)


class Embedder(nn.Module):
    """Sentences as unit vectors: means over what is no padding."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 16, padding_idx=0)
        layer = nn.TransformerEncoderLayer(16, 4, 32, 0.0, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids: Any) -> Any:
        padding = ids == 0
        x = self.encoder(self.words(ids), src_key_padding_mask=padding)
        kept = (~padding).unsqueeze(-1).to(x.dtype)
        mean = (x * kept).sum(1) / kept.sum(1).clamp(min=1e-9)
        return F.normalize(mean, dim=-1)


class UpDown(nn.Module):
    """A small U-Net that resizes by `interpolate`."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, x: Any) -> Any:
        small = F.silu(self.down(x))
        large = F.interpolate(small, scale_factor=2.0, mode="bilinear", align_corners=False)
        return self.up(large) + F.interpolate(x, size=large.shape[2:], mode="nearest")


class Decoder(nn.Module):
    """One step of a decoder: the new keys and values come behind those of the cache."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.words = nn.Embedding(50, width)
        self.norm = nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, ids: Any, keys: Any, values: Any) -> Any:
        x = self.words(ids)
        parts = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        keys, values = gw.cat((keys, k), 2), gw.cat((values, v), 2)
        scores = q @ keys.transpose(-1, -2) / math.sqrt(q.shape[-1])
        mixed = F.softmax(scores, dim=-1) @ values
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x @ self.words.weight.t(), keys, values


class StaticDecoder(Decoder):
    """The same with a cache of one size, which is written in place at a position."""

    def forward(self, ids: Any, keys: Any, values: Any, position: Any = None) -> Any:
        x = self.words(ids)
        parts = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        keys.index_copy_(2, position, k)
        values.index_copy_(2, position, v)
        seen = gw.arange(keys.shape[2]) <= position
        mixed = F.scaled_dot_product_attention(q, keys, values, attn_mask=seen[None, None, None])
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x @ self.words.weight.t()
