"""Decoding token by token with a cache of keys and values that grows by each: few compilations.

A prompt is one version, the first token behind it another, and from the next on the length of the
cache is symbolic: three at most, however many tokens follow.
"""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn

from ..captured import Captured

WIDTH, HEADS, WORDS = 8, 2, 11


class Layer:
    """Keys and values of one layer, of which there are none at first."""

    def __init__(self) -> None:
        self.keys: Any = None
        self.values: Any = None
        self.is_filled = False

    def update(self, keys: Any, values: Any) -> tuple[Any, Any]:
        if not self.is_filled:
            self.keys = gw.tensor([], dtype=keys.dtype)
            self.values = gw.tensor([], dtype=values.dtype)
            self.is_filled = True
        self.keys = gw.cat([self.keys, keys], dim=-2)
        self.values = gw.cat([self.values, values], dim=-2)
        return self.keys, self.values

    def length(self) -> int:
        return self.keys.shape[-2] if self.is_filled else 0


class Window(Layer):
    """Keeps the last four only, and counts all."""

    seen = 0

    def update(self, keys: Any, values: Any) -> tuple[Any, Any]:
        self.seen += keys.shape[-2]
        found = super().update(keys, values)
        self.keys, self.values = self.keys[:, :, -4:, :], self.values[:, :, -4:, :]
        return found

    def length(self) -> int:
        return self.seen


class Cache:
    def __init__(self, kind: type[Layer]) -> None:
        self.layers = [kind() for _ in range(2)]


class Attention(nn.Module):
    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place
        self.project, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Any, cache: Cache, mask: Any) -> Any:
        batch, length, _ = x.shape
        parts = self.project(x).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, keys, values = parts.permute(2, 0, 3, 1, 4)
        keys, values = cache.layers[self.place].update(keys, values)
        mask = mask[:, -keys.shape[-2] :]
        found = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
        return self.out(found.transpose(1, 2).reshape(batch, length, WIDTH))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(64, WIDTH)
        self.layers = nn.ModuleList([Attention(place) for place in range(2)])
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: Any, cache: Cache) -> Any:
        past, length = cache.layers[0].length(), words.shape[1]
        places = gw.arange(past, past + length)
        mask = gw.arange(past + length)[None, :] <= places[:, None]
        x = self.words(words) + self.places(places)
        for layer in self.layers:
            x = x + layer(x, cache, mask)
        return self.head(x)


def generated(step: Any, prompt: Any, count: int, kind: type[Layer]) -> tuple[Any, Cache]:
    """The words that follow a prompt, and the cache at the end."""
    cache, words, found = Cache(kind), prompt, []
    with gw.no_grad():
        for _ in range(count):
            words = step(words, cache)[:, -1:].argmax(-1)
            found.append(words)
    return gw.cat(found, 1), cache


@pytest.fixture
def model() -> Decoder:
    gw.manual_seed(3)
    return Decoder()


def test_a_growing_cache_is_three_graphs(model: Decoder) -> None:
    captured = Captured(lambda words, cache: model(words, cache))
    prompt = gw.randint(0, WORDS, (2, 5))
    words, cache = generated(captured, prompt, 30, Layer)
    expected, filled = generated(model, prompt, 30, Layer)
    assert gw.equal(words, expected)
    assert captured.graphs <= 3
    assert not captured.breaks
    for own, other in zip(cache.layers, filled.layers, strict=True):
        assert own.keys.shape == (2, HEADS, 34, WIDTH // HEADS)
        assert gw.allclose(own.keys, other.keys)
        assert gw.allclose(own.values, other.values)


def test_a_second_run_adds_none_and_another_prompt_one(model: Decoder) -> None:
    captured = Captured(lambda words, cache: model(words, cache))
    generated(captured, gw.randint(0, WORDS, (2, 5)), 12, Layer)
    known = captured.graphs
    generated(captured, gw.randint(0, WORDS, (2, 5)), 20, Layer)
    assert captured.graphs == known
    for length in (7, 9, 12):   # the length of the prompt is symbolic from the second on
        prompt = gw.randint(0, WORDS, (2, length))
        words, _ = generated(captured, prompt, 8, Layer)
        assert gw.equal(words, generated(model, prompt, 8, Layer)[0])
    assert captured.graphs == known + 1


def test_a_cache_that_keeps_the_last_ones_is_four_graphs(model: Decoder) -> None:
    """It grows, and then stays as it is while the count goes on."""
    captured = Captured(lambda words, cache: model(words, cache))
    prompt = gw.randint(0, WORDS, (1, 2))
    words, cache = generated(captured, prompt, 20, Window)
    assert gw.equal(words, generated(model, prompt, 20, Window)[0])
    assert cache.layers[0].keys.shape[-2] == 4
    assert captured.graphs <= 4
    assert not captured.breaks


def test_the_compiled_forward_of_a_module_serves_all_steps(model: Decoder) -> None:
    """As `generate()` of models calls it, natively compiled."""
    step = gw.compile(model)
    prompt = gw.randint(0, WORDS, (1, 3))
    words, _ = generated(step, prompt, 16, Layer)
    assert gw.equal(words, generated(model, prompt, 16, Layer)[0])
    stats = gw.compiler.stats(step)
    assert stats.graphs <= 3
    assert stats.breaks == 0
