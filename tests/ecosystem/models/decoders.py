"""Decoders: tokens that are their own labels, and a prompt that `generate()` goes on with."""

from __future__ import annotations

from functools import partial

from .transformers import (
    SIZES,
    VOCABULARY,
    architecture,
    following,
    prompted,
)

decoder = partial(architecture, kind="decoder", inputs=following, prompt=prompted)
GROUPED = {**SIZES, "num_key_value_heads": 2, "pad_token_id": 0}
"""Sizes of models in which two heads share a key."""
WINDOW = {"sliding_window": 8, "compilations": 4}
"""The cache fills the window, and is one of other strides from then on."""
OLDER = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
"""The names that GPT-2 gave its sizes."""

DECODERS = (
    decoder("bloom", class_name="BloomForCausalLM", vocab_size=VOCABULARY, hidden_size=32,
            n_layer=2, n_head=4),
    decoder("codegen", class_name="CodeGenForCausalLM", **OLDER, rotary_dim=4),
    decoder("cohere", class_name="CohereForCausalLM", **GROUPED),
    decoder("falcon", class_name="FalconForCausalLM", vocab_size=VOCABULARY, hidden_size=32,
            num_hidden_layers=2, num_attention_heads=4),
    decoder("gemma2", class_name="Gemma2ForCausalLM", **GROUPED, **WINDOW, head_dim=8),
    decoder("gemma3", class_name="Gemma3ForCausalLM", **GROUPED, **WINDOW, head_dim=8,
            layer_types=["sliding_attention", "full_attention"]),
    decoder("glm4", class_name="Glm4ForCausalLM", **GROUPED, head_dim=8),
    decoder("gpt2", class_name="GPT2LMHeadModel", **OLDER),
    decoder("gpt_bigcode", class_name="GPTBigCodeForCausalLM", **OLDER),
    decoder("gpt_neo", class_name="GPTNeoForCausalLM", vocab_size=VOCABULARY, hidden_size=32,
            num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]],
            window_size=4, max_position_embeddings=64),
    decoder("gpt_neox", class_name="GPTNeoXForCausalLM", **SIZES),
    decoder("gptj", class_name="GPTJForCausalLM", **OLDER, rotary_dim=4),
    decoder("granite", class_name="GraniteForCausalLM", **GROUPED),
    decoder("helium", class_name="HeliumForCausalLM", **GROUPED, head_dim=8),
    decoder("llama", class_name="LlamaForCausalLM", **GROUPED),
    decoder("mistral", class_name="MistralForCausalLM", **GROUPED, **WINDOW),
    decoder("mpt", class_name="MptForCausalLM", vocab_size=VOCABULARY, d_model=32, n_layers=2,
            n_heads=4, max_seq_len=64),
    decoder("nemotron", class_name="NemotronForCausalLM", **GROUPED),
    decoder("olmo2", class_name="Olmo2ForCausalLM", **GROUPED),
    decoder("opt", class_name="OPTForCausalLM", vocab_size=VOCABULARY, hidden_size=32,
            num_hidden_layers=2, num_attention_heads=4, ffn_dim=37, word_embed_proj_dim=32,
            max_position_embeddings=64),
    decoder("persimmon", class_name="PersimmonForCausalLM", **SIZES),
    decoder("phi", class_name="PhiForCausalLM", **SIZES),
    decoder("phi3", class_name="Phi3ForCausalLM", **GROUPED),
    decoder("qwen2", class_name="Qwen2ForCausalLM", **GROUPED),
    decoder("qwen3", class_name="Qwen3ForCausalLM", **GROUPED, head_dim=8),
    decoder("smollm3", class_name="SmolLM3ForCausalLM", **GROUPED),
    decoder("stablelm", class_name="StableLmForCausalLM", **GROUPED),
    decoder("starcoder2", class_name="Starcoder2ForCausalLM", **GROUPED),
    decoder("xglm", class_name="XGLMForCausalLM", vocab_size=VOCABULARY, d_model=32,
            num_layers=2, attention_heads=4, ffn_dim=37, max_position_embeddings=64),
)
