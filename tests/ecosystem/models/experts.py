"""Mixtures of experts: decoders whose layers choose among several feed-forward networks."""

from __future__ import annotations

from functools import partial

from . import decoders
from .encoder_decoders import T5
from .transformers import architecture, following, prompted, translated

experts = partial(architecture, kind="mixture of experts", inputs=following, prompt=prompted)
GROUPED = {**decoders.GROUPED, "intermediate_size": 40}
"""Sizes whose rows are multiples of 16 bytes, which PyTorch's grouped product asks for."""
FOUR = {"num_experts": 4, "num_experts_per_tok": 2}
LATENT = {
    "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24,
    "q_lora_rank": 16, "kv_lora_rank": 8, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8,
    "v_head_dim": 8, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1,
    "n_shared_experts": 1,
}
"""Attention whose keys are compressed, and experts in groups."""

EXPERTS = (
    experts("deepseek_v2", class_name="DeepseekV2ForCausalLM",
            **{**GROUPED, "num_key_value_heads": 4}, **LATENT),
    experts("deepseek_v3", class_name="DeepseekV3ForCausalLM",
            **{**GROUPED, "num_key_value_heads": 4}, **LATENT),
    experts("ernie4_5_moe", class_name="Ernie4_5_MoeForCausalLM", **GROUPED, moe_num_experts=4,
            moe_k=2, moe_intermediate_size=24, moe_layer_start_index=1, moe_layer_end_index=1,
            moe_layer_interval=1),
    experts("glm4_moe", class_name="Glm4MoeForCausalLM", **GROUPED, head_dim=8,
            n_routed_experts=4, num_experts_per_tok=2, moe_intermediate_size=24,
            first_k_dense_replace=1, n_group=1, topk_group=1),
    experts("gpt_oss", class_name="GptOssForCausalLM", **GROUPED, head_dim=8, num_local_experts=4,
            num_experts_per_tok=2, sliding_window=32),
    experts("granitemoe", class_name="GraniteMoeForCausalLM", **GROUPED, num_local_experts=4,
            num_experts_per_tok=2),
    experts("jetmoe", decides=True, class_name="JetMoeForCausalLM", **GROUPED,
            num_local_experts=4, num_experts_per_tok=2, kv_channels=8),
    experts("mixtral", class_name="MixtralForCausalLM", **GROUPED, num_local_experts=4,
            num_experts_per_tok=2),
    experts("olmoe", class_name="OlmoeForCausalLM", **GROUPED, **FOUR),
    experts("phimoe", class_name="PhimoeForCausalLM", **GROUPED, num_local_experts=4,
            num_experts_per_tok=2, sliding_window=32),
    experts("qwen2_moe", class_name="Qwen2MoeForCausalLM", **GROUPED, **FOUR,
            moe_intermediate_size=24, shared_expert_intermediate_size=24),
    experts("qwen3_moe", class_name="Qwen3MoeForCausalLM", **GROUPED, **FOUR, head_dim=8,
            moe_intermediate_size=24),
    experts("switch_transformers", decides=True, inputs=translated,
            class_name="SwitchTransformersForConditionalGeneration", **T5, num_experts=4,
            expert_capacity=8, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1,
            num_decoder_layers=2),
)
