"""The ONNX forms of ops, a module for each family."""

from graphwright.onnx.exporting.ops import (
    attention,
    convolutions,
    elementwise,
    indexing,
    joining,
    normalisation,
    ordering,
    pooling,
    products,
    random,
    recurrent,
    reductions,
    resizing,
    scattering,
    unary,
    views,
)
from graphwright.onnx.exporting.registry import FORMS, form_of

__all__ = [
    "FORMS",
    "attention",
    "convolutions",
    "elementwise",
    "form_of",
    "indexing",
    "joining",
    "normalisation",
    "ordering",
    "pooling",
    "products",
    "random",
    "recurrent",
    "reductions",
    "resizing",
    "scattering",
    "unary",
    "views",
]
