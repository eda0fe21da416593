"""Models and loops as people write them: each in one graph, with plain Python's results."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured
from ..pictures import picture

F = gw.nn.functional
Case = tuple[Any, tuple[Any, ...]]
CASES: list[Any] = []


def case(make: Any) -> Any:
    """`make()` gives a function and its arguments."""
    CASES.append(make)
    return make


class Attention(nn.Module):
    """Heads, a mask, and keys and values of earlier calls."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        for name in ("query", "key", "value"):
            setattr(self, name, nn.Linear(config.width, config.width))

    def split(self, x: Any) -> Any:
        return x.view(*x.shape[:-1], self.config.heads, -1).transpose(-3, -2)

    def forward(
        self, x: Any, mask: Any = None, past: Any = None, weights: bool = False, **unused: Any
    ) -> Any:
        query, key, value = map(self.split, (self.query(x), self.key(x), self.value(x)))
        if past is not None:
            key, value = gw.cat([past[0], key], -2), gw.cat([past[1], value], -2)
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores + mask
        parts = F.softmax(scores, dim=-1)
        outputs = ((parts @ value).transpose(-3, -2).flatten(-2), (key, value))
        return (*outputs, parts) if weights else outputs


@case
def attention_with_a_cache() -> Case:
    model = Attention(SimpleNamespace(width=6, heads=2))

    def run(x: Any) -> Any:
        y, past = model(x)
        mask = gw.zeros(1, 1, 4, 8)
        y, past, parts = model(y, past=past, weights=True, mask=mask, other=1)
        return y, past[0].shape, parts.sum()

    return run, (gw.randn(1, 4, 6),)


@case
def greedy_generation() -> Case:
    embed, head = nn.Embedding(7, 6), nn.Linear(6, 7)

    def run(ids: Any, count: int) -> Any:
        for _ in range(count):
            following = head(embed(ids).mean(1)).argmax(-1, keepdim=True)
            ids = gw.cat([ids, following], 1)
        return ids

    return run, (gw.tensor([[1, 2]]), 4)


@case
def beam_search() -> Case:
    table = gw.randn(6, 6)

    def run(x: Any) -> Any:
        scores, sequences, current = gw.zeros(2), [[], []], x[:2]  # type: ignore[var-annotated]
        for step in range(3):
            all_scores = F.log_softmax(current @ table, -1) + scores[:, None]
            scores, index = all_scores.flatten().topk(2)
            current = current[index // 6] + (index % 6)[:, None]
            sequences = [[*sequence, step] for sequence in sequences]
        return scores, sequences

    return run, (gw.randn(4, 6),)


@case
def likely_tokens() -> Case:
    def run(logits: Any) -> Any:
        values, _ = logits.topk(3, -1)
        logits = logits.masked_fill(logits < values[:, -1:], -math.inf)
        ordered, index = logits.sort(-1, descending=True)
        removed = ordered.softmax(-1).cumsum(-1) > 0.9
        removed[:, 1:] = removed[:, :-1].clone()
        removed[:, 0] = False
        return logits.masked_fill(removed.scatter(1, index, removed), -1e9).softmax(-1)

    return run, (gw.randn(4, 6),)


class Rotary(nn.Module):
    """Tables that grow with the longest sequence so far."""

    def __init__(self) -> None:
        super().__init__()
        self.length, self.tables = 0, None

    def forward(self, x: Any) -> Any:
        length, width = x.shape[-2:]
        if self.tables is None or length > self.length:
            rates = 1.0 / (10000 ** (gw.arange(0, width, 2).float() / width))
            angles = gw.outer(gw.arange(length).float(), rates)
            self.tables, self.length = (angles.cos(), angles.sin()), length
        cos, sin = (table[:length] for table in self.tables)
        first, second = x.chunk(2, -1)
        return gw.cat([first * cos - second * sin, first * sin + second * cos], -1)


@case
def rotary_embeddings() -> Case:
    model = Rotary()
    return lambda x: (model(x), model.length), (gw.randn(5, 6),)


class LowRank(nn.Module):
    """A layer and its correction of low rank, or the merged weight."""

    def __init__(self, base: Any, rank: int) -> None:
        super().__init__()
        self.base, self.scale, self.merged = base, 2 / rank, False
        self.down = nn.Parameter(gw.randn(rank, base.in_features))
        self.up = nn.Parameter(gw.randn(base.out_features, rank))

    @property
    def weight(self) -> Any:
        return self.base.weight + self.up @ self.down * self.scale

    def forward(self, x: Any) -> Any:
        y = self.base(x)
        return y if self.merged else y + F.linear(F.linear(x, self.down), self.up) * self.scale


@case
def low_rank_layers() -> Case:
    model = LowRank(nn.Linear(6, 4), 2)
    return lambda x: (model(x), model.weight.shape, F.linear(x, model.weight)), (gw.randn(3, 6),)


class Norm(nn.Module):
    """By the root of the mean square, in float32."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(gw.ones(width))

    def forward(self, x: Any) -> Any:
        dtype, x = x.dtype, x.float()
        return (self.weight * (x * gw.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))).to(dtype)


@case
def blocks_by_name() -> Case:
    blocks = nn.ModuleList(
        nn.ModuleDict({"norm": Norm(6), "mix": nn.Linear(6, 6)}) for _ in range(2)
    )

    def run(x: Any) -> Any:
        for place, block in enumerate(blocks):
            x = x + F.silu(block["mix"](block["norm"](x))) * (place + 1)
        return x

    return run, (gw.randn(3, 6),)


@case
def skips_on_a_stack() -> Case:
    down = nn.ModuleList([nn.Linear(6, 6) for _ in range(3)])
    up = nn.ModuleList([nn.Linear(12, 6) for _ in range(3)])

    def run(x: Any) -> Any:
        held = []
        for layer in down:
            x = F.relu(layer(x))
            held.append(x)
        for layer in up:
            x = layer(gw.cat([x, held.pop()], -1))
        return x, len(held)

    return run, (gw.randn(3, 6),)


class Variational(nn.Module):
    """Draws only while it is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = nn.Linear(6, 4), nn.Linear(2, 6)

    def forward(self, x: Any) -> Any:
        mean, log = self.encoder(x).chunk(2, -1)
        code = mean + gw.randn_like(mean) * (0.5 * log).exp() if self.training else mean
        loss = -0.5 * (1 + log - mean.pow(2) - log.exp()).sum(-1).mean()
        result = self.decoder(code)
        return result, F.mse_loss(result, x) + loss, {"loss": loss.detach(), "n": len(x)}


@case
def variational_autoencoder() -> Case:
    model = Variational()
    return lambda x: model(x), (gw.randn(3, 6),)


@case
def messages_of_a_graph() -> Case:
    edges, layer = gw.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), nn.Linear(6, 6)

    def run(x: Any) -> Any:
        source, target = edges
        total = gw.zeros_like(x).index_add(0, target, layer(x)[source])
        degree = gw.zeros(x.size(0)).scatter_add(0, target, gw.ones(target.numel()))
        return total / degree.clamp(min=1)[:, None]

    return run, (gw.randn(4, 6),)


