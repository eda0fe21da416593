"""The models and sizes that are measured, their inputs, and their weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.architectures import (
    jax_forms,
    sequences,
    tables,
    transformers,
    vision,
)

Arrays = dict[str, np.ndarray]


class Input(NamedTuple):
    """An argument: integers from 0 to `below` - 1, or where that is 0 normal numbers, float32."""

    shape: tuple[int, ...]
    below: int = 0

    def drawn(self, random: np.random.Generator) -> np.ndarray:
        """An array, the same of equal generators."""
        if self.below:
            return random.integers(0, self.below, self.shape)
        return random.standard_normal(self.shape, dtype=np.float32)


class Case(NamedTuple):
    """One model on one input.

    Attributes:
        title: what reports call it.
        build: makes the model over a library, from the keywords `sizes`.
        inputs: its arguments.
        dtype: of weights, and so of all that is computed from them; inputs stay as they are.
        published: a file with the weights that others trained; they are drawn where it is absent.
    """

    title: str
    build: Callable[..., Any]
    inputs: tuple[Input, ...]
    sizes: Mapping[str, Any] = {}
    dtype: str = "float32"
    published: Path | None = None

    @property
    def jax_form(self) -> Callable[..., Any] | None:
        """Makes the model of the library JAX and the sizes; None where there is none."""
        return JAX_FORMS.get(self.build)

    def model(self, lib: Any, weights: Arrays) -> Any:
        """The model in eval mode over `lib`, graphwright or torch, with these weights."""
        model = self.build(lib, **self.sizes)
        model.load_state_dict({name: lib.from_numpy(array) for name, array in weights.items()})
        return model.to(getattr(lib, self.dtype)).eval()

    def arguments(self) -> tuple[np.ndarray, ...]:
        """The inputs, the same in every run."""
        random = np.random.default_rng(1)
        return tuple(one.drawn(random) for one in self.inputs)


JAX_FORMS: dict[Callable[..., Any], Callable[..., Any]] = {
    transformers.bert: jax_forms.bert, tables.tabular: jax_forms.tabular}


def drawn_weights(model: Any) -> Arrays:
    """Weights for a module of graphwright, by name, the same in every run.

    Matrices and filters keep the variance of what they are applied to; integers stay.
    """
    random = np.random.default_rng(0)
    return {name: _drawn(name, tensor, random) for name, tensor in model.state_dict().items()}


def _drawn(name: str, tensor: Any, random: np.random.Generator) -> np.ndarray:
    if not tensor.dtype.is_floating_point:
        return np.array(tensor.numpy())
    if name.endswith("running_var"):
        return random.uniform(0.5, 1.5, tuple(tensor.shape)).astype(np.float32)
    numbers = random.standard_normal(tuple(tensor.shape), dtype=np.float32)
    if tensor.dim() > 1:
        return numbers / np.float32(math.sqrt(math.prod(tensor.shape[1:])))
    return np.float32(0.1) * numbers + np.float32(name.endswith(("weight", "gamma")))


def _ids(batch: int, length: int, words: int) -> tuple[Input, ...]:
    return (Input((batch, length), words),)


def _images(batch: int, size: int) -> tuple[Input, ...]:
    return (Input((batch, 3, size, size)),)


MINILM = Path(__file__).parents[2] / "out" / "minilm" / "model.safetensors"
"""Where `make minilm` puts it."""
BERT_WORDS, GPT_WORDS, T5_WORDS = 30522, 50257, 32128
ONE_TOKEN = (Input((1, 1), GPT_WORDS), Input((6, 2, 1, 6, 256, 64)))
T5_STEP = (Input((1, 1), T5_WORDS), Input((6, 2, 1, 8, 31, 64)), Input((6, 2, 1, 8, 32, 64)))

CASES: dict[str, Case] = {
    "bert-1x16": Case("BERT 6x384, 1x16 tokens", transformers.bert, _ids(1, 16, BERT_WORDS)),
    "bert-1x128": Case("BERT 6x384, 1x128 tokens", transformers.bert, _ids(1, 128, BERT_WORDS)),
    "bert-8x128": Case("BERT 6x384, 8x128 tokens", transformers.bert, _ids(8, 128, BERT_WORDS)),
    "gpt-prefill": Case("GPT 6x384, prefill of 256", transformers.gpt, _ids(1, 256, GPT_WORDS)),
    "gpt-token": Case("GPT 6x384, one token after 256", transformers.gpt, ONE_TOKEN),
    "vit": Case("ViT-tiny 224", transformers.vision_transformer, _images(1, 224)),
    "resnet-1": Case("ResNet-18, one image", vision.resnet18, _images(1, 224)),
    "resnet-8": Case("ResNet-18, 8 images", vision.resnet18, _images(8, 224)),
    "mobilenet": Case("MobileNetV2, one image", vision.mobilenet_v2, _images(1, 224)),
    "unet": Case("U-Net of 4 levels, 128x128", vision.unet, _images(1, 128)),
    "lstm-1": Case("LSTM 128, 64 steps", sequences.lstm, (Input((1, 64, 128)),)),
    "lstm-16": Case("LSTM 128, 64 steps, batch 16", sequences.lstm, (Input((16, 64, 128)),)),
    "convnext": Case("ConvNeXt block 96x56x56", vision.convnext_block, (Input((1, 96, 56, 56)),)),
    "tabular-1": Case("tabular MLP, 12 embeddings, one row", tables.tabular,
                      (Input((1, 12), 1000), Input((1, 20)))),
    "tabular-256": Case("tabular MLP, 12 embeddings, 256 rows", tables.tabular,
                        (Input((256, 12), 1000), Input((256, 20)))),
    "minilm": Case("MiniLM, 1x32 tokens", transformers.bert, _ids(1, 32, BERT_WORDS),
                   {"heads": 12, "pooled": True}, published=MINILM),
    "efficientnet": Case("EfficientNet-B0, one image", vision.efficientnet, _images(1, 224)),
    "speech": Case("Whisper-tiny encoder, 30 s", transformers.speech_encoder,
                   (Input((1, 80, 3000)),)),
    "t5": Case("T5-small, one decoded token", transformers.t5_decoder, T5_STEP),
    "dlrm": Case("DLRM, 26 embeddings, 128 rows", tables.dlrm,
                 (Input((128, 26), 10000), Input((128, 13)))),
    "points": Case("PointNet, 1024 points", vision.point_cloud, (Input((1, 3, 1024)),)),
    "diffusion": Case("diffusion U-Net block 128x32x32", vision.diffusion_block,
                      (Input((1, 128, 32, 32)), Input((1, 512)))),
    "wavenet": Case("WaveNet of 10 layers, 4096 samples", sequences.wavenet,
                    (Input((1, 1, 4096)),)),
    "bert-bf16": Case("BERT 6x384, 1x128 tokens, bfloat16", transformers.bert,
                      _ids(1, 128, BERT_WORDS), dtype="bfloat16"),
    "gru": Case("GRU tagger, both directions, 8x32 words", sequences.gru_tagger,
                _ids(8, 32, 10000)),
}
