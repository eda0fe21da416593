"""Transformers: encoders, decoders with a cache, for text, images and speech."""

from __future__ import annotations

from typing import Any


def attention_heads(x: Any, heads: int) -> Any:
    """[N, T, D] to [N, heads, T, D / heads]."""
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def joined_heads(x: Any) -> Any:
    """[N, heads, T, d] to [N, T, heads * d]."""
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def bert(
    lib: Any, *, layers: int = 6, width: int = 384, heads: int = 6, words: int = 30522,
    places: int = 512, pooled: bool = False, eps: float = 1e-12,
) -> Any:
    """Devlin et al. 2018: ids [N, T] to vectors [N, T, width].

    Parameters have the names of published weights. pooled: as the sentence encoders of
    Reimers & Gurevych 2019, the mean over T, of length one: [N, width].
    """
    nn, functional = lib.nn, lib.nn.functional

    class Embeddings(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.word_embeddings = nn.Embedding(words, width, padding_idx=0)
            self.position_embeddings = nn.Embedding(places, width)
            self.token_type_embeddings = nn.Embedding(2, width)
            self.LayerNorm = nn.LayerNorm(width, eps=eps)

        def forward(self, ids: Any) -> Any:
            x = self.word_embeddings(ids) + self.position_embeddings.weight[: ids.shape[1]]
            return self.LayerNorm(x + self.token_type_embeddings.weight[0])

    class SelfAttention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
            self.value = nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            q, k, v = (attention_heads(layer(x), heads)
                       for layer in (self.query, self.key, self.value))
            return joined_heads(functional.scaled_dot_product_attention(q, k, v))

    class Output(nn.Module):
        def __init__(self, features: int) -> None:
            super().__init__()
            self.dense = nn.Linear(features, width)
            self.LayerNorm = nn.LayerNorm(width, eps=eps)

        def forward(self, x: Any, residual: Any) -> Any:
            return self.LayerNorm(self.dense(x) + residual)

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.ModuleDict({"self": SelfAttention(), "output": Output(width)})
            self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, 4 * width)})
            self.output = Output(4 * width)

        def forward(self, x: Any) -> Any:
            x = self.attention["output"](self.attention["self"](x), x)
            return self.output(functional.gelu(self.intermediate["dense"](x)), x)

    class Bert(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embeddings = Embeddings()
            self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer() for _ in range(layers))})

        def forward(self, ids: Any) -> Any:
            x = self.embeddings(ids)
            for layer in self.encoder["layer"]:
                x = layer(x)
            return functional.normalize(x.mean(1), dim=-1) if pooled else x

    return Bert()


