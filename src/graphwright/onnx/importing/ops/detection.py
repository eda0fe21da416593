"""Choosing among boxes."""

from __future__ import annotations

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op


@op("NonMaxSuppression")
def non_max_suppression(
    boxes: Tensor, scores: Tensor, max_output_boxes_per_class: int | None = None,
    iou_threshold: float | None = None, score_threshold: float | None = None, *,
    center_point_box: int = 0,
) -> Tensor:  # fmt: skip
    """(image, class, box) of the boxes with the best scores that overlap no better one much.

    Args:
        boxes: (images, boxes, 4), two corners y, x, or x and y of the centre, width and height.
        scores: (images, classes, boxes).
    """
    limit = max_output_boxes_per_class or 0
    rows = boxes.numpy()
    if center_point_box:
        centre, half = rows[..., :2], rows[..., 2:] / 2
        low, high = centre - half, centre + half
    else:
        first, second = rows[..., :2], rows[..., 2:]
        low, high = np.minimum(first, second), np.maximum(first, second)
    found: list[tuple[int, int, int]] = []
    for image, classes in enumerate(scores.numpy()):
        for label, values in enumerate(classes):
            kept = _suppressed(
                low[image], high[image], values, limit, iou_threshold or 0.0, score_threshold
            )
            found += [(image, label, box) for box in kept]
    return gw.tensor(found, dtype=gw.int64).reshape([len(found), 3])


def _suppressed(
    low: np.ndarray, high: np.ndarray, scores: np.ndarray, limit: int, overlap: float,
    least: float | None,
) -> list[int]:  # fmt: skip
    """Positions of the boxes kept, the best first."""
    order = np.argsort(-scores, kind="stable")
    if least is not None:
        order = order[scores[order] > least]
    areas = np.prod(high - low, axis=-1)
    kept: list[int] = []
    while len(order) and len(kept) < limit:
        best, order = order[0], order[1:]
        kept.append(int(best))
        sides = np.minimum(high[order], high[best]) - np.maximum(low[order], low[best])
        common = np.prod(np.maximum(sides, 0), axis=-1)
        union = areas[order] + areas[best] - common
        order = order[~(common > overlap * union)]
    return kept
