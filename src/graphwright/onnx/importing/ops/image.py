"""Pictures in files' formats."""

from __future__ import annotations

import io

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op


@op("ImageDecoder")
def image_decoder(encoded: Tensor, *, pixel_format: str = "RGB") -> Tensor:
    """The pixels (H, W, channels) of a picture, "RGB", "BGR" or "Grayscale", as uint8.

    Raises:
        ImportError: Pillow is not installed, which decodes.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("ImageDecoder needs Pillow: pip install pillow") from error
    if pixel_format not in ("RGB", "BGR", "Grayscale"):
        raise ValueError(f"ImageDecoder: no pixel format {pixel_format!r}")
    image = Image.open(io.BytesIO(encoded.numpy().tobytes()))
    if pixel_format == "Grayscale":
        return gw.from_numpy(np.array(image.convert("L"))[:, :, np.newaxis])
    pixels = np.array(image.convert("RGB"))
    return gw.from_numpy(pixels[:, :, ::-1].copy() if pixel_format == "BGR" else pixels)