def gpt(
    lib: Any, *, layers: int = 6, width: int = 384, heads: int = 6, words: int = 50257,
    places: int = 1024, last: bool = True,
) -> Any:
    """Radford et al. 2019: ids [N, T] to the logits of the token after them, [N, words]; without
    `last` to those of the token after each, [N, T, words].

    With `past`, keys and values [layers, 2, N, heads, P, d] of earlier tokens, one token [N, 1]
    follows them; then its own keys and values [layers, 2, N, heads, 1, d] are a second result.
    """
    nn, functional = lib.nn, lib.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.c_fc, self.c_out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any, past: Any) -> Any:
            q, k, v = (attention_heads(part, heads)
                       for part in self.c_attn(self.ln_1(x)).split(width, dim=2))
            new = lib.stack((k, v)) if past is not None else None
            if past is not None:
                k, v = lib.cat((past[0], k), 2), lib.cat((past[1], v), 2)
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=past is None)
            x = x + self.c_proj(joined_heads(mixed))
            y = functional.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")
            return x + self.c_out(y), new

    class Gpt(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(places, width)
            self.h = nn.ModuleList(Block() for _ in range(layers))
            self.ln_f = nn.LayerNorm(width)

        def forward(self, ids: Any, past: Any = None) -> Any:
            begin = 0 if past is None else past.shape[4]
            x = self.wte(ids) + self.wpe.weight[begin : begin + ids.shape[1]]
            made = []
            for number, block in enumerate(self.h):
                x, new = block(x, None if past is None else past[number])
                made.append(new)
            x = self.ln_f(x[:, -1] if last else x)
            logits = functional.linear(x, self.wte.weight)
            return logits if past is None else (logits, lib.stack(made))

    return Gpt()


def t5_decoder(
    lib: Any, *, layers: int = 6, width: int = 512, heads: int = 8, inner: int = 2048,
    words: int = 32128, buckets: int = 32,
) -> Any:
    """Raffel et al. 2019, one step of decoding.

    (id [N, 1], own keys and values [layers, 2, N, heads, P, d], those of the encoder's output
    [layers, 2, N, heads, E, d]) to (logits [N, words], new keys and values as `gpt`'s).
    """
    nn, functional = lib.nn, lib.nn.functional

    class RmsNorm(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(lib.ones(width))

        def forward(self, x: Any) -> Any:
            return self.weight * (x * lib.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norms = nn.ModuleList(RmsNorm() for _ in range(3))
            self.q, self.k, self.v, self.o, self.cross_q, self.cross_o = (
                nn.Linear(width, width, bias=False) for _ in range(6))
            self.wi = nn.Linear(width, inner, bias=False)
            self.wo = nn.Linear(inner, width, bias=False)

        def attend(self, q: Any, k: Any, v: Any, bias: Any) -> Any:
            mixed = functional.scaled_dot_product_attention(
                attention_heads(q, heads), k, v, attn_mask=bias, scale=1.0)
            return joined_heads(mixed)

        def forward(self, x: Any, past: Any, encoded: Any, bias: Any) -> Any:
            y = self.norms[0](x)
            new = lib.stack((attention_heads(self.k(y), heads), attention_heads(self.v(y), heads)))
            k, v = lib.cat((past, new), 3)
            x = x + self.o(self.attend(self.q(y), k, v, bias))
            y = self.cross_q(self.norms[1](x))
            x = x + self.cross_o(self.attend(y, encoded[0], encoded[1], None))
            return x + self.wo(functional.relu(self.wi(self.norms[2](x)))), new

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shared = nn.Embedding(words, width)
            self.relative_attention_bias = nn.Embedding(buckets, heads)
            self.block = nn.ModuleList(Layer() for _ in range(layers))
            self.final_norm = RmsNorm()

        def forward(self, ids: Any, past: Any, encoded: Any) -> Any:
            length = past.shape[4] + 1
            distance = (length - 1 - lib.arange(length)).clamp(max=buckets - 1)
            bias = self.relative_attention_bias(distance).t()[None, :, None]
            x, made = self.shared(ids), []
            for number, layer in enumerate(self.block):
                x, new = layer(x, past[number], encoded[number], bias)
                made.append(new)
            x = self.final_norm(x[:, -1]) * width**-0.5
            return functional.linear(x, self.shared.weight), lib.stack(made)

    return Decoder()


def vision_transformer(
    lib: Any, *, size: int = 224, patch: int = 16, layers: int = 12, width: int = 192,
    heads: int = 3, classes: int = 1000,
) -> Any:
    """Touvron et al. 2021 (DeiT-tiny): images [N, 3, size, size] to [N, classes]."""
    nn = lib.nn

    class VisionTransformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patch_embed = nn.Conv2d(3, width, patch, patch)
            self.cls_token = nn.Parameter(lib.zeros(1, 1, width))
            self.pos_embed = nn.Parameter(lib.zeros(1, (size // patch) ** 2 + 1, width))
            self.blocks = nn.ModuleList(pre_norm_block(lib, width, heads) for _ in range(layers))
            self.norm, self.head = nn.LayerNorm(width, eps=1e-6), nn.Linear(width, classes)

        def forward(self, x: Any) -> Any:
            x = self.patch_embed(x).flatten(2).transpose(1, 2)
            x = lib.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.pos_embed
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x)[:, 0])

    return VisionTransformer()


def speech_encoder(
    lib: Any, *, bands: int = 80, frames: int = 3000, layers: int = 4, width: int = 384,
    heads: int = 6,
) -> Any:
    """Radford et al. 2022 (Whisper tiny): spectra [N, bands, frames] to [N, frames / 2, width]."""
    nn, functional = lib.nn, lib.nn.functional

    class SpeechEncoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv1d(bands, width, 3, padding=1)
            self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
            self.embed_positions = nn.Parameter(lib.zeros(frames // 2, width))
            self.layers = nn.ModuleList(pre_norm_block(lib, width, heads) for _ in range(layers))
            self.layer_norm = nn.LayerNorm(width)

        def forward(self, x: Any) -> Any:
            x = functional.gelu(self.conv2(functional.gelu(self.conv1(x))))
            x = x.transpose(1, 2) + self.embed_positions
            for layer in self.layers:
                x = layer(x)
            return self.layer_norm(x)

    return SpeechEncoder()


def pre_norm_block(lib: Any, width: int, heads: int) -> Any:
    """Attention and a two-layer perceptron, each after a layer norm: [N, T, width] to the same."""
    nn, functional = lib.nn, lib.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            q, k, v = (attention_heads(part, heads)
                       for part in self.qkv(self.norm1(x)).split(width, dim=2))
            mixed = functional.scaled_dot_product_attention(q, k, v)
            x = x + self.proj(joined_heads(mixed))
            return x + self.fc2(functional.gelu(self.fc1(self.norm2(x))))

    return Block()
