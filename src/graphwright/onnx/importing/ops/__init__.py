"""What each operator computes, a module a family."""

from __future__ import annotations

from importlib import import_module

_FAMILIES = (
    *("activations", "attention", "control", "convolution", "elementwise"),
    *("generators", "images", "indexing", "learning", "microsoft", "microsoft_attention", "ml"),
    "normalization",
    *("pooling", "products", "quantization", "recurrent", "reductions"),
    *("sequences", "shapes", "signal", "strings", "trees"),
)


def load_all() -> None:
    """Enter all operators in the table."""
    for family in _FAMILIES:
        import_module(f"{__name__}.{family}")
