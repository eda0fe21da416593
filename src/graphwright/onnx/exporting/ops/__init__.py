"""The ONNX forms of ops, a module for each family."""

from importlib import import_module

from graphwright.onnx.exporting.registry import FORMS, form_of, has_form

__all__ = ["FORMS", "form_of", "has_form"]

for _family in ("attention", "convolutions", "elementwise", "indexing", "joining", "normalisation",
                "ordering", "pooling", "products", "random", "recurrent", "reductions", "resizing",
                "scattering", "unary", "views"):
    import_module(f"{__name__}.{_family}")
