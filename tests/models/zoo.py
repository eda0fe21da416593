"""Models of many kinds, written once for graphwright and for PyTorch.

`models(lib)` defines them over the namespace `lib`, which is `graphwright` or `torch`: the text
of a user's model is the same for both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def models(lib: Any) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Name -> (class, what each input is: a shape, "tokens" or "edges")."""
    image, tokens = (2, 3, 32, 32), "tokens"
    return {
        "resnet": (resnet(lib), (image,)),
        "vit": (vision_transformer(lib), (image,)),
        "unet": (unet(lib), ((2, 3, 16, 16),)),
        "lstm": (lstm(lib), (tokens,)),
        "gpt": (gpt(lib), (tokens,)),
        "vae": (vae(lib), ((5, 20),)),
        "graph": (graph_network(lib), ((6, 8), "edges")),
        "mixer": (mixer(lib), ((3, 4, 12),)),
        "ranking": (ranking(lib), ((4, 12),)),
    }


def built(lib: Any, name: str, training: bool) -> tuple[Any, tuple[Any, ...]]:
    """A model in float32 and arguments for it, the same in every run."""
    lib.manual_seed(0)
    kind, wanted = models(lib)[name]
    draw = np.random.default_rng(0)

    def argument(what: Any) -> Any:
        if what == "tokens":
            return lib.from_numpy(draw.integers(1, 50, (3, 8)))
        if what == "edges":
            return lib.from_numpy(draw.integers(0, 6, (2, 15)))
        return lib.from_numpy(draw.normal(size=what)).float()

    return kind().float().train(training), tuple([argument(what) for what in wanted])


def resnet(lib: Any) -> Any:
    """Residual blocks with batch normalisation and in-place ReLU."""
    nn = lib.nn

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.down = None
            if stride != 1 or inputs != outputs:
                self.down = nn.Sequential(
                    nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
                )
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x: Any) -> Any:
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            y += x if self.down is None else self.down(x)
            return self.relu(y)

    class ResNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Sequential(
                nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
                nn.MaxPool2d(3, 2, 1),
            )  # fmt: skip
            self.layers = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2), Block(16, 32, 2))
            self.pool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(32, 10)

        def forward(self, x: Any) -> Any:
            return self.fc(lib.flatten(self.pool(self.layers(self.stem(x))), 1))

    return ResNet


def vision_transformer(lib: Any) -> Any:
    """Patches, a class token, `nn.TransformerEncoder`."""
    nn = lib.nn

    class VisionTransformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patch = nn.Conv2d(3, 32, 8, 8)
            self.token = nn.Parameter(lib.zeros(1, 1, 32))
            self.position = nn.Parameter(lib.zeros(1, 17, 32))
            layer = nn.TransformerEncoderLayer(
                32, 4, 64, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(32, 10)

        def forward(self, x: Any) -> Any:
            x = self.patch(x).flatten(2).transpose(1, 2)
            x = lib.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.position
            return self.head(self.encoder(x)[:, 0])

    return VisionTransformer


def unet(lib: Any) -> Any:
    """Down, up by a transposed convolution, a skip, and resizing."""
    nn, functional = lib.nn, lib.nn.functional

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            convolution = nn.Conv2d(3, 8, 3, padding=1)
            self.first = nn.Sequential(convolution, nn.GroupNorm(2, 8), nn.SiLU())
            self.second = nn.Sequential(
                nn.Conv2d(8, 16, 3, padding=1, stride=2), nn.InstanceNorm2d(16, affine=True),
                nn.LeakyReLU(0.2),
            )  # fmt: skip
            self.up = nn.ConvTranspose2d(16, 8, 2, 2)
            self.out = nn.Conv2d(16, 1, 1)
            self.resize = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)

        def forward(self, x: Any) -> Any:
            skip = self.first(x)
            y = self.out(lib.cat((skip, self.up(self.second(skip))), 1))
            small = functional.interpolate(y, size=(5, 7), mode="nearest")
            return functional.avg_pool2d(self.resize(y), 2).mean((1, 2, 3)) + small.sum((1, 2, 3))

    return UNet


def lstm(lib: Any) -> Any:
    """A bidirectional LSTM with attention over what is no padding."""
    nn, functional = lib.nn, lib.nn.functional

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(50, 16, padding_idx=0)
            self.rnn = nn.LSTM(16, 24, 2, batch_first=True, bidirectional=True)
            self.attention = nn.Linear(48, 1)
            self.fc = nn.Linear(48, 10)

        def forward(self, ids: Any) -> Any:
            hidden, _ = self.rnn(self.embedding(ids))
            scores = self.attention(hidden).squeeze(-1).masked_fill(ids == 0, float("-inf"))
            weights = functional.softmax(scores, dim=-1)
            return self.fc(lib.einsum("bt,bth->bh", weights, hidden))

    return Recurrent


