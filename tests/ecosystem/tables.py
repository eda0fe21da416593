"""All models, by name."""

from __future__ import annotations

from .case import Model
from .models.audio import AUDIO
from .models.decoders import DECODERS
from .models.encoder_decoders import ENCODER_DECODERS
from .models.encoders import ENCODERS
from .models.experts import EXPERTS
from .models.multimodal import MULTIMODAL
from .models.state_space import STATE_SPACE
from .models.timm_families import TIMM
from .models.vision import VISION

MODELS: dict[str, Model] = {
    case.name: case
    for table in (ENCODERS, DECODERS, ENCODER_DECODERS, EXPERTS, STATE_SPACE, VISION, AUDIO,
                  MULTIMODAL, TIMM)
    for case in table
}
