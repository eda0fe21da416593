"""Models of sound: of samples, and of spectrograms."""

from __future__ import annotations

from functools import partial

from ..case import Arrays, Draw
from .transformers import VOCABULARY, architecture, ids

audio = partial(architecture, kind="audio")
SPEECH = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 37, "conv_dim": [16, 16, 16],
    "conv_stride": [5, 2, 2], "conv_kernel": [10, 3, 3], "num_feat_extract_layers": 3,
    "num_conv_pos_embeddings": 8, "num_conv_pos_embedding_groups": 2, "mask_time_prob": 0.0,
    "apply_spec_augment": False,
}
"""Sizes of wav2vec 2.0 and the models that follow it."""


def samples(draw: Draw) -> Arrays:
    """Two sounds of 800 samples, and what is said."""
    return {"input_values": draw.normal("samples", 2, 800), "labels": ids(draw, "labels", 2, 5)}


def unlabelled(draw: Draw) -> Arrays:
    """Two sounds of 800 samples."""
    return {"input_values": draw.normal("samples", 2, 800)}


def spectrogram(draw: Draw) -> Arrays:
    """Two mel spectrograms of 60 frames, and what is said."""
    return {"input_features": draw.normal("mel", 2, 16, 60), "labels": ids(draw, "labels", 2, 7)}


def heard(draw: Draw) -> Arrays:
    """The same, without what is said."""
    return {"input_features": draw.normal("mel", 2, 16, 60)}


def frames(draw: Draw) -> Arrays:
    """Two spectrograms, frame by frame."""
    return {"input_features": draw.normal("mel", 2, 40, 16), "labels": ids(draw, "labels", 2, 7)}


def spoken(draw: Draw) -> Arrays:
    """Two sounds of 800 samples, and a class of each."""
    return {"input_values": draw.normal("samples", 2, 800),
            "labels": draw.integers("labels", 2, 2)}


AUDIO = (
    audio("audio_spectrogram_transformer", class_name="ASTForAudioClassification",
          inputs=lambda draw: {"input_values": draw.normal("mel", 2, 24, 16)}, hidden_size=32,
          num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, patch_size=4,
          max_length=24, num_mel_bins=16, frequency_stride=4, time_stride=4),
    audio("data2vec_audio", class_name="Data2VecAudioForSequenceClassification", inputs=spoken,
          **SPEECH, conv_pos_kernel_size=5, classifier_proj_size=16),
    audio("hubert", class_name="HubertForSequenceClassification", inputs=spoken, **SPEECH,
          classifier_proj_size=16),
    audio("sew", class_name="SEWForSequenceClassification", inputs=spoken, **SPEECH,
          squeeze_factor=2, classifier_proj_size=16),
    audio("speech_to_text", class_name="Speech2TextForConditionalGeneration", inputs=frames,
          prompt=lambda draw: {"input_features": draw.normal("mel", 2, 40, 16)},
          vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2,
          encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=37,
          decoder_ffn_dim=37, input_feat_per_channel=16, input_channels=1, conv_channels=16,
          num_conv_layers=2, max_source_positions=64, max_target_positions=64,
          conv_kernel_sizes=[3, 3]),
    audio("unispeech", class_name="UniSpeechForSequenceClassification", inputs=spoken, **SPEECH,
          classifier_proj_size=16),
    audio("wav2vec2", class_name="Wav2Vec2ForCTC", inputs=samples, **SPEECH, decides=True),
    audio("wav2vec2_conformer", class_name="Wav2Vec2ConformerForXVector", inputs=unlabelled,
          **SPEECH, conv_depthwise_kernel_size=5, tdnn_dim=[16, 16], tdnn_kernel=[3, 3],
          tdnn_dilation=[1, 2], xvector_output_dim=12),
    audio("wavlm", class_name="WavLMForAudioFrameClassification", inputs=unlabelled, **SPEECH),
    audio("whisper", class_name="WhisperForConditionalGeneration", inputs=spectrogram,
          prompt=heard, vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=2,
          encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=37,
          decoder_ffn_dim=37, num_mel_bins=16, max_source_positions=30, max_target_positions=40,
          pad_token_id=1, bos_token_id=2, eos_token_id=3, decoder_start_token_id=2,
          suppress_tokens=None, begin_suppress_tokens=None),
)
