"""Programs whose pages are tested, and what is read out of the pages."""

from __future__ import annotations

from html.parser import HTMLParser

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn
from graphwright.face.explain import Explanation

NODES = 1500


class Block(nn.Module):
    """A transformer block as in GPT-2."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.before_attention(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.before_mlp(x))))


def broken(x: gw.Tensor) -> gw.Tensor:
    """Two graph breaks, one of them at a line with markup in it."""
    y = x.exp() + 1
    print("<script>alert('&')</script>", end="")
    y = y.softmax(1)
    gw.compiler.graph_break()
    return y.sum()


def large(x: gw.Tensor) -> gw.Tensor:
    """`NODES` operations, each on one or two of the last ten values."""
    values = [x] * 10
    for number in range(NODES):
        last = values[-1]
        values.append(last.sin() if number % 3 == 0 else last + values[-1 - number * 7 % 10])
    return values[-1]


def block() -> Explanation:
    return gw.explain(Block())(gw.randn(2, 16, 32))


def with_breaks() -> Explanation:
    return gw.explain(broken)(gw.randn(4, 4))


def of_large_graph() -> Explanation:
    return gw.explain(large, backend="eager")(gw.randn(4))


class Parsed(HTMLParser):
    """The elements of a page: tags, attributes, and the text outside of scripts and styles."""

    VOID = frozenset({"meta", "br", "path", "rect", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.elements: list[dict[str, str]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.elements.append({name: value or "" for name, value in attrs})
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.elements.append({name: value or "" for name, value in attrs})

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def all(self, attribute: str) -> list[str]:
        """The values of an attribute, in order."""
        return [element[attribute] for element in self.elements if attribute in element]
