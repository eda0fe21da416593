"""How GPUs compute products of float32."""

from __future__ import annotations

from graphwright.runtime import _core

_PRECISIONS = ("highest", "high", "medium")
_STATE = {"precision": "highest"}


def set_float32_matmul_precision(precision: str) -> None:
    """How precisely GPUs multiply matrices of float32, in convolutions too. CPUs multiply them as
    float32 in any case, and so does attention.

    Args:
        precision: "highest": as float32. "high" or "medium": by tensor cores, from factors rounded
            to 11 significant bits (TF32), summed in float32. Compiled functions are compiled anew
            where it has changed.

    Raises:
        RuntimeError: another text.

    Example:
        >>> gw.set_float32_matmul_precision("highest")
    """
    if precision not in _PRECISIONS:
        raise RuntimeError(
            f"set_float32_matmul_precision: expected one of {_PRECISIONS}, got {precision!r}"
        )
    _STATE["precision"] = precision
    _core.set_tf32_products(float32_products() == "tf32")


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was given last; "highest" at first.

    Example:
        >>> gw.get_float32_matmul_precision()
        'highest'
    """
    return _STATE["precision"]


def float32_products() -> str:
    """How the code generator is to multiply: "ieee" or "tf32"."""
    return "ieee" if _STATE["precision"] == "highest" else "tf32"