@case
def recurrence_over_rows() -> Case:
    decay = nn.Parameter(gw.rand(6))

    def run(x: Any) -> Any:
        state, states = gw.zeros(6), []
        for row in x:
            state = gw.sigmoid(decay) * state + row
            states.append(state)
        return gw.stack(states), states[-1] is state

    return run, (gw.randn(4, 6),)


@case
def steps_that_are_differentiated() -> Case:
    model = nn.Linear(6, 1)

    def run(x: Any) -> Any:
        weights = dict(model.named_parameters())
        loss = F.linear(x, *weights.values()).pow(2).mean()
        grads = gw.autograd.grad(loss, list(weights.values()), create_graph=True)
        moved = {n: p - 0.1 * g for (n, p), g in zip(weights.items(), grads, strict=True)}
        return F.linear(x, moved["weight"], moved["bias"]).pow(2).mean()

    return run, (gw.randn(4, 6),)


@case
def penalty_on_gradients() -> Case:
    model = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 1))

    def run(x: Any) -> Any:
        x = x.detach().requires_grad_()
        (grad,) = gw.autograd.grad(model(x).sum(), x, create_graph=True)
        return ((grad.norm(dim=1) - 1) ** 2).mean()

    return run, (gw.randn(4, 6),)


@case
def windows_of_an_image() -> Case:
    def run(x: Any) -> Any:
        n, height, width, channels = x.shape
        y = x.view(n, height // 2, 2, width // 2, 2, channels).permute(0, 1, 3, 2, 4, 5)
        y = y.contiguous().view(-1, 2, 2, channels)
        z = y.view(n, height // 2, width // 2, 2, 2, -1).permute(0, 1, 3, 2, 4, 5)
        return y, gw.roll(z.reshape(n, height, width, -1), (1, 1), (1, 2))

    return run, (gw.randn(1, 4, 6, 3),)


@case
def batches_of_records() -> Case:
    def run(records: Any) -> Any:
        return {
            name: gw.stack([r[name] for r in records])
            if gw.is_tensor(records[0][name])
            else [r[name] for r in records]
            for name in records[0]
        }

    return run, ([{"x": gw.ones(2), "y": 1}, {"x": gw.zeros(2), "y": 2}],)


def outcome(function: Any, args: tuple[Any, ...]) -> Any:
    gw.manual_seed(3)
    return picture((function(*args), args))


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_in_one_graph(make: Any) -> None:
    gw.manual_seed(0)
    plain, args = make()
    gw.manual_seed(0)
    function, _ = make()
    captured = Captured(function, fullgraph=True)
    for _ in range(2):
        assert outcome(captured.compiled, args) == outcome(plain, args)
    assert not captured.breaks
