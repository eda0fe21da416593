"""Logs for TensorBoard, after `torch.utils.tensorboard`, written by tensorboardX.

tensorboardX is the extra `tensorboard`; making a `SummaryWriter` without it raises ImportError.
"""

from graphwright.utils.tensorboard.writer import SummaryWriter

__all__ = ["SummaryWriter"]
