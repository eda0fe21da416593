"""`torch.ao`: quantised models, of which there are none; float models that name it run."""

from graphwright.ao import quantization
from graphwright.runtime import nn

__all__ = ["nn", "quantization"]
