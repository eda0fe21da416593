"""Families of timm: a small variant of each, trained for a step on four small images."""

from __future__ import annotations

from typing import Any

from ..case import Model

CLASSES = 10


def family(
    name: str, variant: str, size: int = 64, training: bool = True, **options: Any,
) -> Model:
    """A variant by its name in timm, for images of `size` x `size`."""

    def build() -> Any:
        import timm

        return timm.create_model(variant, pretrained=False, num_classes=CLASSES, **options)

    def inputs(draw: Any) -> Any:
        return {"": draw.normal("pixels", 4, 3, size, size)}

    return Model(f"timm_{name}", "timm", "timm", build, inputs,
                 training=training)


SMALL = {"img_size": 64, "drop_path_rate": 0.0}
"""Of models whose layers depend on the size of the image."""

TIMM = (
    family("beit", "beit_base_patch16_224", embed_dim=32, depth=2, num_heads=4, **SMALL),
    family("cait", "cait_xxs24_224", embed_dim=32, depth=2, num_heads=4, **SMALL),
    family("coat", "coat_lite_tiny", img_size=64, embed_dims=[16, 24, 32, 40]),
    family("convnext", "convnext_atto", depths=(1, 1, 2, 1), dims=(8, 16, 24, 32)),
    family("crossvit", "crossvit_tiny_240", size=240),
    family("davit", "davit_tiny", depths=(1, 1), embed_dims=(16, 32), num_heads=(2, 4)),
    family("deit", "deit_tiny_distilled_patch16_224", depth=2, **SMALL),
    family("densenet", "densenet121", training=False, block_config=(2, 2, 2, 2)),
    family("edgenext", "edgenext_xx_small"),
    family("efficientformer", "efficientformerv2_s0", size=224),
    family("efficientnet", "efficientnet_b0", drop_path_rate=0.0),
    family("eva", "eva02_tiny_patch14_224", img_size=56, depth=2, size=56),
    family("fastvit", "fastvit_t8"),
    family("focalnet", "focalnet_tiny_srf"),
    family("ghostnet", "ghostnet_050", training=False, drop_rate=0.0),
    family("gmlp", "gmlp_ti16_224", img_size=64),
    family("hgnet", "hgnetv2_b0", training=False),
    family("hiera", "hiera_tiny_224", stages=(1, 1, 1, 1), embed_dim=16, num_heads=1, size=224),
    family("hrnet", "hrnet_w18_small", training=False),
    family("inception_next", "inception_next_atto"),
    family("maxvit", "maxvit_rmlp_pico_rw_256", img_size=64),
    family("mixer", "mixer_s32_224", img_size=64),
    family("mobilenetv3", "mobilenetv3_small_050", training=False, drop_rate=0.0),
    family("mobilenetv4", "mobilenetv4_conv_small_035", training=False),
    family("mobilevit", "mobilevit_xxs"),
    family("nest", "nest_tiny", img_size=64),
    family("nfnet", "nf_regnet_b0"),
    family("pit", "pit_ti_224", size=224),
    family("poolformer", "poolformer_s12"),
    family("pvt_v2", "pvt_v2_b0"),
    family("regnet", "regnetx_002", training=False),
    family("repvgg", "repvgg_a0", training=False),
    family("res2net", "res2net50_26w_4s", training=False, layers=(1, 1, 1, 1)),
    family("resnest", "resnest14d", training=False),
    family("resnet", "resnet10t", training=False),
    family("rexnet", "rexnet_100", training=False, drop_path_rate=0.0),
    family("sequencer", "sequencer2d_s", layers=(1, 1, 1, 1), embed_dims=(16, 32, 32, 32),
           hidden_sizes=(8, 8, 8, 8), img_size=64),
    family("senet", "seresnet18", training=False),
    family("swin", "swin_tiny_patch4_window7_224", img_size=64, window_size=4, embed_dim=16,
           depths=(1, 2), num_heads=(2, 4)),
    family("twins", "twins_svt_small", size=64, img_size=64, embed_dims=(16, 32, 32, 32),
           num_heads=(1, 2, 2, 2), depths=(1, 1, 1, 1)),
    family("vgg", "vgg11", drop_rate=0.0),
    family("vit", "vit_tiny_patch16_224", depth=2, **SMALL),
    family("vovnet", "vovnet39a", training=False),
    family("xcit", "xcit_nano_12_p16_224", depth=2, **SMALL),
)
