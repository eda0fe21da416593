"""Models of images and text together."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..case import Arrays, Draw
from .decoders import GROUPED
from .transformers import SIZES, architecture, ids, padded
from .vision import PATCHES

multimodal = partial(architecture, kind="multimodal")
TEXT = {**SIZES, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}


def both(draw: Draw) -> Arrays:
    """Padded rows and an image for each."""
    return {**padded(draw), "pixel_values": draw.normal("pixels", 2, 3, 32, 32)}


def shown(draw: Draw, columns: int = 20) -> Arrays:
    """Rows in which 16 tokens stand for the patches of an image."""
    tokens = ids(draw, columns=columns)
    tokens[:, 1:17] = 4
    return {"input_ids": tokens, "pixel_values": draw.normal("pixels", 2, 3, 32, 32)}


def shown_and_labelled(draw: Draw) -> Arrays:
    """The same, with the row as its own labels."""
    found = shown(draw)
    return {**found, "labels": found["input_ids"]}


MULTIMODAL = (
    multimodal("chinese_clip", class_name="ChineseCLIPModel", inputs=both, projection_dim=16,
               text_config=TEXT, vision_config=PATCHES),
    multimodal("clip", class_name="CLIPModel", inputs=both, projection_dim=16,
               text_config=TEXT, vision_config=PATCHES),
    multimodal("clipseg", class_name="CLIPSegForImageSegmentation", inputs=both,
               projection_dim=16, text_config=TEXT, vision_config=PATCHES, extract_layers=[0, 1],
               reduce_dim=16, decoder_num_attention_heads=4, decoder_intermediate_size=37),
    multimodal("git", class_name="GitForCausalLM",
               inputs=lambda draw: {**both(draw), "labels": ids(draw, "labels")},
               **SIZES, vision_config=PATCHES),
    multimodal("llava", class_name="LlavaForConditionalGeneration", inputs=shown_and_labelled,
               prompt=shown, image_token_index=4, vision_feature_layer=-1,
               text_config={"class": "LlamaConfig", **GROUPED},
               vision_config={"class": "CLIPVisionConfig", **PATCHES}),
    multimodal("siglip", class_name="SiglipModel", inputs=lambda draw: both(draw),
               text_config={**TEXT, "max_position_embeddings": 64}, vision_config=PATCHES),
    multimodal("vilt", decides=True, class_name="ViltForQuestionAnswering",
               inputs=lambda draw: {**both(draw), "pixel_mask": np.ones((2, 32, 32), np.int64)},
               **SIZES, image_size=32, patch_size=8, num_labels=3),
)
