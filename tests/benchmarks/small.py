"""The architectures that benchmarks measure, so small that a test can compile them."""

from __future__ import annotations

from benchmarks.architectures import sequences, tables, transformers, vision
from benchmarks.architectures.cases import Case, Input

TEXT = {"layers": 1, "width": 16, "heads": 2, "words": 50}
STAGES = ((1, 4, 1, 1), (6, 8, 2, 2))
IMAGE = (Input((2, 3, 32, 32)),)

SMALL: dict[str, Case] = {
    "bert": Case("BERT", transformers.bert, (Input((2, 5), 50),), TEXT),
    "sentences": Case("MiniLM", transformers.bert, (Input((2, 5), 50),), {**TEXT, "pooled": True}),
    "bfloat16": Case("BERT", transformers.bert, (Input((2, 5), 50),), TEXT, "bfloat16"),
    "prefill": Case("GPT", transformers.gpt, (Input((1, 6), 50),), TEXT),
    "token": Case("GPT", transformers.gpt, (Input((1, 1), 50), Input((1, 2, 1, 2, 6, 8))), TEXT),
    "t5": Case("T5", transformers.t5_decoder,
               (Input((1, 1), 50), Input((1, 2, 1, 2, 3, 8)), Input((1, 2, 1, 2, 4, 8))),
               {**TEXT, "inner": 32}),
    "vit": Case("ViT", transformers.vision_transformer, IMAGE,
                {"size": 32, "layers": 1, "width": 16, "heads": 2, "classes": 7}),
    "speech": Case("Whisper", transformers.speech_encoder, (Input((1, 8, 12)),),
                   {"bands": 8, "frames": 12, "layers": 1, "width": 16, "heads": 2}),
    "resnet": Case("ResNet", vision.resnet18, IMAGE, {"width": 4, "classes": 7}),
    "mobilenet": Case("MobileNet", vision.mobilenet_v2, IMAGE,
                      {"stages": STAGES, "last": 16, "classes": 7}),
    "efficientnet": Case("EfficientNet", vision.efficientnet, IMAGE, {
        "stages": tuple((*stage, 5) for stage in STAGES), "last": 16, "classes": 7}),
    "unet": Case("U-Net", vision.unet, (Input((1, 3, 16, 16)),), {"width": 4, "depth": 2}),
    "convnext": Case("ConvNeXt", vision.convnext_block, (Input((1, 8, 9, 9)),), {"width": 8}),
    "diffusion": Case("diffusion", vision.diffusion_block, (Input((1, 8, 4, 4)), Input((1, 12))),
                      {"width": 8, "groups": 2, "steps": 12, "heads": 2}),
    "points": Case("PointNet", vision.point_cloud, (Input((2, 3, 20)),),
                   {"widths": (4, 8), "classes": 7}),
    "lstm": Case("LSTM", sequences.lstm, (Input((2, 5, 8)),), {"width": 8}),
    "gru": Case("GRU", sequences.gru_tagger, (Input((2, 5), 50),), {"words": 50, "width": 8}),
    "wavenet": Case("WaveNet", sequences.wavenet, (Input((1, 1, 20)),),
                    {"layers": 2, "width": 4, "outputs": 8}),
    "tabular": Case("tabular", tables.tabular, (Input((3, 2), 9), Input((3, 4))),
                    {"categories": 2, "values": 9, "width": 4, "numbers": 4, "inner": (8,)}),
    "dlrm": Case("DLRM", tables.dlrm, (Input((3, 2), 9), Input((3, 4))), {
        "categories": 2, "values": 9, "width": 4, "numbers": 4, "bottom": (8,), "top": (8,)}),
}
