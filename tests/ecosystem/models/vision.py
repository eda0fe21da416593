"""Models of images: classifiers, and one that segments."""

from __future__ import annotations

from functools import partial

from .transformers import architecture, image

vision = partial(architecture, kind="vision")
PATCHES = {
    "image_size": 32, "patch_size": 8, "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 37,
}
"""Sizes of a vision transformer."""

VISION = (
    vision("beit", class_name="BeitForImageClassification", inputs=image(32), **PATCHES,
           vocab_size=99, use_relative_position_bias=True),
    vision("bit", class_name="BitForImageClassification", inputs=image(32), embedding_size=8,
           hidden_sizes=[8, 16], depths=[1, 1], num_groups=4),
    vision("convnext", class_name="ConvNextForImageClassification", inputs=image(32),
           hidden_sizes=[8, 16], depths=[1, 1], num_stages=2),
    vision("convnextv2", class_name="ConvNextV2ForImageClassification", inputs=image(32),
           hidden_sizes=[8, 16], depths=[1, 1], num_stages=2),
    vision("cvt", class_name="CvtForImageClassification", inputs=image(32), embed_dim=[8, 16],
           num_heads=[1, 2], depth=[1, 2], patch_sizes=[7, 3], patch_stride=[4, 2],
           patch_padding=[2, 1], mlp_ratio=[2.0, 2.0], attention_drop_rate=[0.0, 0.0],
           drop_rate=[0.0, 0.0], drop_path_rate=[0.0, 0.0], qkv_bias=[True, True],
           cls_token=[False, True], qkv_projection_method=["dw_bn", "dw_bn"],
           kernel_qkv=[3, 3], padding_kv=[1, 1], stride_kv=[2, 2], padding_q=[1, 1],
           stride_q=[1, 1]),
    vision("data2vec_vision", class_name="Data2VecVisionForImageClassification", inputs=image(32),
           **PATCHES),
    vision("deit", class_name="DeiTForImageClassification", inputs=image(32), **PATCHES),
    vision("dinov2", class_name="Dinov2ForImageClassification", inputs=image(32), **PATCHES),
    vision("dpt", class_name="DPTForDepthEstimation", inputs=image(32),
           **{**PATCHES, "num_hidden_layers": 4}, is_hybrid=False,
           backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 16, 16],
           fusion_hidden_size=16, reassemble_factors=[4, 2, 1, 0.5]),
    vision("efficientnet", class_name="EfficientNetForImageClassification", inputs=image(32),
           image_size=32, width_coefficient=0.5, depth_coefficient=0.5, hidden_dim=640),
    vision("focalnet", class_name="FocalNetForImageClassification", inputs=image(32),
           image_size=32, patch_size=2, embed_dim=16, depths=[1, 2], focal_levels=[2, 2],
           focal_windows=[3, 3], hidden_sizes=[16, 32]),
    vision("hiera", class_name="HieraForImageClassification", inputs=image(32),
           image_size=[32, 32], patch_size=[3, 3], patch_stride=[2, 2], patch_padding=[1, 1],
           embed_dim=8, depths=[1, 1, 1, 1], num_heads=[1, 1, 2, 2], masked_unit_size=[8, 8],
           query_stride=[2, 2]),
    vision("levit", class_name="LevitForImageClassification", inputs=image(64), image_size=64,
           hidden_sizes=[16, 24, 32], num_attention_heads=[2, 3, 4], depths=[1, 1, 1],
           key_dim=[8, 8, 8], drop_path_rate=0, mlp_ratio=[2, 2, 2], attention_ratio=[2, 2, 2]),
    vision("mobilenet_v1", class_name="MobileNetV1ForImageClassification", inputs=image(32),
           depth_multiplier=0.25, image_size=32),
    vision("mobilenet_v2", class_name="MobileNetV2ForImageClassification", inputs=image(32),
           depth_multiplier=0.25, image_size=32),
    vision("mobilevit", class_name="MobileViTForImageClassification", inputs=image(64),
           image_size=64, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 12, 16, 16, 16, 32],
           num_attention_heads=4),
    vision("poolformer", class_name="PoolFormerForImageClassification", inputs=image(64),
           hidden_sizes=[8, 16, 16, 24], depths=[1, 1, 1, 1]),
    vision("pvt_v2", class_name="PvtV2ForImageClassification", inputs=image(64),
           image_size=64, hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1],
           num_attention_heads=[1, 2, 2, 4]),
    vision("regnet", class_name="RegNetForImageClassification", inputs=image(32),
           embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], groups_width=4),
    vision("resnet", class_name="ResNetForImageClassification", inputs=image(32),
           embedding_size=8, hidden_sizes=[8, 16], depths=[1, 2]),
    vision("segformer", class_name="SegformerForSemanticSegmentation", inputs=image(64),
           hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4],
           decoder_hidden_size=16),
    vision("swin", class_name="SwinForImageClassification", inputs=image(32), image_size=32,
           patch_size=2, embed_dim=16, depths=[1, 2], num_heads=[2, 4], window_size=4),
    vision("swinv2", class_name="Swinv2ForImageClassification", inputs=image(32), image_size=32,
           patch_size=2, embed_dim=16, depths=[1, 2], num_heads=[2, 4], window_size=4),
    vision("vit", class_name="ViTForImageClassification", inputs=image(32), **PATCHES),
    vision("vit_msn", class_name="ViTMSNForImageClassification", inputs=image(32), **PATCHES),
    vision("yolos", class_name="YolosForObjectDetection", inputs=image(32),
           **{**PATCHES, "image_size": [32, 32]}, num_detection_tokens=5),
)
