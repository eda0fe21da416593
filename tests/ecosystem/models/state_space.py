"""State space and other recurrent models, and their mixtures with attention."""

from __future__ import annotations

from functools import partial

from .decoders import GROUPED
from .transformers import VOCABULARY, architecture, following, prompted

recurrent = partial(architecture, kind="state space", inputs=following, prompt=prompted)
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2}
MAMBA2 = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_d_state": 8, "mamba_n_groups": 1,
          "mamba_d_conv": 4, "mamba_expand": 2, "mamba_chunk_size": 8}

STATE_SPACE = (
    recurrent("bamba", class_name="BambaForCausalLM", **GROUPED, **MAMBA2,
              attn_layer_indices=[1]),
    recurrent("falcon_h1", class_name="FalconH1ForCausalLM", **GROUPED, **MAMBA2, head_dim=8,
              mamba_d_ssm=64),
    recurrent("falcon_mamba", class_name="FalconMambaForCausalLM", **SIZES, state_size=8),
    recurrent("jamba", class_name="JambaForCausalLM",
              **{**GROUPED, "intermediate_size": 40}, num_experts=2,
              num_experts_per_tok=1, attn_layer_period=2, attn_layer_offset=1,
              expert_layer_period=2, expert_layer_offset=1, mamba_d_state=8, mamba_dt_rank=4,
              use_mamba_kernels=False),
    recurrent("lfm2", class_name="Lfm2ForCausalLM", **GROUPED,
              layer_types=["conv", "full_attention"], block_multiple_of=8),
    recurrent("mamba", class_name="MambaForCausalLM", **SIZES, state_size=8),
    recurrent("mamba2", class_name="Mamba2ForCausalLM", **SIZES, state_size=8, num_heads=8,
              head_dim=8, n_groups=1, chunk_size=8),
    recurrent("qwen3_next", class_name="Qwen3NextForCausalLM", **GROUPED, head_dim=8,
              num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24,
              shared_expert_intermediate_size=24, linear_num_key_heads=2,
              linear_num_value_heads=2, linear_key_head_dim=16, linear_value_head_dim=16,
              layer_types=["linear_attention", "full_attention"]),
    recurrent("recurrent_gemma", compilations=4, class_name="RecurrentGemmaForCausalLM", **SIZES,
              num_attention_heads=4, lru_width=32, intermediate_size=74,
              attention_window_size=16, block_types=["recurrent", "attention"], pad_token_id=0),
    recurrent("xlstm", class_name="xLSTMForCausalLM", **SIZES, num_heads=4, chunk_size=8,
              prompt=None, use_cache=False),
)
