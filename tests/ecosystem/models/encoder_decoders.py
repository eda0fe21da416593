"""Encoder-decoders: padded rows and the rows that are to be made of them."""

from __future__ import annotations

from functools import partial

from .transformers import VOCABULARY, architecture, prompted, translated

pair = partial(architecture, kind="encoder-decoder", inputs=translated, prompt=prompted)
SIZES = {
    "vocab_size": VOCABULARY, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 37,
    "decoder_ffn_dim": 37, "max_position_embeddings": 64, "pad_token_id": 1, "bos_token_id": 0,
    "eos_token_id": 2, "decoder_start_token_id": 2,
}
"""The names that BART gave its sizes."""
T5 = {
    "vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 37, "num_layers": 2,
    "num_heads": 4, "decoder_start_token_id": 0,
}

ENCODER_DECODERS = (
    pair("bart", class_name="BartForConditionalGeneration", **SIZES),
    pair("bigbird_pegasus", class_name="BigBirdPegasusForConditionalGeneration", **SIZES,
         attention_type="original_full"),
    pair("blenderbot", class_name="BlenderbotForConditionalGeneration", **SIZES),
    pair("blenderbot_small", class_name="BlenderbotSmallForConditionalGeneration", **SIZES),
    pair("led", decides=True, class_name="LEDForConditionalGeneration", **SIZES,
         attention_window=4, max_encoder_position_embeddings=64,
         max_decoder_position_embeddings=64),
    pair("longt5", class_name="LongT5ForConditionalGeneration", **T5, local_radius=3),
    pair("m2m_100", class_name="M2M100ForConditionalGeneration", **SIZES),
    pair("marian", class_name="MarianMTModel", **SIZES),
    pair("mbart", class_name="MBartForConditionalGeneration", **SIZES),
    pair("mt5", class_name="MT5ForConditionalGeneration", **T5),
    pair("mvp", class_name="MvpForConditionalGeneration", **SIZES),
    pair("pegasus", class_name="PegasusForConditionalGeneration", **SIZES),
    pair("pegasus_x", class_name="PegasusXForConditionalGeneration", **SIZES, block_size=4,
         num_global_tokens=2),
    pair("plbart", class_name="PLBartForConditionalGeneration", **SIZES),
    pair("prophetnet", class_name="ProphetNetForConditionalGeneration", vocab_size=VOCABULARY,
         hidden_size=32, encoder_ffn_dim=37, num_encoder_layers=2, num_encoder_attention_heads=4,
         decoder_ffn_dim=37, num_decoder_layers=2, num_decoder_attention_heads=4,
         max_position_embeddings=64, decoder_start_token_id=0, num_buckets=8,
         relative_max_distance=16),
    pair("t5", class_name="T5ForConditionalGeneration", **T5),
    pair("umt5", class_name="UMT5ForConditionalGeneration", **T5),
)