def gpt(lib: Any) -> Any:
    """Causal attention written out, with tied embeddings."""
    nn, functional = lib.nn, lib.nn.functional

    class Gpt(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.positions = nn.Embedding(50, 32), nn.Embedding(16, 32)
            self.norm = nn.LayerNorm(32)
            self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
            self.mlp = nn.Sequential(
                nn.Linear(32, 128), nn.GELU(approximate="tanh"), nn.Linear(128, 32)
            )
            self.register_buffer("mask", lib.tril(lib.ones(16, 16)).view(1, 1, 16, 16))

        def forward(self, ids: Any) -> Any:
            batch, length = ids.size()
            places = lib.arange(0, length, dtype=lib.long).unsqueeze(0)
            x = self.words(ids) + self.positions(places)
            parts = self.qkv(self.norm(x)).split(32, dim=2)
            q, k, v = (p.view(batch, length, 4, 8).transpose(1, 2) for p in parts)
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            hidden = self.mask[:, :, :length, :length] == 0
            weights = functional.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
            y = (weights @ v).transpose(1, 2).contiguous().view(batch, length, 32)
            x = x + self.out(y)
            x = x + self.mlp(self.norm(x))
            return (x @ self.words.weight.t())[:, -1, :10]

    return Gpt


def vae(lib: Any) -> Any:
    """Means and variances, and a loss per example."""
    nn, functional = lib.nn, lib.nn.functional

    class Vae(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Linear(20, 16)
            self.mean, self.log_variance = nn.Linear(16, 4), nn.Linear(16, 4)
            self.decoder = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 20))

        def forward(self, x: Any) -> Any:
            h = functional.elu(self.encoder(x))
            mean, log_variance = self.mean(h), self.log_variance(h).clamp(-4, 4)
            z = mean + lib.exp(0.5 * log_variance) * 0.3
            divergence = 1 + log_variance - mean.pow(2) - log_variance.exp()
            loss = functional.binary_cross_entropy_with_logits(
                self.decoder(z), (x > 0).to(x.dtype), reduction="none"
            )
            return loss.sum(-1) - 0.5 * lib.sum(divergence, dim=1)

    return Vae


def graph_network(lib: Any) -> Any:
    """Messages along edges: means by index_add, maxima by scatter_reduce."""
    nn, functional = lib.nn, lib.nn.functional

    class GraphNetwork(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = nn.Linear(8, 16), nn.Linear(16, 4)
            self.weight = nn.Parameter(lib.ones(16))

        def forward(self, x: Any, edges: Any) -> Any:
            source, target = edges
            h = functional.relu(self.first(x))
            messages = h[source] * self.weight
            total = lib.zeros_like(h).index_add_(0, target, messages)
            ones = lib.ones_like(target, dtype=x.dtype)
            degree = lib.zeros(x.size(0), dtype=x.dtype).scatter_add(0, target, ones).clamp(min=1)
            places = target[:, None].expand_as(messages)
            largest = lib.full_like(h, -1e9).scatter_reduce(0, places, messages, reduce="amax")
            known = lib.where(largest > -1e8, largest, lib.zeros_like(largest))
            return self.last(total / degree.unsqueeze(1) + known)

    return GraphNetwork


def mixer(lib: Any) -> Any:
    """Grouped convolutions, norms from a ModuleDict, GRU, GLU, adaptive pooling, Bilinear."""
    nn, functional = lib.nn, lib.nn.functional

    class Mixer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            convolutions = [nn.Conv1d(4, 4, 3, padding="same", groups=2) for _ in range(2)]
            self.convolutions = nn.ModuleList(convolutions)
            self.norms = nn.ModuleDict({"rms": nn.RMSNorm(12), "batch": nn.BatchNorm1d(4)})
            self.prelu = nn.PReLU(4)
            self.gru = nn.GRU(12, 12)
            self.bilinear = nn.Bilinear(4, 12, 10)

        def forward(self, x: Any) -> Any:
            for convolution in self.convolutions:
                x = x + functional.mish(convolution(x))
            x = self.prelu(self.norms["batch"](self.norms["rms"](x)))
            y, h = self.gru(x)
            x = functional.glu(lib.cat([x, y], 1), 1)
            mean = x.mean(1, keepdim=True).expand(-1, 4, -1)
            x = functional.adaptive_max_pool1d(mean, 12)
            return self.bilinear(x.amax(-1), x.std(1) + h[0][: x.shape[0]].sum())

    return Mixer


def ranking(lib: Any) -> Any:
    """Sorting, scans and order statistics with gradients."""
    nn, functional = lib.nn, lib.nn.functional

    class Ranking(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(12, 12)

        def forward(self, x: Any) -> Any:
            x = self.linear(x)
            values, places = x.topk(5, dim=-1)
            falling = x.sort(dim=-1, descending=True)[0].cumsum(-1)
            turned = lib.tanh(x.flip(-1).roll(2, -1))
            chosen = functional.one_hot(places[:, 0], 12).to(x.dtype)
            middle = x.median(dim=-1, keepdim=True).values
            low = x.quantile(0.3, dim=-1, keepdim=True)
            spread = lib.logsumexp(values, -1, keepdim=True)
            return spread * chosen + falling * 0.1 + turned * middle + low

    return Ranking
