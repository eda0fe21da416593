"""Architectures of Hugging Face: how a line of their tables is read, and what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..case import Arrays, Draw, Model

VOCABULARY = 99
SIZES = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 37, "max_position_embeddings": 64,
}
"""What most configurations call the sizes of a small model."""


def architecture(
    name: str, kind: str, class_name: str, inputs: Callable[[Draw], Arrays],
    prompt: Callable[[Draw], Arrays] | None = None, generation: dict[str, Any] | None = None,
    compilations: int = 3, decides: bool = False, **config: Any,
) -> Model:
    """A model of `transformers` by the name of its class and the values of its configuration.

    A value {"class": NAME, ...} of the configuration is a configuration of that class.
    """

    def build() -> Any:
        import transformers

        model = getattr(transformers, class_name)
        return model(model.config_class(**_configured(transformers, config)))

    return Model(name, kind, "transformers", build, inputs, prompt, generation,
                 compilations=compilations, decides=decides)


def _configured(library: Any, config: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict) and "class" in value:
            rest = {name: part for name, part in value.items() if name != "class"}
            value = getattr(library, value["class"])(**_configured(library, rest))
        values[key] = value
    return values


def ids(draw: Draw, name: str = "input_ids", rows: int = 2, columns: int = 12) -> np.ndarray:
    """Tokens of the vocabulary, without the first five, which stand for padding and the like."""
    return draw.integers(name, VOCABULARY, rows, columns, start=5)


def padded(draw: Draw) -> Arrays:
    """Two rows of tokens, the second of which ends three tokens before the first."""
    mask = np.ones((2, 12), dtype=np.int64)
    mask[1, -3:] = 0
    return {"input_ids": ids(draw), "attention_mask": mask}


def labelled(draw: Draw) -> Arrays:
    """The same, with a label for each token."""
    return {**padded(draw), "labels": ids(draw, "labels")}


def following(draw: Draw) -> Arrays:
    """Two rows of tokens that are their own labels, as causal models are trained."""
    tokens = ids(draw)
    return {"input_ids": tokens, "labels": tokens}


def translated(draw: Draw) -> Arrays:
    """Padded rows, and the shorter rows that are to be made of them."""
    return {**padded(draw), "labels": ids(draw, "labels", columns=7)}


def prompted(draw: Draw) -> Arrays:
    """Two rows to go on from."""
    tokens = ids(draw, "prompt", columns=6)
    return {"input_ids": tokens, "attention_mask": np.ones_like(tokens)}


def image(size: int, channels: int = 3) -> Callable[[Draw], Arrays]:
    """Two images."""
    return lambda draw: {"pixel_values": draw.normal("pixels", 2, channels, size, size)}
