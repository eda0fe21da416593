"""Text encoders: rows of tokens, one of them padded, and a label for each token."""

from __future__ import annotations

from functools import partial

from .transformers import SIZES, VOCABULARY, architecture, labelled, padded

encoder = partial(architecture, kind="encoder")

ENCODERS = (
    encoder("albert", class_name="AlbertForMaskedLM", inputs=labelled, **SIZES,
            embedding_size=16),
    encoder("bert", class_name="BertForMaskedLM", inputs=labelled, **SIZES),
    encoder("big_bird", class_name="BigBirdForMaskedLM", inputs=labelled, **SIZES,
            attention_type="original_full"),
    encoder("camembert", class_name="CamembertForTokenClassification", inputs=padded, **SIZES),
    encoder("convbert", class_name="ConvBertForMaskedLM", inputs=labelled, **SIZES,
            embedding_size=16, head_ratio=2, conv_kernel_size=3),
    encoder("data2vec_text", class_name="Data2VecTextForMaskedLM", inputs=labelled, **SIZES),
    encoder("deberta", class_name="DebertaForMaskedLM", inputs=labelled, **SIZES,
            relative_attention=True, pos_att_type=["c2p", "p2c"]),
    encoder("deberta_v2", class_name="DebertaV2ForMaskedLM", inputs=labelled, **SIZES,
            relative_attention=True, position_buckets=4, norm_rel_ebd="layer_norm",
            share_att_key=True, pos_att_type=["c2p", "p2c"]),
    encoder("distilbert", class_name="DistilBertForMaskedLM", inputs=labelled,
            vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=37,
            max_position_embeddings=64),
    encoder("electra", class_name="ElectraForTokenClassification", inputs=padded, **SIZES,
            embedding_size=16),
    encoder("ernie", class_name="ErnieForMaskedLM", inputs=labelled, **SIZES),
    encoder("esm", class_name="EsmForMaskedLM", inputs=labelled, **SIZES,
            position_embedding_type="rotary", pad_token_id=1, mask_token_id=4),
    encoder("fnet", class_name="FNetForMaskedLM",
            inputs=lambda draw: {key: value for key, value in labelled(draw).items()
                                 if key != "attention_mask"}, **SIZES),
    encoder("ibert", class_name="IBertForMaskedLM", inputs=labelled, **SIZES),
    encoder("mobilebert", class_name="MobileBertForMaskedLM", inputs=labelled,
            **SIZES, embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16),
    encoder("modernbert", class_name="ModernBertForMaskedLM", inputs=labelled, **SIZES,
            pad_token_id=0, cls_token_id=1, sep_token_id=2, bos_token_id=1, eos_token_id=2,
            global_attn_every_n_layers=2, local_attention=8),
    encoder("mpnet", class_name="MPNetForMaskedLM", inputs=labelled, **SIZES),
    encoder("rembert", class_name="RemBertForMaskedLM", inputs=labelled, **SIZES,
            input_embedding_size=16, output_embedding_size=24),
    encoder("roberta", class_name="RobertaForSequenceClassification", inputs=padded, **SIZES),
    encoder("roformer", class_name="RoFormerForMaskedLM", inputs=labelled, **SIZES,
            embedding_size=32),
    encoder("squeezebert", class_name="SqueezeBertForMaskedLM", inputs=labelled, **SIZES,
            embedding_size=32, q_groups=2, k_groups=2, v_groups=2, post_attention_groups=1,
            intermediate_groups=1, output_groups=1),
    encoder("xlm_roberta", class_name="XLMRobertaForMaskedLM", inputs=labelled, **SIZES),
)
