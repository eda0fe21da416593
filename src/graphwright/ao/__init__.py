"""`torch.ao`: quantised models, of which there are none; float models that name it run."""

from graphwright import nn
from graphwright.ao import quantization

__all__ = ["nn", "quantization"]
