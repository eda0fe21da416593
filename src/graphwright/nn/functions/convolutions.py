"""Convolutions as functions: ops of the table under their names."""

from __future__ import annotations

from graphwright.runtime.ops import functions as ops

conv1d = ops.conv1d
conv2d = ops.conv2d
conv3d = ops.conv3d
conv_transpose1d = ops.conv_transpose1d
conv_transpose2d = ops.conv_transpose2d
conv_transpose3d = ops.conv_transpose3d
